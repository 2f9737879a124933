import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import type { Logger } from '../lib/log.js'
import { openClient } from './client.js'

/** What a function needs that works inside or outside a transaction. */
export type Tx = postgres.TransactionSql
export type SqlLike = postgres.Sql | postgres.TransactionSql

export interface Db {
  /** Raw statements. `bigint` is read as a number; `sql.json(value)` writes jsonb. */
  readonly sql: postgres.Sql
  /** Drizzle over a client of its own: it changes how its client reads dates and JSON. */
  readonly orm: PostgresJsDatabase
  /** Never through a pooler: LISTEN and session locks. Two connections, opened when first used. */
  readonly direct: postgres.Sql
  /**
   * One transaction at read committed. Run once more when the database chose it as the loser of a race (40001, 40P01),
   * so `work` must have no effect outside the database.
   */
  tx<T>(work: (sql: Tx) => Promise<T>): Promise<T>
  /** Waits up to 5 s for running statements. */
  close(): Promise<void>
}

export interface DbOptions {
  /** May lead through a pooler, said by `pgbouncer=true` in the URL. */
  readonly url: string
  /** The same database without a pooler; absent: `url`. */
  readonly directUrl?: string | undefined
  /** Connections of `sql`; `orm` adds up to 4 and `direct` up to 2, each opened when first needed. Absent: 10. */
  readonly max?: number | undefined
  readonly logger: Logger
}

/** Opens nothing yet: the first statement does, so a database that is down is met there. */
export function openDb(options: DbOptions): Db {
  const { logger, url } = options
  const max = options.max ?? 10
  const sql = openClient({ url, max, logger, name: 'lark-manager' })
  const ormClient = openClient({ url, max: Math.min(4, max), logger, name: 'lark-manager orm' })
  const direct = openClient({
    url: options.directUrl ?? url,
    max: 2,
    logger,
    name: 'lark-manager direct',
    renew: false,
  })
  const clients = [sql, ormClient, direct]
  return {
    sql,
    // The same spelling of columns as drizzle/config.ts.
    orm: drizzle(ormClient, { casing: 'snake_case' }),
    direct,
    tx: (work) => transaction(sql, work, logger),
    close: async () => {
      await Promise.all(clients.map((client) => client.end({ timeout: 5 })))
    },
  }
}

async function transaction<T>(sql: postgres.Sql, work: (sql: Tx) => Promise<T>, logger: Logger): Promise<T> {
  try {
    return await once(sql, work)
  } catch (error) {
    if (!isLostRace(error)) throw error
    logger.debug('transaction repeated after a lost race', { code: sqlState(error) ?? 'none' })
    return once(sql, work)
  }
}

async function once<T>(sql: postgres.Sql, work: (sql: Tx) => Promise<T>): Promise<T> {
  // The driver awaits an array of statements for the caller and types its answer accordingly; a box keeps T as it is.
  const box = await sql.begin('isolation level read committed', async (tx) => ({ value: await work(tx) }))
  return box.value
}

function isLostRace(error: unknown): boolean {
  const state = sqlState(error)
  return state === '40001' || state === '40P01'
}

/** The SQLSTATE of a database error, also when drizzle wrapped it; null for anything else. */
export function sqlState(error: unknown): string | null {
  for (let current = error, depth = 0; current instanceof Error && depth < 4; current = current.cause, depth++) {
    const code = (current as { code?: unknown }).code
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code
  }
  return null
}

/** Whether the statement failed because the connection was lost or could not be made; it may still have happened. */
export function isConnectionLost(error: unknown): boolean {
  for (let current = error, depth = 0; current instanceof Error && depth < 4; current = current.cause, depth++) {
    const code = (current as { code?: unknown }).code
    if (typeof code !== 'string') continue
    if (/^(CONNECTION_|CONNECT_|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND)/.test(code) || /^(08|57P0)/.test(code)) return true
  }
  return false
}
