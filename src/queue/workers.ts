import type { Performer } from '../collab/jobs.js'
import type { QueueName } from '../collab/ports.js'
import { errorLabel, type Logger } from '../lib/log.js'
import { SECOND, type Clock } from '../lib/time.js'
import type { JobQueue, JobWorker, WorkerHandle } from './backend.js'
import { judge, notQuiet, type Quiet } from './liveness.js'
import { every } from './loop.js'
import { logChanges } from './once.js'
import { queueNames, type Queues } from './queues.js'
import { makeRuns, type Runs } from './run.js'
import { CALL_LIMIT_MS, within } from './within.js'

/** Places that are lent at the same time; each is a worker with connections of its own. */
const MOST_LENT = 16

export interface WorkersOptions {
  readonly queues: Queues
  readonly performer: Performer
  readonly clock: Clock
  readonly logger: Logger
  /** Jobs of one queue that this process runs at the same time. */
  readonly concurrency: Readonly<Record<QueueName, number>>
  /** A job whose process is gone is run by another after at most these two together. All processes use the same. */
  readonly lockDurationMs?: number
  readonly stalledIntervalMs?: number
  /** How long a worker may stand idle before jobs that wait, until it is replaced. */
  readonly idleLimitMs?: number
  readonly livenessEveryMs?: number
  /** Sees each worker when it is made, also a replacement. */
  readonly onWorker?: (queue: QueueName, worker: JobWorker) => void
}

export interface Workers {
  /**
   * Takes no new job, gives the running ones `patienceMs` to end by themselves, then tells them to end and waits for
   * them, at most `graceMs`. What still runs then is left behind: its lock runs out and another process runs it again.
   */
  stop(graceMs: number, patienceMs?: number): Promise<{ readonly unfinished: number }>
  /**
   * One more job of a queue may run until the returned function is called: while one of them only waits for a person.
   * What runs in that place then ends in peace.
   */
  lend(queue: QueueName): () => void
}

interface Post {
  readonly runs: Runs
  readonly queue: JobQueue
  readonly concurrency: number
  handle: WorkerHandle
  /** The one that was replaced last and may still end its jobs. */
  retired: WorkerHandle | null
  quiet: Quiet
}

export function startWorkers(options: WorkersOptions): Workers {
  const { queues, clock, logger } = options
  const idleLimitMs = options.idleLimitMs ?? 15 * SECOND
  const handles = new Set<WorkerHandle>()
  const posts = new Map<QueueName, Post>()
  let stopping = false

  function open(name: QueueName, runs: Runs, concurrency = options.concurrency[name]): WorkerHandle {
    const handle = queues.worker(name, (job, token) => runs.run(job, token), {
      concurrency,
      lockDuration: options.lockDurationMs ?? 15 * SECOND,
      stalledInterval: options.stalledIntervalMs ?? 7.5 * SECOND,
      // Never reached: the limit is judged in `run.ts`.
      maxStalledCount: 1_000_000,
      // After a lost connection; the default of 15 s would be a visible standstill.
      runRetryDelay: SECOND,
    })
    const changes = logChanges(logger, 'the worker reports errors', 'the worker gets jobs again', { queue: name })
    handle.worker.on('error', (error) => changes.failed(error))
    handle.worker.on('active', () => changes.worked())
    handle.worker.on('stalled', (jobId) =>
      logger.warn('a job lost its process and waits again', { queue: name, jobId }),
    )
    handles.add(handle)
    options.onWorker?.(name, handle.worker)
    return handle
  }

  for (const name of queueNames) {
    const runs = makeRuns(name, options)
    posts.set(name, {
      runs,
      queue: queues.queue(name),
      concurrency: options.concurrency[name],
      handle: open(name, runs),
      retired: null,
      quiet: notQuiet,
    })
  }

  async function check(name: QueueName, post: Post): Promise<void> {
    const seen = await within(CALL_LIMIT_MS, 'a look at the backlog', () => backlogOf(post.queue))
    const look = {
      at: clock.now(),
      backlog: seen,
      running: post.runs.running.size,
      concurrency: post.concurrency,
      progress: post.runs.progress(),
    }
    const { quiet, stuck } = judge(post.quiet, look, idleLimitMs)
    post.quiet = stuck ? notQuiet : quiet
    if (!stuck || stopping) return
    logger.warn('a worker stands idle before waiting jobs; it is replaced', { queue: name, count: seen })
    // Its running jobs end in peace, and a stop waits for them too; one that hangs is cut at the next replacement.
    post.retired?.cut()
    const old = (post.retired = post.handle)
    post.handle = open(name, post.runs)
    void closed(old, logger).then(() => handles.delete(old))
  }

  const liveness = every(
    options.livenessEveryMs ?? 5 * SECOND,
    logChanges(logger, 'the workers cannot be watched', 'the workers are watched again'),
    async () => void (await Promise.all([...posts].map(([name, post]) => check(name, post)))),
  )

  let lent = 0
  return {
    lend(name) {
      const post = posts.get(name)
      if (post === undefined || stopping || lent >= MOST_LENT) return () => {}
      lent += 1
      // A worker of its own: one whose places are all taken does not look whether it has got another.
      const extra = open(name, post.runs, 1)
      let given = false
      return () => {
        if (given) return
        given = true
        lent -= 1
        void closed(extra, logger).then(() => handles.delete(extra))
      }
    },
    async stop(graceMs, patienceMs = 0) {
      stopping = true
      const all = [...handles]
      // Closed before they are told to end: none takes a job only to be told so.
      const closing = Promise.all(all.map((handle) => closed(handle, logger)))
      if (patienceMs > 0) await within(patienceMs, 'the end of running jobs', () => closing).catch(() => {})
      for (const post of posts.values()) post.runs.abort()
      // A look that hangs makes no worker any more.
      await liveness.stop(0)
      try {
        await within(graceMs, 'the stop of the workers', () => closing)
        return { unfinished: 0 }
      } catch {
        const unfinished = [...posts.values()].reduce((sum, post) => sum + post.runs.running.size, 0)
        logger.warn('the workers were cut off', { count: unfinished, ms: graceMs })
        for (const handle of all) handle.cut()
        return { unfinished }
      }
    },
  }
}

async function closed(handle: WorkerHandle, logger: Logger): Promise<void> {
  await handle
    .close()
    .catch((error: unknown) => logger.warn('a worker did not close well', { error: errorLabel(error) }))
}

/** Jobs that a free worker should take at once; none while an operator has paused the queue. */
async function backlogOf(queue: JobQueue): Promise<number> {
  if (await queue.isPaused()) return 0
  return await queue.getJobCountByTypes('waiting', 'prioritized')
}
