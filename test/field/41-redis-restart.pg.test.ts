import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { until, type TestGateway } from '../kit/gateway.js'
import { redisMissing, startRedis, type TestRedis } from '../kit/redis.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

describe.skipIf(redisMissing !== null)('case 41, Redis is killed and comes back empty', () => {
  let redis: TestRedis
  let g: TestGateway
  let whileAway: string
  let waited: { readonly takenMs: number; readonly receiptMs: number; readonly turnsBefore: number }
  let delayed: string
  beforeAll(async () => {
    redis = await startRedis()
    g = await caseGateway({ redisUrl: redis.url })
    const { world, faults } = g.served.sandbox
    // A delivery that the platform asked to wait: its job is a delayed one when Redis dies.
    faults.add({ api: 'message.reply', times: 1, do: { kind: 'rate-limit', resetSeconds: 4 } })
    delayed = world.say({ chatId: caseIds.dm, from: caseIds.owner, text: '!reply after the wait' }).id
    await until(
      async () => (await g.db.sql`select 1 from collab.delivery_parts where not_before > ${Date.now()}`).length === 1,
      'a delivery that waits',
    )
    await redis.kill()
    const said = staged(g.served, must(caseEvents('41-redis-restart')[0], 'the event'))
    whileAway = said.message.id
    const from = performance.now()
    world.pushEvent(said.envelope)
    await until(async () => (await stored()) && performance.now(), 'the event to be stored')
    const takenMs = performance.now() - from
    await until(() => g.receipts(caseIds.dm, whileAway).includes('Get'), 'the receipt')
    const receiptMs = performance.now() - from
    await g.served.sandbox.settled()
    const turnsBefore = (await g.db.sql`select 1 from collab.turns`).length
    waited = { takenMs, receiptMs, turnsBefore }
    await redis.start()
  })
  afterAll(async () => {
    await g.stop()
    await redis.stop()
  })

  const stored = async () => (await g.db.sql`select 1 from collab.ingress_events where key = ${whileAway}`).length === 1
  const answersTo = (id: string) => g.answers(caseIds.dm).filter((answer) => answer.parentId === id)

  test('while it is away the event is stored, acknowledged and has its receipt within two seconds', () => {
    expect(waited.takenMs).toBeLessThan(2_000)
    expect(waited.receiptMs).toBeLessThan(2_000)
    const pushed = g.served.sandbox.pushes().filter((push) => push.eventId === 'evt_om_c41')
    expect(pushed).toMatchObject([{ attempts: 1, state: 'delivered' }])
  })

  test('when it is back, this request runs once and is answered once', async () => {
    expect(waited.turnsBefore).toBe(1)
    await until(() => answersTo(whileAway).length > 0, 'the answer')
    await g.quiet()
    expect(answersTo(whileAway)).toHaveLength(1)
    expect(await g.db.sql`select 1 from collab.turns`).toHaveLength(2)
    expect(g.receipts(caseIds.dm, whileAway)).toEqual([])
  })

  test('the delayed delivery is restored and arrives once', async () => {
    await until(() => answersTo(delayed).length > 0, 'the delayed answer')
    await g.quiet()
    expect(answersTo(delayed)).toHaveLength(1)
    expect(g.receipts(caseIds.dm, delayed)).toEqual([])
  })

  test('the sweep goes on: what is put while Redis is killed once more runs too', async () => {
    await redis.kill()
    const { world } = g.served.sandbox
    const again = world.say({ chatId: caseIds.dm, from: caseIds.owner, text: '!reply once more' })
    await until(() => g.receipts(caseIds.dm, again.id).includes('Get'), 'the receipt')
    await redis.start()
    await until(() => answersTo(again.id).length > 0, 'the answer')
    await g.quiet()
    expect(answersTo(again.id)).toHaveLength(1)
  })
})
