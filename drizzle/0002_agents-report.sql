-- Agents report by tools too: a result may come without a turn of ours, and every agent has its own token.
CREATE TABLE "collab"."tokens" (
	"digest" text PRIMARY KEY NOT NULL,
	"agent" text NOT NULL,
	"seat" text NOT NULL,
	"session" text NOT NULL,
	"epoch" integer NOT NULL,
	"lane" text,
	"issued_at" bigint NOT NULL,
	"expires_at" bigint,
	"revoked_at" bigint
);
--> statement-breakpoint
DROP INDEX "collab"."one_result_per_turn";--> statement-breakpoint
ALTER TABLE "collab"."results" ALTER COLUMN "turn" DROP NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "one_token_per_epoch" ON "collab"."tokens" USING btree ("seat","epoch");