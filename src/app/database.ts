import type { Logger } from '../lib/log.js'
import { openDb, type Db } from '../stores/db.js'
import { startEmbedded, type EmbeddedPostgres } from '../stores/embedded/postgres.js'
import { migrate, type MigrateOutcome } from '../stores/migrate.js'
import { databaseProblem } from './calm.js'
import { every, newSecret } from './chance.js'
import type { Config } from './config.js'

export interface Database {
  readonly db: Db
  readonly directUrl: string
  readonly embedded: boolean
  close(): Promise<void>
}

export type DatabaseOutcome =
  { readonly ok: true; readonly database: Database } | { readonly ok: false; readonly problem: string }

/**
 * Opens the database, embedded when none is named, and brings its schema up to this version. A server of its own is
 * stopped again when that does not succeed, or when `stop` was aborted meanwhile.
 */
export async function openDatabase(
  config: Pick<Config, 'database' | 'dataDir' | 'numbers'>,
  searchPath: string | undefined,
  logger: Logger,
  stop: AbortSignal,
): Promise<DatabaseOutcome> {
  const embedded =
    config.database === null ? await startEmbedded({ dataDir: config.dataDir, searchPath, newSecret, logger }) : null
  const url = embedded?.url ?? config.database?.url ?? ''
  const directUrl = embedded?.url ?? config.database?.directUrl ?? url
  const problem = await broughtUp(directUrl, config, logger, stop).catch(async (error: unknown) => {
    await embedded?.stop()
    throw error
  })
  if (problem !== null) {
    await embedded?.stop()
    return { ok: false, problem }
  }
  const db = openDb({ url, directUrl, max: connectionsFor(config.numbers), logger })
  const stopWatching = embedded === null ? () => {} : watch(embedded, logger)
  return {
    ok: true,
    database: {
      db,
      directUrl,
      embedded: embedded !== null,
      async close() {
        stopWatching()
        await db.close()
        await embedded?.stop()
      },
    },
  }
}

/** Null when the schema is that of this version. */
async function broughtUp(
  directUrl: string,
  config: Pick<Config, 'database'>,
  logger: Logger,
  stop: AbortSignal,
): Promise<string | null> {
  if (stop.aborted) return STOPPED
  try {
    return problemOf(await migrate({ directUrl, logger }))
  } catch (error) {
    const variable = config.database?.directUrl === config.database?.url ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL'
    const problem = config.database === null ? null : databaseProblem(error, variable)
    if (problem === null) throw error
    return problem
  }
}

/** What a start says that was told to stop before it was ready. */
export const STOPPED = 'stopped before it was ready'

/**
 * One for each job that may run, and some for everybody else: an event must not wait until a job gives its connection
 * back. They are opened when first needed.
 */
function connectionsFor(numbers: Config['numbers']): number {
  return numbers.requestConcurrency + numbers.deliveryConcurrency + numbers.upkeepConcurrency + SPARE
}

const SPARE = 6

/** A server of ours that dies is started again on its port; clients reconnect by themselves. */
function watch(embedded: EmbeddedPostgres, logger: Logger): () => void {
  return every(1_000, async () => {
    if ((await embedded.ensure()) === 'restarted') logger.warn('the embedded Postgres had died and was started again')
  })
}

function problemOf(outcome: MigrateOutcome): string | null {
  switch (outcome.outcome) {
    case 'migrated':
    case 'current':
      return null
    case 'schema-newer':
      return `the database was used by a newer version (it knows ${outcome.found} migrations, this version ${outcome.known}); nothing was written. Start the newer version, or use another database`
    case 'schema-differs':
      return `migration ${outcome.position} of the database is not the one of this version; nothing was written. Use the version that made it, or another database`
    case 'busy':
      return 'another process has been migrating the database for 60 s; try again when it has ended'
  }
}
