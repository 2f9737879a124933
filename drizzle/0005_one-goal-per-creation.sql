-- The same creation asked for twice is one goal, also when the second one names another id.
ALTER TABLE "work"."goals" ADD COLUMN "created_by" text;--> statement-breakpoint
CREATE UNIQUE INDEX "one_goal_per_creation" ON "work"."goals" USING btree ("created_by");