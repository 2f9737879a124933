-- A fact once written stays as it is: the database itself refuses update and delete on what the ledger only inserts.
CREATE FUNCTION "collab"."refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% on %.% is refused: its rows are immutable', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END $$;
--> statement-breakpoint
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "collab"."observations" FOR EACH ROW EXECUTE FUNCTION "collab"."refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "collab"."work_requests" FOR EACH ROW EXECUTE FUNCTION "collab"."refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "collab"."request_revisions" FOR EACH ROW EXECUTE FUNCTION "collab"."refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "collab"."semantic_contexts" FOR EACH ROW EXECUTE FUNCTION "collab"."refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "collab"."results" FOR EACH ROW EXECUTE FUNCTION "collab"."refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "collab"."effect_intents" FOR EACH ROW EXECUTE FUNCTION "collab"."refuse_change"();
