-- Chats have policies of their own, people are admitted to them by an owner, and identities are kept as their envelope said.
CREATE TABLE "collab"."admission_asks" (
	"id" text PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"chat_id" text NOT NULL,
	"open_id" text NOT NULL,
	"tenant_key" text,
	"union_id" text,
	"owner" text NOT NULL,
	"asked_at" bigint NOT NULL,
	"answer" text,
	"answered_by" text,
	"answered_at" bigint
);
--> statement-breakpoint
CREATE TABLE "collab"."chat_members" (
	"id" text PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"chat_id" text NOT NULL,
	"open_id" text NOT NULL,
	"tenant_key" text,
	"union_id" text,
	"starts" integer,
	"until" bigint,
	"admitted_by" text NOT NULL,
	"admitted_at" bigint NOT NULL,
	"ended_at" bigint,
	"ended_by" text
);
--> statement-breakpoint
CREATE TABLE "collab"."chat_policies" (
	"bot" text NOT NULL,
	"chat_id" text NOT NULL,
	"revision" integer NOT NULL,
	"settings" jsonb NOT NULL,
	"set_by" text NOT NULL,
	"owner_work_by" text,
	"set_at" bigint NOT NULL,
	"event_id" text NOT NULL,
	CONSTRAINT "chat_policies_bot_chat_id_revision_pk" PRIMARY KEY("bot","chat_id","revision")
);
--> statement-breakpoint
CREATE TABLE "collab"."member_starts" (
	"membership" text NOT NULL,
	"ingress" text NOT NULL,
	CONSTRAINT "member_starts_membership_ingress_pk" PRIMARY KEY("membership","ingress")
);
--> statement-breakpoint
ALTER TABLE "collab"."principals" ADD COLUMN "tenant_key" text;--> statement-breakpoint
ALTER TABLE "collab"."principals" ADD COLUMN "union_id" text;--> statement-breakpoint
CREATE INDEX "admission_asks_by_person" ON "collab"."admission_asks" USING btree ("bot","open_id","asked_at");--> statement-breakpoint
CREATE INDEX "admission_asks_by_owner" ON "collab"."admission_asks" USING btree ("bot","owner","asked_at");--> statement-breakpoint
CREATE UNIQUE INDEX "one_open_ask_per_person" ON "collab"."admission_asks" USING btree ("bot","open_id") WHERE "collab"."admission_asks"."answer" is null;--> statement-breakpoint
CREATE INDEX "chat_members_by_person" ON "collab"."chat_members" USING btree ("bot","open_id");--> statement-breakpoint
CREATE INDEX "chat_members_by_chat" ON "collab"."chat_members" USING btree ("bot","chat_id");--> statement-breakpoint
CREATE UNIQUE INDEX "one_policy_per_command" ON "collab"."chat_policies" USING btree ("event_id");