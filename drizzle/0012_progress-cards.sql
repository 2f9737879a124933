-- One live card per request says how far it has come.
CREATE TABLE "collab"."progress_cards" (
	"request" text PRIMARY KEY NOT NULL,
	"delivery" text NOT NULL,
	"generation" integer NOT NULL,
	"shown" text NOT NULL,
	"seen" integer NOT NULL,
	"opened_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"closed_at" bigint,
	"closed_because" text
);
--> statement-breakpoint
CREATE INDEX "open_progress_cards" ON "collab"."progress_cards" USING btree ("request") WHERE "collab"."progress_cards"."closed_at" is null;
