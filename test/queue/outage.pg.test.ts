import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { WakeRef } from '../../src/collab/ports.js'
import { openQueues, type Queues } from '../../src/queue/queues.js'
import { startWorkers, type Workers } from '../../src/queue/workers.js'
import { freshDb } from '../kit/pg.js'
import { redisMissing, startRedis, type TestRedis } from '../kit/redis.js'
import { done, fakePerformer, gate, keptLog, until, type FakePerformer } from './kit.js'

const clock = { now: () => Date.now() }
const turn = (subject: string, generation = 1): WakeRef => ({ kind: 'turn', subject, generation })

describe.skipIf(redisMissing !== null)('Redis goes away', () => {
  let redis: TestRedis
  let queues: Queues
  let workers: Workers | null
  const log = keptLog()

  beforeEach(async () => {
    redis = await startRedis()
    workers = null
    log.lines.length = 0
  })
  afterEach(async () => {
    await workers?.stop(2_000)
    await queues.close()
    await redis.stop()
  })
  const open = async (): Promise<void> => {
    queues = await openQueues({ backend: { kind: 'redis', url: redis.url }, logger: log })
  }
  const work = (performer: FakePerformer): void => {
    const concurrency = { request: 2, delivery: 2, upkeep: 2 }
    workers = startWorkers({ queues, performer, clock, logger: log, concurrency })
  }

  test('a kick while Redis is down returns at once and never throws; a put and a lookup fail soon', async () => {
    await open()
    await redis.kill()
    await until('it is noticed', async () => !(await queues.ping()).reachable)
    const from = performance.now()
    for (let nth = 0; nth < 1_000; nth += 1) queues.wake.kick([turn(`t${nth}`)])
    expect(performance.now() - from).toBeLessThan(500)
    await expect(queues.lookup.put([turn('t1')])).rejects.toThrow()
    await expect(queues.lookup.known([turn('t1')])).rejects.toThrow()
    expect(performance.now() - from).toBeLessThan(6_000)
  })

  test('a start with a Redis that was never there does not hang, and works when it comes', async () => {
    await redis.kill()
    await open()
    const performer = fakePerformer(() => done)
    work(performer)
    const from = performance.now()
    queues.wake.kick([turn('lost')])
    await expect(queues.lookup.put([turn('t1')])).rejects.toThrow()
    expect((await queues.ping()).reachable).toBe(false)
    expect(performance.now() - from).toBeLessThan(6_000)
    await redis.start()
    await until('it is reachable', async () => (await queues.ping()).reachable)
    await queues.lookup.put([turn('t1')])
    await until('the job ran', () => performer.started().includes('turn-t1-g1'))
  })

  test('case 41: when Redis is back empty the sweep puts what is owed, and the workers run it once', async () => {
    await open()
    const performer = fakePerformer(() => done)
    work(performer)
    queues.wake.kick([turn('before')])
    await until('it runs', () => performer.runs.length === 1)
    await redis.kill()
    queues.wake.kick([turn('owed')])
    await until('it is noticed', async () => !(await queues.ping()).reachable)
    await redis.start()
    await until('it is reachable', async () => (await queues.ping()).reachable)
    // What the sweep does: the job of the owed row is unknown, so its generation is raised and put.
    expect(await queues.lookup.known([turn('owed')])).toEqual(new Set())
    await queues.lookup.put([turn('owed', 2)])
    await until('it ran', () => performer.started().includes('turn-owed-g2'))
    queues.wake.kick([turn('after')])
    await until('kicks work again', () => performer.started().includes('turn-after-g1'))
    expect(performer.started()).toEqual(['turn-before-g1', 'turn-owed-g2', 'turn-after-g1'])
  })

  test('a stop and a close while Redis is down end within their limits', async () => {
    await open()
    work(fakePerformer(() => done))
    await queues.lookup.put([turn('t1')])
    await redis.kill()
    await until('it is noticed', async () => !(await queues.ping()).reachable)
    const from = performance.now()
    await workers?.stop(1_000)
    await queues.close()
    expect(performance.now() - from).toBeLessThan(10_000)
  })

  test('an outage is told once, not once for each call', async () => {
    await open()
    await redis.kill()
    await until('it is noticed', async () => !(await queues.ping()).reachable)
    for (let nth = 0; nth < 50; nth += 1) {
      queues.wake.kick([turn(`t${nth}`)])
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until('it is told', () => log.lines.some((line) => line.message.startsWith('kicks do not reach')))
    const messages = log.lines.map((line) => `${line.message} ${line.fields.queue ?? ''}`)
    expect(messages).toEqual([...new Set(messages)])
  })
})

describe('a server that takes the connection and never answers', () => {
  let server: Server
  const sockets = new Set<Socket>()

  beforeEach(async () => {
    server = createServer((socket) => void sockets.add(socket.on('error', () => {})))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })

  test('a kick still returns at once and a put fails within its limit', async () => {
    const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
    const queues = await openQueues({ backend: { kind: 'redis', url }, logger: keptLog() })
    const from = performance.now()
    queues.wake.kick([turn('t1')])
    expect(performance.now() - from).toBeLessThan(100)
    await expect(queues.lookup.put([turn('t1')])).rejects.toThrow()
    expect((await queues.ping()).reachable).toBe(false)
    await queues.close()
    expect(performance.now() - from).toBeLessThan(20_000)
  })
})

describe('Postgres cuts every connection', () => {
  test('the process lives, the run under way ends, and jobs put afterwards run', async () => {
    const database = await freshDb({ empty: true })
    const log = keptLog()
    const queues = await openQueues({ backend: { kind: 'postgres', url: database.url }, logger: log })
    const held = gate()
    const performer = fakePerformer(async (run) => {
      if (run.subject === 'held') await held.opened
      return done
    })
    const workers = startWorkers({
      queues,
      performer,
      clock,
      logger: log,
      concurrency: { request: 2, delivery: 2, upkeep: 2 },
      lockDurationMs: 2_000,
      stalledIntervalMs: 500,
    })
    const admin = new pg.Client({ connectionString: database.url })
    try {
      await admin.connect()
      await queues.lookup.put([turn('held')])
      await until('it runs', () => performer.runs.length === 1)
      for (let round = 0; round < 2; round += 1) {
        await admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()`,
        )
        queues.wake.kick([turn(`kick${round}`)])
        await until('the queue answers', async () => (await queues.ping()).reachable)
      }
      held.open()
      await queues.lookup.put([turn('after')])
      await until('both are completed', async () => {
        const states = await Promise.all(
          ['held', 'after'].map((subject) => queues.queue('request').getJobState(`turn-${subject}-g1`)),
        )
        return states.every((state) => state === 'completed')
      })
      expect(performer.started()).toContain('turn-after-g1')
    } finally {
      held.open()
      await workers.stop(3_000)
      await queues.close()
      await admin.end()
      await database.drop()
    }
  })
})
