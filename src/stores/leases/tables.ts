import { text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** One holder at a time, renewed while it lives, taken over when stale: the long connection of an app id. */
export const leases = collab.table('leases', {
  name: text().primaryKey(),
  holder: text().notNull(),
  heldUntil: instant('held_until').notNull(),
})
