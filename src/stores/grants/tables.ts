import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, text, type AnyPgColumn } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** Standing permissions of owners. Insert, revoked once. */
export const grants = collab.table(
  'grants',
  {
    id: text().primaryKey(),
    agent: text().notNull(),
    openId: text('open_id').notNull(),
    /** Null: every direct conversation of its owner. */
    conversation: text(),
    /** Exactly this operation, by its digest; or a scope with effects. */
    operation: text(),
    scope: jsonb(),
    effects: jsonb()
      .notNull()
      .default(sql`'[]'::jsonb`),
    /** What it was made of, if it was: a narrower one of that. */
    parent: text().references((): AnyPgColumn => grants.id),
    /** What for, in the words of who gave it; null: given on a card, where the question is the reason. */
    reason: text(),
    /** Who gave it, as the door knows them; null: on a card, before this was kept. */
    issuedBy: text('issued_by'),
    issuedAt: instant('issued_at').notNull(),
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
    /** Who ended it, as the door knows them. */
    revokedBy: text('revoked_by'),
    /** Counts from 1; each change of the row is another. */
    revision: integer().notNull().default(1),
  },
  (t) => [
    index('grants_by_operation').on(t.operation, t.agent),
    index('grants_of_owner').on(t.openId, t.agent),
    index('grants_newest').on(t.issuedAt, t.id),
    index('grants_of_parent')
      .on(t.parent)
      .where(sql`${t.parent} is not null`),
    check('one_scope_per_grant', sql`(${t.operation} is null) <> (${t.scope} is null)`),
  ],
)
