import { sql } from 'drizzle-orm'
import { index, integer, text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** The one live card of a request. `shown` is the digest of what it says; `seen` counts the facts that it was made from. */
export const progressCards = collab.table(
  'progress_cards',
  {
    request: text().primaryKey(),
    delivery: text().notNull(),
    generation: integer().notNull(),
    shown: text().notNull(),
    seen: integer().notNull(),
    openedAt: instant('opened_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    closedAt: instant('closed_at'),
    closedBecause: text('closed_because'),
  },
  (t) => [
    index('open_progress_cards')
      .on(t.request)
      .where(sql`${t.closedAt} is null`),
  ],
)
