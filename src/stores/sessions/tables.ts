import { index, text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** Signed-in browsers; only digests of the secrets are kept. Ended or expired. */
export const webSessions = collab.table('web_sessions', {
  digest: text().primaryKey(),
  csrf: text().notNull(),
  createdAt: instant('created_at').notNull(),
  expiresAt: instant('expires_at').notNull(),
  endedAt: instant('ended_at'),
})

/** One use, 15 minutes. */
export const signInCodes = collab.table('sign_in_codes', {
  digest: text().primaryKey(),
  expiresAt: instant('expires_at').notNull(),
  usedAt: instant('used_at'),
})

/** Who did what at a door: every act on a queue, every decision on a parked part. Append only. */
export const auditLines = collab.table(
  'audit_lines',
  {
    id: text().primaryKey(),
    at: instant('at').notNull(),
    who: text().notNull(),
    act: text().notNull(),
    subject: text().notNull(),
  },
  // Every page of requests shows what was decided about its deliveries.
  (t) => [index('audit_lines_of_subject').on(t.subject)],
)
