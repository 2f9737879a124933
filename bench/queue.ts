import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newSecret } from '../src/app/chance.js'
import { silentLogger } from '../src/lib/log.js'
import type { QueueBackend } from '../src/queue/backend.js'
import { openQueues } from '../src/queue/queues.js'
import { startWorkers } from '../src/queue/workers.js'
import { startEmbedded } from '../src/stores/embedded/postgres.js'
import { redisMissing, startRedis } from '../test/kit/redis.js'

/**
 * From a kick to the start of its job, on both backends, in one process: `npx tsx bench/queue.ts`.
 * Absolute numbers are the machine's; the ratio between the backends is what can be compared.
 */
const WARM_UP = 100
const SINGLE = 300
const BURST = 500

interface Measured {
  readonly single: readonly number[]
  readonly burst: readonly number[]
}

async function measure(backend: QueueBackend): Promise<Measured> {
  const queues = await openQueues({ backend, logger: silentLogger })
  const kicked = new Map<string, number>()
  let took: number[] = []
  let arrived = (): void => {}
  const workers = startWorkers({
    queues,
    clock: { now: () => Date.now() },
    logger: silentLogger,
    concurrency: { request: 4, delivery: 20, upkeep: 8 },
    performer: {
      perform(run) {
        took.push(performance.now() - (kicked.get(run.subject) ?? 0))
        arrived()
        return Promise.resolve({ outcome: 'done', note: 'measured' })
      },
      sweep: () => Promise.resolve(0),
    },
  })
  const kick = (subject: string): void => {
    kicked.set(subject, performance.now())
    queues.wake.kick([{ kind: 'deliver', subject, generation: 1 }])
  }
  const until = (count: number): Promise<void> =>
    new Promise((resolve) => {
      arrived = () => void (took.length >= count && resolve())
      arrived()
    })
  const oneByOne = async (name: string, count: number): Promise<number[]> => {
    took = []
    for (let nth = 0; nth < count; nth += 1) {
      kick(`${name}${nth}`)
      await until(nth + 1)
    }
    return took
  }
  await oneByOne('warm', WARM_UP)
  const single = await oneByOne('single', SINGLE)
  took = []
  for (let nth = 0; nth < BURST; nth += 1) kick(`burst${nth}`)
  await until(BURST)
  const burst = took
  await workers.stop(5_000)
  await queues.close()
  return { single, burst }
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

function line(name: string, values: readonly number[]): void {
  const shown = [0.5, 0.99].map((part) => quantile(values, part).toFixed(1).padStart(8))
  process.stdout.write(`${name.padEnd(28)} p50 ${shown[0]} ms   p99 ${shown[1]} ms   n ${values.length}\n`)
}

const dataDir = mkdtempSync(join(tmpdir(), 'lark-manager-bench-'))
const server = await startEmbedded({ dataDir, logger: silentLogger, newSecret })
let onPostgres: Measured
try {
  onPostgres = await measure({ kind: 'postgres', url: server.url })
} finally {
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
line('Postgres, one at a time', onPostgres.single)
line(`Postgres, ${BURST} at once`, onPostgres.burst)

if (redisMissing !== null) {
  process.stdout.write(`Redis was not measured: ${redisMissing}\n`)
} else {
  const redis = await startRedis()
  try {
    const onRedis = await measure({ kind: 'redis', url: redis.url })
    line('Redis, one at a time', onRedis.single)
    line(`Redis, ${BURST} at once`, onRedis.burst)
    for (const kind of ['single', 'burst'] as const) {
      const ratio = quantile(onPostgres[kind], 0.5) / quantile(onRedis[kind], 0.5)
      process.stdout.write(`Postgres takes ${ratio.toFixed(1)} times as long as Redis (${kind}, p50)\n`)
    }
  } finally {
    await redis.stop()
  }
}
