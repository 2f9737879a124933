import { sql } from 'drizzle-orm'
import { bigserial, index, text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** When a bot could last take events, by whichever process of this installation held its door. One row per bot. */
export const presence = collab.table('presence', {
  bot: text().primaryKey(),
  /** Nothing from before is looked for in any history. */
  firstAt: instant('first_at').notNull(),
  /** The last proof that events could come in. */
  aliveAt: instant('alive_at').notNull(),
  /** When this row was last written: a gap here means that nothing could be stored either. */
  beatenAt: instant('beaten_at').notNull(),
  /** When the door was last opened. */
  openedAt: instant('opened_at').notNull(),
  /** When the histories were last asked for, and read to their end. */
  askedAt: instant('asked_at'),
  filledAt: instant('filled_at'),
  /** When the newest message was written that no door brought although one was open. */
  missedAt: instant('missed_at'),
})

/** Times in which we could take no event, recorded by ourselves when they were over. */
export const absences = collab.table(
  'absences',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    bot: text().notNull(),
    fromAt: instant('from_at').notNull(),
    untilAt: instant('until_at').notNull(),
  },
  (t) => [index('absences_by_end').on(t.bot, t.untilAt)],
)

/** What was found in a history although no door brought it. */
export const ingressGaps = collab.table(
  'ingress_gaps',
  {
    ingress: text().primaryKey(),
    bot: text().notNull(),
    messageId: text('message_id').notNull(),
    chatId: text('chat_id').notNull(),
    writtenAt: instant('written_at').notNull(),
    foundAt: instant('found_at').notNull(),
    /** `away`: it was written in an absence of ours; `connected`: it was not. */
    because: text().notNull(),
  },
  (t) => [
    index('ingress_gaps_connected')
      .on(t.bot, t.foundAt)
      .where(sql`${t.because} = 'connected'`),
  ],
)

/** Chats and topics that the bot knows: whose histories are read, and up to when they are. */
export const historyPlaces = collab.table(
  'history_places',
  {
    id: text().primaryKey(),
    bot: text().notNull(),
    chatId: text('chat_id').notNull(),
    /** The thread's id, or '' for the chat itself. */
    threadId: text('thread_id').notNull(),
    chatType: text('chat_type').notNull(),
    heardAt: instant('heard_at').notNull(),
    readUntil: instant('read_until'),
    readAt: instant('read_at'),
    /** Why the last reading was refused. */
    refused: text(),
  },
  (t) => [index('history_places_by_age').on(t.bot, t.heardAt)],
)
