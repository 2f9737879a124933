-- Work has an owner of its own: goals, todos, claims with epochs, the receipts of operations, and who is registered where.
CREATE SCHEMA "work";
--> statement-breakpoint
CREATE TABLE "work"."agents" (
	"agent" text PRIMARY KEY NOT NULL,
	"goal" text NOT NULL,
	"role" text NOT NULL,
	"responsibility" text NOT NULL,
	"host" text NOT NULL,
	"endpoint" jsonb NOT NULL,
	"abilities" text[] NOT NULL,
	"capacity" integer NOT NULL,
	"revision" integer NOT NULL,
	"registered_at" bigint NOT NULL,
	"last_evidence_at" bigint,
	"reachable" boolean
);
--> statement-breakpoint
CREATE TABLE "work"."claims" (
	"todo" text NOT NULL,
	"epoch" integer NOT NULL,
	"agent" text NOT NULL,
	"claimed_at" bigint NOT NULL,
	"until" bigint NOT NULL,
	"ended_at" bigint,
	"ended" text,
	CONSTRAINT "claims_todo_epoch_pk" PRIMARY KEY("todo","epoch")
);
--> statement-breakpoint
CREATE TABLE "work"."goals" (
	"id" text PRIMARY KEY NOT NULL,
	"title" text NOT NULL,
	"source" text NOT NULL,
	"state" text NOT NULL,
	"revision" integer NOT NULL,
	"direction" text NOT NULL,
	"acceptance" text NOT NULL,
	"non_goals" text NOT NULL,
	"vision_revision" integer NOT NULL,
	"created_at" bigint NOT NULL,
	"changed_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "work"."operations" (
	"goal" text NOT NULL,
	"operation" text NOT NULL,
	"digest" text NOT NULL,
	"receipt" jsonb NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "operations_goal_operation_pk" PRIMARY KEY("goal","operation")
);
--> statement-breakpoint
CREATE TABLE "work"."todos" (
	"id" text PRIMARY KEY NOT NULL,
	"goal" text NOT NULL,
	"title" text NOT NULL,
	"state" text NOT NULL,
	"revision" integer NOT NULL,
	"epoch" integer NOT NULL,
	"created_at" bigint NOT NULL,
	"changed_at" bigint NOT NULL,
	"changed_by" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "work"."agents" ADD CONSTRAINT "agents_goal_goals_id_fk" FOREIGN KEY ("goal") REFERENCES "work"."goals"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "work"."claims" ADD CONSTRAINT "claims_todo_todos_id_fk" FOREIGN KEY ("todo") REFERENCES "work"."todos"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "work"."operations" ADD CONSTRAINT "operations_goal_goals_id_fk" FOREIGN KEY ("goal") REFERENCES "work"."goals"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "work"."todos" ADD CONSTRAINT "todos_goal_goals_id_fk" FOREIGN KEY ("goal") REFERENCES "work"."goals"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agents_of_goal" ON "work"."agents" USING btree ("goal");--> statement-breakpoint
CREATE UNIQUE INDEX "one_live_claim_per_todo" ON "work"."claims" USING btree ("todo") WHERE "work"."claims"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "todos_of_goal" ON "work"."todos" USING btree ("goal","created_at","id");