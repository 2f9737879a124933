-- Control words look at the requests of a conversation, which have an index of their own.
DROP INDEX "collab"."inputs_of_lane";