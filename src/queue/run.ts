import { DelayedError, UnrecoverableError, type Job } from 'bullmq'
import type { Performer } from '../collab/jobs.js'
import type { QueueName } from '../collab/ports.js'
import { queueOf } from '../collab/queues.js'
import { unreachable } from '../lib/assert.js'
import { errorLabel, type Logger } from '../lib/log.js'
import type { Clock } from '../lib/time.js'
import { wakeOf, type JobData } from './job.js'

/** A `later` that is already past must not make a job spin. */
export const MIN_LATER_MS = 250

/** How often the process may die while it runs one job, before the job stays failed. */
const MAX_STALLS = 3

/**
 * Kept on a job that failed for good, as its progress: the one field that a replay by hand clears on neither backend,
 * so that the next run is known to be one.
 */
const FAILED_FOR_GOOD = 'failed for good'

/** The runs of one queue in this process. */
export interface Runs {
  readonly running: ReadonlySet<AbortController>
  /** Counts every start and every end: what does not change is not getting on. */
  progress(): number
  /** Asks all that run, and all that would still start, to end. */
  abort(): void
  run(job: Job<JobData, string>, token: string | undefined): Promise<string>
}

export function makeRuns(
  queue: QueueName,
  deps: { readonly performer: Performer; readonly clock: Clock; readonly logger: Logger },
): Runs {
  const { performer, clock, logger } = deps
  const running = new Set<AbortController>()
  let steps = 0
  let aborted = false

  /** Costs no attempt. */
  async function wait(job: Job<JobData, string>, token: string | undefined, ms: number): Promise<never> {
    await job.moveToDelayed(clock.now() + Math.max(ms, MIN_LATER_MS), token)
    throw new DelayedError()
  }

  async function perform(
    job: Job<JobData, string>,
    token: string | undefined,
    controller: AbortController,
  ): Promise<string> {
    const wake = wakeOf(job.id)
    if (wake === null || queueOf[wake.kind] !== queue) {
      throw withoutStack(new UnrecoverableError('not a job of this program: it was not made from a wake'))
    }
    const fields = { queue, ...(job.id === undefined ? {} : { jobId: job.id }) }
    if (job.data?.id !== wake.subject || job.name !== wake.kind) {
      logger.warn('the data of a job were changed; its id counts', fields)
    }
    // BullMQ's own limit marks the job for good, so that no replay would run it. Each recorded end allows one more.
    if (job.stalledCounter > MAX_STALLS + job.attemptsMade) {
      logger.error('a job was never finished by the process that ran it', { ...fields, count: job.stalledCounter })
      throw withoutStack(new UnrecoverableError(`the process ended ${job.stalledCounter} times while it ran this job`))
    }
    const outcome = await performer
      .perform({
        ...wake,
        signal: controller.signal,
        // Right for a replay by hand too: BullMQ leaves the count where it was, and runs the job once.
        lastAttempt: job.attemptsMade + 1 >= (job.opts.attempts ?? 1) || job.progress === FAILED_FOR_GOOD,
      })
      .catch(async (error: unknown) => {
        // What fails because the process stops is not the job's fault.
        if (controller.signal.aborted) return await wait(job, token, 0)
        logger.warn('a job failed', { ...fields, error: errorLabel(error) })
        // The queue's server keeps the message: never the error itself, whose fields can hold bodies and tokens.
        throw withoutStack(new Error(errorLabel(error)))
      })
    switch (outcome.outcome) {
      case 'done':
        if (job.progress === FAILED_FOR_GOOD) await mark(job, 'replayed')
        return outcome.note
      case 'later':
        logger.debug('a job waits', { ...fields, reason: outcome.because })
        return await wait(job, token, outcome.at - clock.now())
      case 'failed':
        logger.warn('a job failed for good', { ...fields, reason: outcome.because })
        await mark(job, FAILED_FOR_GOOD)
        throw withoutStack(new UnrecoverableError(outcome.because))
      default:
        return unreachable(outcome)
    }
  }

  return {
    running,
    progress: () => steps,
    abort() {
      aborted = true
      for (const controller of running) controller.abort()
    },
    async run(job, token) {
      const controller = new AbortController()
      if (aborted) controller.abort()
      running.add(controller)
      steps += 1
      try {
        return await perform(job, token, controller)
      } finally {
        running.delete(controller)
        steps += 1
      }
    },
  }
}

/** A mark that is not written only makes a replay look like any other run. */
async function mark(job: Job<JobData, string>, progress: string): Promise<void> {
  await job.updateProgress(progress).catch(() => {})
}

/** BullMQ stores the stack beside the message; it names private paths. */
function withoutStack<E extends Error>(error: E): E {
  error.stack = `${error.name}: ${error.message}`
  return error
}
