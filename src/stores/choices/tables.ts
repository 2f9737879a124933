import { jsonb, primaryKey, text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** What was chosen on a card of ours: the first press decides. Insert once; what became of it is written after it. */
export const cardChoices = collab.table(
  'card_choices',
  {
    bot: text().notNull(),
    messageId: text('message_id').notNull(),
    /** The press that decided; the same one again carries on what it began. */
    eventId: text('event_id').notNull(),
    act: text().notNull(),
    openId: text('open_id').notNull(),
    chosenAt: instant('chosen_at').notNull(),
    became: jsonb(),
  },
  (t) => [primaryKey({ columns: [t.bot, t.messageId] })],
)
