import { index, text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** Standing permissions of owners. Insert, revoked once. */
export const grants = collab.table(
  'grants',
  {
    id: text().primaryKey(),
    agent: text().notNull(),
    openId: text('open_id').notNull(),
    conversation: text().notNull(),
    operation: text().notNull(),
    issuedAt: instant('issued_at').notNull(),
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
    /** Who ended it, as the door knows them. */
    revokedBy: text('revoked_by'),
  },
  (t) => [index('grants_by_operation').on(t.operation, t.agent), index('grants_newest').on(t.issuedAt, t.id)],
)
