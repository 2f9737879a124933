import { primaryKey, text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/**
 * People whose identity is bound. Insert once: the first direct message of a listed id binds that owner, with what its
 * envelope said; no later message replaces it.
 */
export const principals = collab.table(
  'principals',
  {
    bot: text().notNull(),
    openId: text('open_id').notNull(),
    /** Null where the envelope did not say: a later one does not fill it. */
    tenantKey: text('tenant_key'),
    unionId: text('union_id'),
    role: text().notNull(),
    /** The owner's direct chat: a second route for failures. */
    directChat: text('direct_chat'),
    boundAt: instant('bound_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.bot, t.openId] })],
)
