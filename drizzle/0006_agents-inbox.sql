-- Agents read their inboxes and hand work on: found by receiver, by parent and by child; what they ask of the work owner is kept before it is called.
CREATE TABLE "collab"."work_commands" (
	"operation" text PRIMARY KEY NOT NULL,
	"agent" text NOT NULL,
	"command" jsonb NOT NULL,
	"digest" text NOT NULL,
	"said_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "attempts_of_target" ON "collab"."dispatch_attempts" USING btree ("target","request");--> statement-breakpoint
CREATE INDEX "live_attempts_of_target" ON "collab"."dispatch_attempts" USING btree ("target","request") WHERE "collab"."dispatch_attempts"."fence_released_at" is null;--> statement-breakpoint
CREATE INDEX "child_openings" ON "collab"."observations" USING btree (("payload" ->> 'child')) WHERE "collab"."observations"."kind" = 'child-opened';--> statement-breakpoint
CREATE INDEX "work_requests_of_parent" ON "collab"."work_requests" USING btree ("parent") WHERE "collab"."work_requests"."parent" is not null;