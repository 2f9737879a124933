import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../lib/log.js'
import { openClient } from './client.js'
import { sqlState } from './db.js'

/** `drizzle/` at the top of the package, from `src/stores` (tsx, tests) as from `dist/src/stores`. */
export const migrationsFolder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../drizzle' : '../../../drizzle', import.meta.url),
)

export type MigrateOutcome =
  | { readonly outcome: 'migrated'; readonly applied: number; readonly total: number }
  | { readonly outcome: 'current'; readonly total: number }
  /** The database was moved on by a newer program. Nothing was written. */
  | { readonly outcome: 'schema-newer'; readonly known: number; readonly found: number }
  /** A migration that was applied reads differently here: files are never changed after they are committed. Nothing was written. */
  | { readonly outcome: 'schema-differs'; readonly position: number }
  /** Another process has been migrating for 60 s. Nothing was written. */
  | { readonly outcome: 'busy' }

export interface MigrateOptions {
  /** Not through a pooler: the lock belongs to a session. */
  readonly directUrl: string
  readonly logger: Logger
  readonly folder?: string
}

interface Applied {
  readonly hash: string
  readonly created_at: number | string
}

const lockKey = 'lark-manager migrations'

/**
 * Brings the schema to the newest migration, forward only, all in one transaction; any number of processes may call it
 * at once and one does the work.
 */
export async function migrate(options: MigrateOptions): Promise<MigrateOutcome> {
  const migrationsFolderHere = options.folder ?? migrationsFolder
  const known = readMigrationFiles({ migrationsFolder: migrationsFolderHere })
  const client = openClient({
    url: options.directUrl,
    max: 1,
    logger: options.logger,
    name: 'lark-manager migrate',
    renew: false,
  })
  const db = drizzle(client)
  try {
    await db.execute(sql`set lock_timeout = '60s'`)
    await db.execute(sql`select pg_advisory_lock(hashtextextended(${lockKey}, 0))`)
    await db.execute(sql`set lock_timeout = 0`)
    const before = await appliedMigrations(db)
    if (before.length > known.length) return { outcome: 'schema-newer', known: known.length, found: before.length }
    const differing = before.findIndex((row, at) => row.hash !== known[at]?.hash)
    if (differing !== -1) return { outcome: 'schema-differs', position: differing }
    if (before.length === known.length) return { outcome: 'current', total: known.length }
    await applyMigrations(db, { migrationsFolder: migrationsFolderHere })
    // Drizzle skips, without a word, a file whose journal time is before the last applied one.
    if ((await appliedMigrations(db)).length !== known.length)
      throw new Error('the journal of migrations is out of order')
    return { outcome: 'migrated', applied: known.length - before.length, total: known.length }
  } catch (error) {
    if (sqlState(error) === '55P03') return { outcome: 'busy' }
    throw error
  } finally {
    // The lock goes with the session.
    await client.end({ timeout: 5 })
  }
}

async function appliedMigrations(db: ReturnType<typeof drizzle>): Promise<readonly Applied[]> {
  const [table] = await db.execute<{ found: boolean }>(
    sql`select to_regclass('drizzle.__drizzle_migrations') is not null as found`,
  )
  if (table?.found !== true) return []
  return db.execute<Applied & Record<string, unknown>>(
    sql`select hash, created_at from drizzle.__drizzle_migrations order by created_at, id`,
  )
}
