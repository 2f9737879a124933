-- When the runtime of a turn was first seen to write its answer: the third of the four stamps of each turn.
ALTER TABLE "collab"."turns" ADD COLUMN "first_answer_at" bigint;