-- Whoever follows what happens is told exactly what was committed since the snapshot that they saw last; in two steps, so that the table is not written anew.
CREATE TABLE "collab"."turn_activity" (
	"turn" text NOT NULL,
	"ordinal" integer NOT NULL,
	"request" text NOT NULL,
	"activity" text NOT NULL,
	"at" bigint NOT NULL,
	"written_in" bigint DEFAULT (pg_current_xact_id()::text)::bigint,
	CONSTRAINT "turn_activity_turn_ordinal_pk" PRIMARY KEY("turn","ordinal")
);
--> statement-breakpoint
ALTER TABLE "collab"."observations" ADD COLUMN "written_in" bigint;--> statement-breakpoint
ALTER TABLE "collab"."observations" ALTER COLUMN "written_in" SET DEFAULT (pg_current_xact_id()::text)::bigint;--> statement-breakpoint
CREATE INDEX "activity_by_transaction" ON "collab"."turn_activity" USING brin ("written_in");--> statement-breakpoint
CREATE INDEX "activity_by_time" ON "collab"."turn_activity" USING brin ("at");--> statement-breakpoint
CREATE INDEX "facts_by_transaction" ON "collab"."observations" USING brin ("written_in");