-- Sessions are listed, and the one before is found, without reading all of them.
CREATE INDEX "sessions_of_lane" ON "collab"."session_bindings" USING btree ("lane","ended_at");--> statement-breakpoint
CREATE INDEX "sessions_newest" ON "collab"."session_bindings" USING btree ("bound_at","id");--> statement-breakpoint
CREATE INDEX "turns_of_session" ON "collab"."turns" USING btree ("session","started_at");