import { text, uniqueIndex } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** One per (bot, chat, thread): its own session and workspace. Insert once; the language follows the chat. */
export const conversations = collab.table(
  'conversations',
  {
    id: text().primaryKey(),
    bot: text().notNull(),
    chatId: text('chat_id').notNull(),
    /** The thread's id, or '' for the main flow. */
    threadKey: text('thread_key').notNull(),
    chatType: text('chat_type').notNull(),
    language: text().notNull(),
    openedAt: instant('opened_at').notNull(),
  },
  (t) => [uniqueIndex('one_conversation_per_place').on(t.bot, t.chatId, t.threadKey)],
)
