-- A stop and a fresh conversation divide a conversation by order of arrival, a turn can be asked to end from any process, and the first press on a card decides.
CREATE TABLE "collab"."card_choices" (
	"bot" text NOT NULL,
	"message_id" text NOT NULL,
	"event_id" text NOT NULL,
	"act" text NOT NULL,
	"open_id" text NOT NULL,
	"chosen_at" bigint NOT NULL,
	"became" jsonb,
	CONSTRAINT "card_choices_bot_message_id_pk" PRIMARY KEY("bot","message_id")
);
--> statement-breakpoint
CREATE TABLE "collab"."conversation_marks" (
	"id" text PRIMARY KEY NOT NULL,
	"conversation" text NOT NULL,
	"ingress" text,
	"kind" text NOT NULL,
	"position" bigint NOT NULL,
	"written_at" bigint NOT NULL,
	"marked_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "collab"."turns" ADD COLUMN "session" text;--> statement-breakpoint
ALTER TABLE "collab"."turns" ADD COLUMN "stopped_by" text;--> statement-breakpoint
ALTER TABLE "collab"."turns" ADD COLUMN "stop_asked_at" bigint;--> statement-breakpoint
CREATE INDEX "marks_of_conversation" ON "collab"."conversation_marks" USING btree ("conversation","position");--> statement-breakpoint
CREATE INDEX "turns_stopped" ON "collab"."turns" USING btree ("stopped_by") WHERE "collab"."turns"."stopped_by" is not null;