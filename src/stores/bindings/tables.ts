import { sql } from 'drizzle-orm'
import { index, jsonb, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** Which runtime session continues a lane. Insert, ended once. */
export const sessionBindings = collab.table(
  'session_bindings',
  {
    id: text().primaryKey(),
    lane: text().notNull(),
    runtime: text().notNull(),
    session: text().notNull(),
    effective: jsonb().notNull(),
    boundAt: instant('bound_at').notNull(),
    endedAt: instant('ended_at'),
    because: text(),
  },
  (t) => [
    index('sessions_of_lane').on(t.lane, t.endedAt),
    index('sessions_newest').on(t.boundAt, t.id),
    uniqueIndex('one_session_per_lane')
      .on(t.lane)
      .where(sql`${t.endedAt} is null`),
  ],
)
