import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/**
 * The durable half of every job: one row per subject, put in the transaction of the fact that needs it.
 * State is `pending`, `running` (held until `held_until`), `done` or `dead`.
 */
export const wakes = collab.table(
  'wakes',
  {
    kind: text().notNull(),
    subject: text().notNull(),
    generation: integer().notNull(),
    dueAt: instant('due_at').notNull(),
    state: text().notNull(),
    /** Raised by each claim; every later write of that run carries it. */
    fence: integer().notNull().default(0),
    holder: text(),
    heldUntil: instant('held_until'),
    enqueuedAt: instant('enqueued_at'),
    lastError: text('last_error'),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.subject] }),
    index('wakes_owed')
      .on(t.dueAt)
      .where(sql`${t.state} in ('pending', 'enqueued', 'running')`),
    // Few among a million that ended: counted whenever somebody asks what stands still.
    index('wakes_dead')
      .on(t.kind)
      .where(sql`${t.state} = 'dead'`),
  ],
)
