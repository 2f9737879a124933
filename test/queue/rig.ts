import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Job } from 'bullmq'
import { jobIdOf } from '../../src/collab/jobs.js'
import type { WakeKind, WakeRef } from '../../src/collab/ports.js'
import type { QueueBackend } from '../../src/queue/backend.js'
import type { JobData } from '../../src/queue/job.js'
import { openQueues, queueNames, type Queues } from '../../src/queue/queues.js'
import { startWorkers, type Workers, type WorkersOptions } from '../../src/queue/workers.js'
import { keptLog, until, type FakePerformer, type KeptLog } from './kit.js'

/** A server that belongs to the test. */
export interface QueueUnderTest {
  readonly backend: QueueBackend
  /** Removes every job, as a lost Redis or an emptied schema would. */
  wipe(): Promise<void>
  /** Everything that the server holds, as one text. */
  dump(): Promise<string>
  end(): Promise<void>
}

export const clock = { now: () => Date.now() }
export const wake = (kind: WakeKind, subject: string, generation = 1): WakeRef => ({ kind, subject, generation })

export interface QueueRig {
  readonly server: QueueUnderTest
  readonly queues: Queues
  readonly log: KeptLog
  work(performer: FakePerformer, options?: Partial<WorkersOptions>): Workers
  jobOf(ref: WakeRef): Promise<Job<JobData, string>>
  stateOf(ref: WakeRef): Promise<string>
  reaches(ref: WakeRef, state: string): Promise<void>
  /** Runs out the waits between tries. */
  hurryUntil(ref: WakeRef, state: string): Promise<void>
}

/** Call it in a `describe`: one server for its tests, emptied after each; queues and workers are each test's own. */
export function queueRig(open: () => Promise<QueueUnderTest>): QueueRig {
  let server: QueueUnderTest
  let queues: Queues
  let log: KeptLog
  let started: Workers[]

  beforeAll(async () => {
    server = await open()
  })
  afterAll(() => server.end())
  beforeEach(async () => {
    log = keptLog()
    started = []
    queues = await openQueues({ backend: server.backend, logger: log })
  })
  afterEach(async () => {
    for (const workers of started) await workers.stop(2_000)
    await queues.close()
    await server.wipe()
  })

  const jobOf = async (ref: WakeRef): Promise<Job<JobData, string>> => {
    for (const name of queueNames) {
      const job = await queues.queue(name).getJob(jobIdOf(ref))
      if (job !== undefined) return job
    }
    throw new Error(`no job ${jobIdOf(ref)}`)
  }
  const stateOf = async (ref: WakeRef): Promise<string> => await (await jobOf(ref)).getState()

  return {
    get server() {
      return server
    },
    get queues() {
      return queues
    },
    get log() {
      return log
    },
    jobOf,
    stateOf,
    work(performer, options = {}) {
      const concurrency = { request: 4, delivery: 4, upkeep: 4 }
      const workers = startWorkers({ queues, performer, clock, logger: log, concurrency, ...options })
      started.push(workers)
      return workers
    },
    reaches: (ref, state) => until(`${jobIdOf(ref)} is ${state}`, async () => (await stateOf(ref)) === state),
    hurryUntil: (ref, state) =>
      until(`${jobIdOf(ref)} is ${state}`, async () => {
        const job = await jobOf(ref)
        const now = await job.getState()
        if (now === 'delayed') await job.promote().catch(() => {})
        return now === state
      }),
  }
}
