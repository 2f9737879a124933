import { integer, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/**
 * Bearer tokens of agents; only digests are kept. `seat` is what one executor holds at a time: the lane of a managed
 * agent, or agent and session of an attached one. A newer epoch of a seat makes every older token of it stale.
 */
export const tokens = collab.table(
  'tokens',
  {
    digest: text().primaryKey(),
    agent: text().notNull(),
    seat: text().notNull(),
    session: text().notNull(),
    epoch: integer().notNull(),
    /** Null for an attached agent: it has no lane of ours. */
    lane: text(),
    issuedAt: instant('issued_at').notNull(),
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
  },
  (t) => [uniqueIndex('one_token_per_epoch').on(t.seat, t.epoch)],
)
