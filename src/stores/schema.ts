import { sql } from 'drizzle-orm'
import { bigint, pgSchema } from 'drizzle-orm/pg-core'

/** Everything the gateway remembers, except the work owner's own objects (schema `work`). */
export const collab = pgSchema('collab')

/** Milliseconds since the epoch, UTC, from the injected clock. SQL `now()` is never domain time. */
export const instant = (name: string) => bigint(name, { mode: 'number' })

/**
 * The transaction that wrote a row, filled by the database. With a snapshot it tells exactly what was committed since
 * another snapshot was taken; no counter can, since transactions end in another order than they begin.
 */
export const writtenIn = () =>
  bigint('written_in', { mode: 'number' }).default(sql`(pg_current_xact_id()::text)::bigint`)
