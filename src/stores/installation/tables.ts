import { text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** Choices made once for this database (the queue backend) and marks of our own life (last stop, last event). */
export const installation = collab.table('installation', {
  name: text().primaryKey(),
  value: text().notNull(),
  setAt: instant('set_at').notNull(),
})
