import { sql } from 'drizzle-orm'
import { bigint, bigserial, index, jsonb, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** Every provider event, once. First write wins, also under concurrency and with a new event id. */
export const ingressEvents = collab.table(
  'ingress_events',
  {
    id: text().primaryKey(),
    bot: text().notNull(),
    key: text().notNull(),
    eventId: text('event_id').notNull(),
    kind: text().notNull(),
    eventType: text('event_type').notNull(),
    chatId: text('chat_id'),
    position: bigserial({ mode: 'number' }).notNull(),
    event: jsonb().notNull(),
    door: text().notNull(),
    receivedAt: instant('received_at').notNull(),
    /** What became of it: request, context-item, ignored, refused, held, control, noted; null while owed. */
    disposition: text(),
    disposedAt: instant('disposed_at'),
  },
  (t) => [
    uniqueIndex('one_ingress_per_key').on(t.bot, t.key),
    index('ingress_owed')
      .on(t.position)
      .where(sql`${t.disposition} is null`),
    index('ingress_by_age').on(t.receivedAt),
  ],
)

/** One row per sighting after the first. */
export const ingressDuplicates = collab.table(
  'ingress_duplicates',
  {
    ingress: text().notNull(),
    eventId: text('event_id').notNull(),
    door: text().notNull(),
    receivedAt: instant('received_at').notNull(),
  },
  (t) => [index('ingress_duplicates_of').on(t.ingress)],
)

/** Messages of other bots that started a turn, since a person last wrote in that chat. */
export const botTurns = collab.table(
  'bot_turns',
  {
    /** The message's own ingress id. */
    ingress: text().primaryKey(),
    bot: text().notNull(),
    chatId: text('chat_id').notNull(),
    position: bigint({ mode: 'number' }).notNull(),
  },
  (t) => [index('bot_turns_of_chat').on(t.bot, t.chatId)],
)

/** Messages that may be read by a later turn of the same (chat, thread), and start none. */
export const contextItems = collab.table(
  'context_items',
  {
    id: text().primaryKey(),
    bot: text().notNull(),
    chatId: text('chat_id').notNull(),
    threadKey: text('thread_key').notNull(),
    messageId: text('message_id').notNull(),
    senderOpenId: text('sender_open_id').notNull(),
    senderType: text('sender_type').notNull(),
    textDigest: text('text_digest').notNull(),
    body: text(),
    writtenAt: instant('written_at').notNull(),
    discardedAt: instant('discarded_at'),
    discardedBecause: text('discarded_because'),
  },
  (t) => [
    index('context_items_fresh')
      .on(t.bot, t.chatId, t.threadKey, t.writtenAt)
      .where(sql`${t.discardedAt} is null`),
  ],
)
