import { bigint, index, text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/**
 * A word that divides a conversation by order of arrival: what was stored before it waits for the owner's word (stop),
 * or belongs to the context before it (new). Insert once.
 */
export const conversationMarks = collab.table(
  'conversation_marks',
  {
    id: text().primaryKey(),
    conversation: text().notNull(),
    /** The stored event that said it; null when it came from no chat. */
    ingress: text(),
    /** stop or new. */
    kind: text().notNull(),
    /** Of the word itself, in the order in which events are stored. */
    position: bigint({ mode: 'number' }).notNull(),
    /** When the word was written, by the provider's clock. */
    writtenAt: instant('written_at').notNull(),
    markedAt: instant('marked_at').notNull(),
  },
  (t) => [index('marks_of_conversation').on(t.conversation, t.position)],
)
