import { jsonb, text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** What an agent asked the owner of work state to do, written before the owner is called. Insert only. */
export const workCommands = collab.table('work_commands', {
  operation: text().primaryKey(),
  agent: text().notNull(),
  command: jsonb().notNull(),
  digest: text().notNull(),
  saidAt: instant('said_at').notNull(),
})
