import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { newSecret } from '../../src/app/chance.js'
import { silentLogger } from '../../src/lib/log.js'
import { openQueues } from '../../src/queue/queues.js'
import { startWorkers } from '../../src/queue/workers.js'
import { startEmbedded } from '../../src/stores/embedded/postgres.js'
import { done, fakePerformer, gate, keptLog, until } from './kit.js'

describe('the Postgres server is killed and started again', () => {
  let dataDir: string

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'lark-manager-queue-death-'))
    chmodSync(dataDir, 0o711)
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  test('the process lives, the job under way is settled, and new jobs run', async () => {
    const server = await startEmbedded({ dataDir, logger: silentLogger, newSecret, fsync: false })
    const log = keptLog()
    const queues = await openQueues({ backend: { kind: 'postgres', url: server.url }, logger: log })
    const held = gate()
    const performer = fakePerformer(async (run) => {
      if (run.subject === 'held') await held.opened
      return done
    })
    const workers = startWorkers({
      queues,
      performer,
      clock: { now: () => Date.now() },
      logger: log,
      concurrency: { request: 2, delivery: 2, upkeep: 2 },
      lockDurationMs: 2_000,
      stalledIntervalMs: 500,
    })
    const stateOf = (subject: string): Promise<string> => queues.queue('request').getJobState(`turn-${subject}-g1`)
    const put = (subject: string): Promise<void> => queues.lookup.put([{ kind: 'turn', subject, generation: 1 }])
    try {
      await put('held')
      await until('it runs', () => performer.runs.length === 1)
      process.kill(server.pid, 'SIGKILL')
      await until('it is noticed', async () => !(await queues.ping()).reachable)
      await expect(put('away')).rejects.toThrow()
      queues.wake.kick([{ kind: 'turn', subject: 'away', generation: 1 }])
      expect(await server.ensure()).toBe('restarted')
      await until('it is back', async () => (await queues.ping()).reachable)
      held.open()
      await put('after')
      await until('the new one is completed', async () => (await stateOf('after')) === 'completed')
      // The crash may have taken back the last moments of the queue: then the job is unknown, and the sweep finds its row.
      await until('the old one is settled', async () => ['completed', 'unknown'].includes(await stateOf('held')))
      expect(performer.started()).toContain('turn-after-g1')
      expect(performer.started()).not.toContain('turn-away-g1')
    } finally {
      held.open()
      await workers.stop(3_000)
      await queues.close()
      await server.stop()
    }
  })
})
