import postgres from 'postgres'
import type { Logger } from '../lib/log.js'
import { assertDriverGuard } from './driver-guard.js'

export interface ClientOptions {
  readonly url: string
  readonly max: number
  readonly logger: Logger
  /** Shown by `pg_stat_activity`. */
  readonly name: string
  /** Off for a session that must stay the same one, such as the holder of an advisory lock. */
  readonly renew?: boolean
}

const idleInTransactionMs = 60_000

/**
 * One postgres.js client with our settings. `bigint` columns are read as numbers (instants in ms, counters); a value
 * beyond 2^53 is an error rather than another number.
 *
 * With `pgbouncer=true` in the URL nothing depends on the session: no prepared statements, no start-up settings.
 */
export function openClient(options: ClientOptions): postgres.Sql {
  assertDriverGuard()
  const url = new URL(options.url)
  const pooled = url.searchParams.get('pgbouncer') === 'true'
  // The driver hands every name it does not know to the server, which refuses this one.
  url.searchParams.delete('pgbouncer')
  const client = postgres(url.toString(), {
    max: options.max,
    prepare: !pooled,
    connect_timeout: 5,
    // The default goes up to 20 s, and connections share one counter: a restart of Postgres would be felt that long.
    // Steps of 0.1 s in an order of their own keep many connections from coming all at once.
    backoff: (attempt: number) => 0.2 + ((attempt * 7) % 4) / 10,
    ...(options.renew === false ? { max_lifetime: null } : {}),
    connection: {
      application_name: options.name,
      ...(pooled ? {} : { idle_in_transaction_session_timeout: idleInTransactionMs }),
    },
    types: { bigint: { to: 20, from: [20], parse: exactNumber, serialize: String } },
    // The default prints to stdout. The text of a notice may quote values.
    onnotice: (notice) => options.logger.debug('database notice', { code: notice['code'] ?? 'none' }),
  })
  // The type parameter only adds `sql.types.bigint`, which nobody needs: numbers are taken as they are.
  return client as unknown as postgres.Sql
}

/** @throws RangeError for a value that a number cannot hold exactly */
export function exactNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint of the database does not fit a number exactly')
  return value
}
