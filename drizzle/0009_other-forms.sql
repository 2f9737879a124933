-- A refused part is said in another form: what it is written from, which row of its place it stands for, and whether it is sent without replying.
ALTER TABLE "collab"."delivery_parts" ADD COLUMN "source" jsonb;--> statement-breakpoint
ALTER TABLE "collab"."delivery_parts" ADD COLUMN "replaces" integer;--> statement-breakpoint
ALTER TABLE "collab"."delivery_parts" ADD COLUMN "detached" boolean DEFAULT false NOT NULL;