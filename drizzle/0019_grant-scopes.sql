-- A permission may be about a directory or a host, for a chat or for all private ones, and be made of a wider one.
ALTER TABLE "collab"."grants" ALTER COLUMN "conversation" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "collab"."grants" ALTER COLUMN "operation" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "collab"."grants" ADD COLUMN "scope" jsonb;--> statement-breakpoint
ALTER TABLE "collab"."grants" ADD COLUMN "effects" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "collab"."grants" ADD COLUMN "parent" text;--> statement-breakpoint
ALTER TABLE "collab"."grants" ADD COLUMN "reason" text;--> statement-breakpoint
ALTER TABLE "collab"."grants" ADD COLUMN "issued_by" text;--> statement-breakpoint
ALTER TABLE "collab"."grants" ADD COLUMN "revision" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "collab"."grants" ADD CONSTRAINT "grants_parent_grants_id_fk" FOREIGN KEY ("parent") REFERENCES "collab"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "grants_of_owner" ON "collab"."grants" USING btree ("open_id","agent");--> statement-breakpoint
CREATE INDEX "grants_of_parent" ON "collab"."grants" USING btree ("parent") WHERE "collab"."grants"."parent" is not null;--> statement-breakpoint
ALTER TABLE "collab"."grants" ADD CONSTRAINT "one_scope_per_grant" CHECK (("collab"."grants"."operation" is null) <> ("collab"."grants"."scope" is null));