-- A standing permission is a row of its own, and every use of it is found.
CREATE TABLE "collab"."grants" (
	"id" text PRIMARY KEY NOT NULL,
	"agent" text NOT NULL,
	"open_id" text NOT NULL,
	"conversation" text NOT NULL,
	"operation" text NOT NULL,
	"issued_at" bigint NOT NULL,
	"expires_at" bigint,
	"revoked_at" bigint,
	"revoked_by" text
);
--> statement-breakpoint
CREATE INDEX "grants_by_operation" ON "collab"."grants" USING btree ("operation","agent");--> statement-breakpoint
CREATE INDEX "grants_newest" ON "collab"."grants" USING btree ("issued_at","id");--> statement-breakpoint
CREATE INDEX "uses_of_grants" ON "collab"."observations" USING btree (("payload" ->> 'grant')) WHERE "collab"."observations"."kind" = 'approval-settled';