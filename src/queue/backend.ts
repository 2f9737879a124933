import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq'
import type { PgPool, PgPoolClient, Processor, WorkerOptions } from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import pg from 'pg'
import type { QueueName } from '../collab/ports.js'
import { errorLabel, type Logger } from '../lib/log.js'
import { SECOND } from '../lib/time.js'
import type { JobData } from './job.js'
import { logChanges } from './once.js'
import { CALL_LIMIT_MS } from './within.js'

/** Where the jobs live. For Postgres the URL must not go through a pooler: BullMQ needs LISTEN and `options`. */
export type QueueBackend =
  { readonly kind: 'redis'; readonly url: string } | { readonly kind: 'postgres'; readonly url: string }

export type JobQueue = Queue<JobData, string>
export type JobWorker = Worker<JobData, string>
export type WorkerSettings = Omit<WorkerOptions, 'connection' | 'prefix'>

/** One worker with connections of its own: they must wait where the producers' fail fast, and end with it. */
export interface WorkerHandle {
  readonly worker: JobWorker
  /** Takes no new job and waits for those that run. */
  close(): Promise<void>
  /** Ends the connections at once. Jobs that still run lose their locks and are run again by another worker. */
  cut(): void
}

export interface Backend {
  queue(name: QueueName): JobQueue
  /** One word with the server; throws when it does not answer. */
  ping(): Promise<void>
  worker(name: QueueName, processor: Processor<JobData, string>, settings: WorkerSettings): WorkerHandle
  close(): Promise<void>
}

/** Our keys in a Redis that others may use as well. */
const PREFIX = 'lark-manager'

export async function openBackend(backend: QueueBackend, logger: Logger): Promise<Backend> {
  return backend.kind === 'redis' ? await openRedis(backend.url, logger) : await openPostgres(backend.url, logger)
}

type Limits = Pick<RedisOptions, 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout'>

async function openRedis(url: string, logger: Logger): Promise<Backend> {
  const connect = (options: Limits, side: string) => {
    const client = new Redis(url, { connectTimeout: 2 * SECOND, keepAlive: 10 * SECOND, retryStrategy, ...options })
    const changes = logChanges(
      logger,
      `the ${side}' connection to Redis is lost`,
      `the ${side}' connection to Redis is back`,
    )
    // Without a listener a lost connection ends the process.
    client.on('error', (error) => changes.failed(error))
    client.on('ready', () => changes.worked())
    return client
  }
  const producer = connect(
    { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: CALL_LIMIT_MS },
    'producers',
  )
  // Redis may be away at the start: then rows wait for the sweep. A reachable one is given time to be ready.
  await settled(producer, CALL_LIMIT_MS)
  return {
    queue(name) {
      // Neither wait nor ask for the version first: with either, a Redis that was never there makes each call hang.
      return new Queue(name, {
        connection: producer,
        prefix: PREFIX,
        skipWaitingForReady: true,
        skipVersionCheck: true,
      })
    },
    async ping() {
      await producer.ping()
    },
    worker(name, processor, settings) {
      const clients = [connect({ maxRetriesPerRequest: null }, 'workers')]
      const [client] = clients as [Redis]
      const duplicate = client.duplicate.bind(client)
      // BullMQ makes a second connection for its blocking read and keeps it to itself; `cut` must reach it as well.
      client.duplicate = (options) => {
        const second = duplicate(options)
        clients.push(second)
        return second
      }
      const worker: JobWorker = new Worker(name, processor, { ...settings, connection: client, prefix: PREFIX })
      const cut = (): void => clients.forEach((each) => each.disconnect())
      return { worker, cut, close: () => worker.close().finally(cut) }
    },
    async close() {
      producer.disconnect()
    },
  }
}

function retryStrategy(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 10), SECOND)
}

/** Ready, or tried once and failed, or out of time. */
async function settled(client: Redis, limitMs: number): Promise<void> {
  if (client.status === 'ready') return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, limitMs)
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    client.once('ready', end)
    client.once('close', end)
  })
}

async function openPostgres(url: string, logger: Logger): Promise<Backend> {
  const connect = (max: number, side: string) => {
    const pool = new pg.Pool({
      connectionString: url,
      max,
      connectionTimeoutMillis: CALL_LIMIT_MS,
      keepAlive: true,
      // BullMQ's statements name no schema, and a pool of ours is not given one by BullMQ. A commit need not reach
      // the disk: what a crash takes back is a hint, and the rows behind it are committed by others.
      options: '-c search_path=bullmq -c synchronous_commit=off',
    })
    const changes = logChanges(
      logger,
      `the ${side}' connection to Postgres is lost`,
      `the ${side}' connection to Postgres is back`,
    )
    pool.setMaxListeners(0)
    pool.on('error', (error) => changes.failed(error))
    pool.on('connect', (client) => {
      changes.worked()
      // A client in use is not covered by the pool's listener; without this one its loss ends the process.
      client.on('error', (error) => changes.failed(error))
    })
    return pool
  }
  const producer = connect(4, 'producers')
  try {
    const client = await producer.connect()
    try {
      // The schema itself is no hint: a crash right after the start must not take it back.
      await client.query('set synchronous_commit = on')
      await runMigrations(client as unknown as PgPoolClient)
      await client.query('reset synchronous_commit')
    } finally {
      client.release()
    }
  } catch (error) {
    await producer.end()
    throw error
  }
  return {
    queue(name) {
      // BullMQ's types say Redis by default; what we use of a queue is the same on both.
      return new Queue(name, { connection: forBull(producer) }, createPostgresBackend) as unknown as JobQueue
    },
    async ping() {
      await producer.query('select 1')
    },
    worker(name, processor, settings) {
      // One connection is kept for LISTEN.
      const pool = connect(4, 'workers')
      const options = { ...settings, connection: forBull(pool) }
      const worker = new Worker(name, processor, options, createPostgresBackend) as unknown as JobWorker
      return {
        worker,
        // `end` waits for every client that is in use: a run past its limit must not hold the stop.
        cut: () => void endPool(pool, logger),
        close: () => worker.close().finally(() => endPool(pool, logger)),
      }
    },
    close: () => endPool(producer, logger),
  }
}

/** The same pool: BullMQ describes what it needs of `pg` in its own words, which TypeScript cannot match. */
function forBull(pool: pg.Pool): PgPool {
  return pool as unknown as PgPool
}

async function endPool(pool: pg.Pool, logger: Logger): Promise<void> {
  if (pool.ending) return
  await pool.end().catch((error: unknown) => {
    logger.warn('the pool of the queue did not end well', { error: errorLabel(error) })
  })
}
