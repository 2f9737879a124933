import { silentLogger } from '../../src/lib/log.js'
import type { QueueBackend } from '../../src/queue/backend.js'
import { openQueues } from '../../src/queue/queues.js'
import { startWorkers } from '../../src/queue/workers.js'

/** A process that takes jobs, says so and never ends them, for the test that kills it. */
const [kind, url, lockDurationMs, stalledIntervalMs] = process.argv.slice(2)
const queues = await openQueues({ backend: { kind, url } as QueueBackend, logger: silentLogger })
startWorkers({
  queues,
  clock: { now: () => Date.now() },
  logger: silentLogger,
  concurrency: { request: 2, delivery: 2, upkeep: 2 },
  lockDurationMs: Number(lockDurationMs),
  stalledIntervalMs: Number(stalledIntervalMs),
  performer: {
    perform: async (run) => {
      process.stdout.write(`${run.subject}\n`)
      return await new Promise(() => {})
    },
    sweep: () => Promise.resolve(0),
  },
})
