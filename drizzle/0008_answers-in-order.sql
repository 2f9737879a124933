-- Answers to one request go out in the order in which they were given, and a control word looks at the newest inputs of a lane without reading all of them.
ALTER TABLE "collab"."deliveries" ADD COLUMN "ordinal" integer;--> statement-breakpoint
CREATE INDEX "inputs_of_lane" ON "collab"."turn_inputs" USING btree ("lane","position");