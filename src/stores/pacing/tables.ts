import { text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** The next free slot of one limited resource (a chat, an API per second, an API per minute). Moved forward only. */
export const pacing = collab.table('pacing', {
  key: text().primaryKey(),
  nextAt: instant('next_at').notNull(),
})
