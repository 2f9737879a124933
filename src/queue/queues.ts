import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { jobIdOf, type JobLookup } from '../collab/jobs.js'
import type { QueueName, Wake, WakeRef } from '../collab/ports.js'
import { queueOf } from '../collab/queues.js'
import { errorLabel, type Logger } from '../lib/log.js'
import { openBackend, type Backend, type JobQueue, type QueueBackend } from './backend.js'
import { jobFor, type JobData } from './job.js'
import { makeKicker } from './kick.js'
import { logChanges, type Changes } from './once.js'
import { CALL_LIMIT_MS, within } from './within.js'

export const queueNames = ['request', 'delivery', 'upkeep'] as const satisfies readonly QueueName[]

/** Jobs in each state; `waiting` includes those of a paused queue. */
export interface QueueCounts {
  readonly waiting: number
  readonly active: number
  readonly delayed: number
  readonly failed: number
  readonly completed: number
}

export type Ping = { readonly reachable: true } | { readonly reachable: false; readonly detail: string }

/** The three queues on one backend. Holds the producers' connection; the workers have their own. */
export interface Queues {
  readonly backend: QueueBackend['kind']
  readonly wake: Wake
  readonly lookup: JobLookup
  /** For the board: jobs can be retried there; of a job's data only the id is shown. */
  adapters(): readonly BullMQAdapter[]
  /** Throws when the queue cannot be reached. */
  counts(): Promise<Readonly<Record<QueueName, QueueCounts>>>
  ping(): Promise<Ping>
  queue(name: QueueName): JobQueue
  worker: Backend['worker']
  /** After the workers. Kicks under way are finished, at most for the limit of one call. */
  close(): Promise<void>
}

/**
 * Opens the queues. A Redis that is away does not stop the start: kicks are then dropped and found by the sweep.
 * On Postgres BullMQ's own schema `bullmq` is made or brought up to date first, so that one must be there: throws.
 */
export async function openQueues(options: {
  readonly backend: QueueBackend
  readonly logger: Logger
}): Promise<Queues> {
  const { logger } = options
  const backend = await openBackend(options.backend, logger)
  const queues = new Map<QueueName, JobQueue>()
  const health = new Map<QueueName, Changes>()
  for (const name of queueNames) {
    const queue = backend.queue(name)
    const changes = logChanges(logger, 'the queue reports errors', 'the queue works', { queue: name })
    queue.on('error', (error) => changes.failed(error))
    queues.set(name, queue)
    health.set(name, changes)
  }
  const queue = (name: QueueName): JobQueue => queues.get(name) as JobQueue
  if (options.backend.kind === 'postgres') {
    await Promise.all(
      queueNames.map((name) => within(CALL_LIMIT_MS, 'opening a queue', () => queue(name).waitUntilReady())),
    )
  }

  const put = async (name: QueueName, wakes: readonly WakeRef[]): Promise<void> => {
    await within(CALL_LIMIT_MS, 'putting jobs', () => queue(name).addBulk(wakes.map(jobFor)))
    health.get(name)?.worked()
  }
  const kicker = makeKicker(put, logger)

  return {
    backend: options.backend.kind,
    wake: kicker,
    lookup: {
      async put(wakes) {
        for (const name of queueNames) {
          const own = wakes.filter((wake) => queueOf[wake.kind] === name)
          if (own.length > 0) await put(name, own)
        }
      },
      known: (wakes) => knownOf(queue, wakes),
    },
    adapters: () => queueNames.map((name) => adapterFor(queue(name))),
    async counts() {
      const all = await Promise.all(queueNames.map(async (name) => [name, await countsOf(queue(name))] as const))
      return Object.fromEntries(all) as Record<QueueName, QueueCounts>
    },
    async ping() {
      try {
        await within(CALL_LIMIT_MS, 'a ping', () => backend.ping())
        return { reachable: true }
      } catch (error) {
        return { reachable: false, detail: errorLabel(error) }
      }
    },
    queue,
    worker: (name, processor, settings) => backend.worker(name, processor, settings),
    async close() {
      await kicker.close()
      const closing = queueNames.map((name) =>
        within(CALL_LIMIT_MS, 'closing a queue', () => queue(name).close()).catch((error: unknown) => {
          logger.warn('a queue did not close well', { queue: name, error: errorLabel(error) })
        }),
      )
      await Promise.all(closing)
      await backend.close()
    },
  }
}

const LOOKUP_BATCH = 100

/**
 * A completed job is not known: it will not run again by itself, so a row that is still owed must get a new one.
 * Nor is a failed one: a row whose tries are used up is `dead` and is not asked about, so a row that is asked about
 * lost its job in another way (a worker that died too often) and must run.
 */
async function knownOf(queue: (name: QueueName) => JobQueue, wakes: readonly WakeRef[]): Promise<ReadonlySet<string>> {
  const known = new Set<string>()
  for (let start = 0; start < wakes.length; start += LOOKUP_BATCH) {
    const batch = wakes.slice(start, start + LOOKUP_BATCH).map((wake) => [queueOf[wake.kind], jobIdOf(wake)] as const)
    const states = await within(CALL_LIMIT_MS, 'asking for jobs', () =>
      Promise.all(batch.map(async ([name, id]) => [id, await queue(name).getJobState(id)] as const)),
    )
    for (const [id, state] of states)
      if (state !== 'unknown' && state !== 'completed' && state !== 'failed') known.add(id)
  }
  return known
}

// Postgres gives the jobs of a paused queue a state that BullMQ's types no longer name.
const countedStates = [
  'waiting',
  'paused' as 'waiting',
  'prioritized',
  'active',
  'delayed',
  'failed',
  'completed',
] as const

async function countsOf(queue: JobQueue): Promise<QueueCounts> {
  const counts = await within(CALL_LIMIT_MS, 'counting jobs', () => queue.getJobCounts(...countedStates))
  const of = (state: string): number => counts[state] ?? 0
  return {
    // While paused, Redis still says `waiting` and Postgres says `paused`.
    waiting: of('waiting') + of('paused') + of('prioritized'),
    active: of('active'),
    delayed: of('delayed'),
    failed: of('failed'),
    completed: of('completed'),
  }
}

function adapterFor(queue: JobQueue): BullMQAdapter {
  const adapter = new BullMQAdapter(queue, { readOnlyMode: false })
  adapter.setFormatter('data', (data: Partial<JobData>) => ({ id: String(data.id ?? '') }))
  return adapter
}
