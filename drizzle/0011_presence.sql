-- When we were away is recorded by ourselves, what a history holds that no door brought is found and kept, and turns that other bots start are counted.
CREATE TABLE "collab"."bot_turns" (
	"ingress" text PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"chat_id" text NOT NULL,
	"position" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."absences" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"from_at" bigint NOT NULL,
	"until_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."history_places" (
	"id" text PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"chat_id" text NOT NULL,
	"thread_id" text NOT NULL,
	"chat_type" text NOT NULL,
	"heard_at" bigint NOT NULL,
	"read_until" bigint,
	"read_at" bigint,
	"refused" text
);
--> statement-breakpoint
CREATE TABLE "collab"."ingress_gaps" (
	"ingress" text PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"message_id" text NOT NULL,
	"chat_id" text NOT NULL,
	"written_at" bigint NOT NULL,
	"found_at" bigint NOT NULL,
	"because" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."presence" (
	"bot" text PRIMARY KEY NOT NULL,
	"first_at" bigint NOT NULL,
	"alive_at" bigint NOT NULL,
	"beaten_at" bigint NOT NULL,
	"opened_at" bigint NOT NULL,
	"asked_at" bigint,
	"filled_at" bigint,
	"missed_at" bigint
);
--> statement-breakpoint
CREATE INDEX "bot_turns_of_chat" ON "collab"."bot_turns" USING btree ("bot","chat_id");--> statement-breakpoint
CREATE INDEX "absences_by_end" ON "collab"."absences" USING btree ("bot","until_at");--> statement-breakpoint
CREATE INDEX "history_places_by_age" ON "collab"."history_places" USING btree ("bot","heard_at");--> statement-breakpoint
CREATE INDEX "ingress_gaps_connected" ON "collab"."ingress_gaps" USING btree ("bot","found_at") WHERE "collab"."ingress_gaps"."because" = 'connected';--> statement-breakpoint
CREATE INDEX "ingress_duplicates_of" ON "collab"."ingress_duplicates" USING btree ("ingress");--> statement-breakpoint
-- The places that are known already; their histories are read from the first start with this version on.
INSERT INTO "collab"."history_places" ("id", "bot", "chat_id", "thread_id", "chat_type", "heard_at")
SELECT "id", "bot", "chat_id", "thread_key", "chat_type", "opened_at" FROM "collab"."conversations";
