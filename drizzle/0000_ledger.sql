-- The ledger and everything around it: who asked what, what was tried, what was sent where.
CREATE SCHEMA "collab";
--> statement-breakpoint
CREATE TABLE "collab"."artifacts" (
	"id" text PRIMARY KEY NOT NULL,
	"digest" text NOT NULL,
	"size" bigint NOT NULL,
	"media_type" text NOT NULL,
	"file_name" text NOT NULL,
	"access_scope" text NOT NULL,
	"source" jsonb NOT NULL,
	"stored_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."session_bindings" (
	"id" text PRIMARY KEY NOT NULL,
	"lane" text NOT NULL,
	"runtime" text NOT NULL,
	"session" text NOT NULL,
	"effective" jsonb NOT NULL,
	"bound_at" bigint NOT NULL,
	"ended_at" bigint,
	"because" text
);
--> statement-breakpoint
CREATE TABLE "collab"."conversations" (
	"id" text PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"chat_id" text NOT NULL,
	"thread_key" text NOT NULL,
	"chat_type" text NOT NULL,
	"language" text NOT NULL,
	"opened_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"cause_kind" text NOT NULL,
	"cause_id" text NOT NULL,
	"route_key" text NOT NULL,
	"route" jsonb NOT NULL,
	"bot" text NOT NULL,
	"request" text,
	"source" jsonb NOT NULL,
	"created_at" bigint NOT NULL,
	"planned_at" bigint,
	"settled_at" bigint,
	"outcome" text
);
--> statement-breakpoint
CREATE TABLE "collab"."delivery_parts" (
	"delivery" text NOT NULL,
	"index" integer NOT NULL,
	"sub_index" integer NOT NULL,
	"key" text NOT NULL,
	"msg_type" text NOT NULL,
	"content" text NOT NULL,
	"bytes" integer NOT NULL,
	"plain" text,
	"file" jsonb,
	"renderer" text NOT NULL,
	"state" text NOT NULL,
	"because" text,
	"upload_key" text,
	"message_id" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"first_call_at" bigint,
	"not_before" bigint,
	"settled_at" bigint,
	CONSTRAINT "delivery_parts_delivery_index_sub_index_pk" PRIMARY KEY("delivery","index","sub_index")
);
--> statement-breakpoint
CREATE TABLE "collab"."reactions" (
	"id" text PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"message_id" text NOT NULL,
	"chat_id" text NOT NULL,
	"purpose" text NOT NULL,
	"emoji" text NOT NULL,
	"state" text NOT NULL,
	"because" text,
	"reaction_id" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"prepared_at" bigint NOT NULL,
	"placed_at" bigint,
	"settled_at" bigint,
	"next_try_at" bigint
);
--> statement-breakpoint
CREATE TABLE "collab"."send_attempts" (
	"id" text PRIMARY KEY NOT NULL,
	"delivery" text NOT NULL,
	"index" integer NOT NULL,
	"sub_index" integer NOT NULL,
	"started_at" bigint NOT NULL,
	"ended_at" bigint,
	"outcome" text,
	"code" integer,
	"detail" text,
	"by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."context_items" (
	"id" text PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"chat_id" text NOT NULL,
	"thread_key" text NOT NULL,
	"message_id" text NOT NULL,
	"sender_open_id" text NOT NULL,
	"sender_type" text NOT NULL,
	"text_digest" text NOT NULL,
	"body" text,
	"written_at" bigint NOT NULL,
	"discarded_at" bigint,
	"discarded_because" text
);
--> statement-breakpoint
CREATE TABLE "collab"."ingress_duplicates" (
	"ingress" text NOT NULL,
	"event_id" text NOT NULL,
	"door" text NOT NULL,
	"received_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."ingress_events" (
	"id" text PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"key" text NOT NULL,
	"event_id" text NOT NULL,
	"kind" text NOT NULL,
	"event_type" text NOT NULL,
	"chat_id" text,
	"position" bigserial NOT NULL,
	"event" jsonb NOT NULL,
	"door" text NOT NULL,
	"received_at" bigint NOT NULL,
	"disposition" text,
	"disposed_at" bigint
);
--> statement-breakpoint
CREATE TABLE "collab"."installation" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL,
	"set_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."leases" (
	"name" text PRIMARY KEY NOT NULL,
	"holder" text NOT NULL,
	"held_until" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."dispatch_attempts" (
	"id" text PRIMARY KEY NOT NULL,
	"request" text NOT NULL,
	"revision" integer NOT NULL,
	"target" text NOT NULL,
	"intent" text NOT NULL,
	"effectful" boolean NOT NULL,
	"supersedes" text,
	"fence_released_at" bigint
);
--> statement-breakpoint
CREATE TABLE "collab"."effect_intents" (
	"id" text PRIMARY KEY NOT NULL,
	"request" text NOT NULL,
	"attempt" text NOT NULL,
	"kind" text NOT NULL,
	"target" text NOT NULL,
	"provider_key" text NOT NULL,
	"declared_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."observations" (
	"event_id" text NOT NULL,
	"ordinal" integer NOT NULL,
	"request" text NOT NULL,
	"seq" integer NOT NULL,
	"revision" integer NOT NULL,
	"attempt" text,
	"actor" jsonb NOT NULL,
	"kind" text NOT NULL,
	"v" integer NOT NULL,
	"payload" jsonb NOT NULL,
	"digest" text NOT NULL,
	"evidence_refs" jsonb NOT NULL,
	"result_ref" text,
	"recorded_at" bigint NOT NULL,
	CONSTRAINT "observations_event_id_ordinal_pk" PRIMARY KEY("event_id","ordinal")
);
--> statement-breakpoint
CREATE TABLE "collab"."request_heads" (
	"request" text PRIMARY KEY NOT NULL,
	"revision" integer NOT NULL,
	"seq" integer NOT NULL,
	"next_wake" bigint
);
--> statement-breakpoint
CREATE TABLE "collab"."request_revisions" (
	"request" text NOT NULL,
	"revision" integer NOT NULL,
	"kind" text NOT NULL,
	"intent" text NOT NULL,
	"sender" jsonb NOT NULL,
	"target" text,
	"authority_ref" jsonb NOT NULL,
	"context_digest" text NOT NULL,
	"return_ref" jsonb NOT NULL,
	"work_refs" jsonb NOT NULL,
	"asks" jsonb NOT NULL,
	"supersedes" integer,
	"recorded_at" bigint NOT NULL,
	CONSTRAINT "request_revisions_request_revision_pk" PRIMARY KEY("request","revision")
);
--> statement-breakpoint
CREATE TABLE "collab"."results" (
	"id" text PRIMARY KEY NOT NULL,
	"request" text NOT NULL,
	"revision" integer NOT NULL,
	"attempt" text NOT NULL,
	"turn" text NOT NULL,
	"kind" text NOT NULL,
	"text_digest" text NOT NULL,
	"conclusion_digest" text,
	"access_scope" text NOT NULL,
	"covers" jsonb NOT NULL,
	"remainder" jsonb NOT NULL,
	"artifacts" jsonb NOT NULL,
	"supersedes" text,
	"committed_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."semantic_contexts" (
	"request" text NOT NULL,
	"revision" integer NOT NULL,
	"digest" text NOT NULL,
	"brief" jsonb NOT NULL,
	"source_refs" jsonb NOT NULL,
	"work_revision_refs" jsonb NOT NULL,
	"access_scope" text NOT NULL,
	"omissions" jsonb NOT NULL,
	CONSTRAINT "semantic_contexts_request_revision_pk" PRIMARY KEY("request","revision")
);
--> statement-breakpoint
CREATE TABLE "collab"."texts" (
	"digest" text NOT NULL,
	"access_scope" text NOT NULL,
	"body" text,
	"erased_by" text,
	"erased_at" bigint,
	CONSTRAINT "texts_digest_access_scope_pk" PRIMARY KEY("digest","access_scope")
);
--> statement-breakpoint
CREATE TABLE "collab"."work_requests" (
	"id" text PRIMARY KEY NOT NULL,
	"bot" text NOT NULL,
	"conversation" text NOT NULL,
	"parent" text,
	"origin_channel" text NOT NULL,
	"origin_message" text NOT NULL,
	"opened_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."pacing" (
	"key" text PRIMARY KEY NOT NULL,
	"next_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."principals" (
	"bot" text NOT NULL,
	"open_id" text NOT NULL,
	"role" text NOT NULL,
	"direct_chat" text,
	"bound_at" bigint NOT NULL,
	CONSTRAINT "principals_bot_open_id_pk" PRIMARY KEY("bot","open_id")
);
--> statement-breakpoint
CREATE TABLE "collab"."audit_lines" (
	"id" text PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL,
	"who" text NOT NULL,
	"act" text NOT NULL,
	"subject" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collab"."sign_in_codes" (
	"digest" text PRIMARY KEY NOT NULL,
	"expires_at" bigint NOT NULL,
	"used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "collab"."web_sessions" (
	"digest" text PRIMARY KEY NOT NULL,
	"csrf" text NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"ended_at" bigint
);
--> statement-breakpoint
CREATE TABLE "collab"."turn_inputs" (
	"request" text PRIMARY KEY NOT NULL,
	"lane" text NOT NULL,
	"position" bigint NOT NULL,
	"state" text NOT NULL,
	"because" text,
	"settled_at" bigint
);
--> statement-breakpoint
CREATE TABLE "collab"."turns" (
	"id" text PRIMARY KEY NOT NULL,
	"lane" text NOT NULL,
	"request" text NOT NULL,
	"attempt" text NOT NULL,
	"revision" integer NOT NULL,
	"runtime" text NOT NULL,
	"host_turn" text,
	"holder" text NOT NULL,
	"fence" integer NOT NULL,
	"started_at" bigint NOT NULL,
	"ended_at" bigint,
	"ended" text,
	"because" text,
	"effective" jsonb
);
--> statement-breakpoint
CREATE TABLE "collab"."wakes" (
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"generation" integer NOT NULL,
	"due_at" bigint NOT NULL,
	"state" text NOT NULL,
	"fence" integer DEFAULT 0 NOT NULL,
	"holder" text,
	"held_until" bigint,
	"enqueued_at" bigint,
	"last_error" text,
	CONSTRAINT "wakes_kind_subject_pk" PRIMARY KEY("kind","subject")
);
--> statement-breakpoint
ALTER TABLE "collab"."delivery_parts" ADD CONSTRAINT "delivery_parts_delivery_deliveries_id_fk" FOREIGN KEY ("delivery") REFERENCES "collab"."deliveries"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collab"."send_attempts" ADD CONSTRAINT "send_attempts_delivery_deliveries_id_fk" FOREIGN KEY ("delivery") REFERENCES "collab"."deliveries"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collab"."dispatch_attempts" ADD CONSTRAINT "dispatch_attempts_request_work_requests_id_fk" FOREIGN KEY ("request") REFERENCES "collab"."work_requests"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collab"."effect_intents" ADD CONSTRAINT "effect_intents_request_work_requests_id_fk" FOREIGN KEY ("request") REFERENCES "collab"."work_requests"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collab"."observations" ADD CONSTRAINT "observations_request_work_requests_id_fk" FOREIGN KEY ("request") REFERENCES "collab"."work_requests"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collab"."request_heads" ADD CONSTRAINT "request_heads_request_work_requests_id_fk" FOREIGN KEY ("request") REFERENCES "collab"."work_requests"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collab"."request_revisions" ADD CONSTRAINT "request_revisions_request_work_requests_id_fk" FOREIGN KEY ("request") REFERENCES "collab"."work_requests"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collab"."results" ADD CONSTRAINT "results_request_work_requests_id_fk" FOREIGN KEY ("request") REFERENCES "collab"."work_requests"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collab"."semantic_contexts" ADD CONSTRAINT "semantic_contexts_request_work_requests_id_fk" FOREIGN KEY ("request") REFERENCES "collab"."work_requests"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "artifacts_by_digest" ON "collab"."artifacts" USING btree ("digest");--> statement-breakpoint
CREATE UNIQUE INDEX "one_session_per_lane" ON "collab"."session_bindings" USING btree ("lane") WHERE "collab"."session_bindings"."ended_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "one_conversation_per_place" ON "collab"."conversations" USING btree ("bot","chat_id","thread_key");--> statement-breakpoint
CREATE UNIQUE INDEX "one_delivery_per_cause_and_route" ON "collab"."deliveries" USING btree ("cause_kind","cause_id","route_key");--> statement-breakpoint
CREATE INDEX "deliveries_of_request" ON "collab"."deliveries" USING btree ("request");--> statement-breakpoint
CREATE INDEX "deliveries_open" ON "collab"."deliveries" USING btree ("created_at") WHERE "collab"."deliveries"."settled_at" is null;--> statement-breakpoint
CREATE INDEX "parts_by_message" ON "collab"."delivery_parts" USING btree ("message_id");--> statement-breakpoint
CREATE UNIQUE INDEX "one_reaction_per_purpose" ON "collab"."reactions" USING btree ("bot","message_id","purpose");--> statement-breakpoint
CREATE INDEX "reactions_open" ON "collab"."reactions" USING btree ("prepared_at") WHERE "collab"."reactions"."state" in ('prepared', 'placed', 'removing');--> statement-breakpoint
CREATE INDEX "attempts_of_part" ON "collab"."send_attempts" USING btree ("delivery","index","sub_index");--> statement-breakpoint
CREATE INDEX "context_items_fresh" ON "collab"."context_items" USING btree ("bot","chat_id","thread_key","written_at") WHERE "collab"."context_items"."discarded_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "one_ingress_per_key" ON "collab"."ingress_events" USING btree ("bot","key");--> statement-breakpoint
CREATE INDEX "ingress_owed" ON "collab"."ingress_events" USING btree ("position") WHERE "collab"."ingress_events"."disposition" is null;--> statement-breakpoint
CREATE INDEX "ingress_by_age" ON "collab"."ingress_events" USING btree ("received_at");--> statement-breakpoint
CREATE UNIQUE INDEX "one_effectful_attempt_per_request" ON "collab"."dispatch_attempts" USING btree ("request") WHERE "collab"."dispatch_attempts"."effectful" and "collab"."dispatch_attempts"."fence_released_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "one_fact_per_seq" ON "collab"."observations" USING btree ("request","seq");--> statement-breakpoint
CREATE INDEX "results_of_request" ON "collab"."results" USING btree ("request");--> statement-breakpoint
CREATE UNIQUE INDEX "one_result_per_turn" ON "collab"."results" USING btree ("turn");--> statement-breakpoint
CREATE UNIQUE INDEX "one_request_per_origin" ON "collab"."work_requests" USING btree ("bot","origin_channel","origin_message");--> statement-breakpoint
CREATE INDEX "work_requests_newest" ON "collab"."work_requests" USING btree ("opened_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "work_requests_of_conversation" ON "collab"."work_requests" USING btree ("conversation","opened_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "inputs_waiting" ON "collab"."turn_inputs" USING btree ("lane","position") WHERE "collab"."turn_inputs"."state" <> 'settled';--> statement-breakpoint
CREATE UNIQUE INDEX "one_running_turn_per_session" ON "collab"."turns" USING btree ("lane") WHERE "collab"."turns"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "turns_of_request" ON "collab"."turns" USING btree ("request");--> statement-breakpoint
CREATE INDEX "wakes_owed" ON "collab"."wakes" USING btree ("due_at") WHERE "collab"."wakes"."state" in ('pending', 'enqueued', 'running');