import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until, testGateway, type TestGateway } from '../kit/gateway.js'

const ANSWERS = 20
let g: TestGateway
let asked: readonly string[]
let tookMs: number
let otherMs: number
beforeAll(async () => {
  // Rates of the platform and our own pacing are on: twenty topics of one chat, which takes five messages a second.
  const env = { LARK_PACING: 'on', DELIVERY_CONCURRENCY: '2', REQUEST_CONCURRENCY: '20' }
  g = await testGateway({ rates: true, env })
  const { world, faults } = g.served.sandbox
  faults.add({ api: 'message.reply', when: { every: 2 }, times: ANSWERS / 2, do: { kind: 'code', code: 230020 } })
  faults.add({ api: 'reaction.create', do: { kind: 'code', code: 99991403 } })
  // The first refusal tells that the quota is used up.
  const opener = world.say({ chatId: g.ids.dm, from: g.ids.alice, text: '!reply first' }).id
  await until(() => g.answers(g.ids.dm).some((one) => one.parentId === opener), 'an answer without a receipt')
  const now = Date.now()
  const from = performance.now()
  asked = Array.from(
    { length: ANSWERS },
    (_, n) =>
      world.say({
        chatId: g.ids.topicGroup,
        from: g.ids.alice,
        text: `!reply ${n + 1}`,
        mentionBot: true,
        createTime: now + n,
      }).id,
  )
  // With two workers and twenty answers that wait, another chat is served at once only if no worker waits in place.
  await until(() => g.answers(g.ids.topicGroup).length >= 3, 'the first answers')
  const began = performance.now()
  const other = world.say({ chatId: g.ids.group, from: g.ids.alice, text: '!reply here', mentionBot: true }).id
  await until(() => g.answers(g.ids.group).some((one) => one.parentId === other), 'the other chat')
  otherMs = performance.now() - began
  await until(() => g.answers(g.ids.topicGroup).length >= ANSWERS, 'all answers', 60_000)
  tookMs = performance.now() - from
  await g.quiet(60_000)
}, 120_000)
afterAll(() => g.stop())

describe('case 40, limits of the platform', () => {
  test('all twenty are delivered, each once', () => {
    const answers = g.answers(g.ids.topicGroup)
    expect(answers).toHaveLength(ANSWERS)
    expect(new Set(answers.map((answer) => answer.rootId))).toEqual(new Set(asked))
  })

  test('no worker waits in place: another chat is answered meanwhile', () => {
    expect(otherMs).toBeLessThan(tookMs)
    expect(otherMs).toBeLessThan(5_000)
  })

  test('a quota that is used up stops the decoration calls, and only those', () => {
    const { calls } = g.served.sandbox.stats()
    expect(calls['reaction.create']?.['99991403'] ?? 0).toBeLessThan(5)
    expect(calls['message.reply']?.['0']).toBe(ANSWERS + 2)
  })

  test('the platform was never asked faster than it allows', () => {
    const { calls } = g.served.sandbox.stats()
    expect(calls['message.reply']?.['230020']).toBe(ANSWERS / 2)
    expect(calls['message.reply']?.['99991400']).toBeUndefined()
  })

  test('health is asked of the ledger, however often: the platform hears nothing of it, and needs no time off from it', async () => {
    // What is read back of messages has its own rhythm and goes on meanwhile.
    const spent = () => {
      const calls = Object.entries(g.served.sandbox.stats().calls)
      return JSON.stringify(calls.filter(([api]) => !['message.list', 'message.get'].includes(api)))
    }
    const before = spent()
    for (let n = 0; n < 20; n++) {
      expect((await fetch(`${g.gateway.url}/readyz`)).status).toBe(200)
      expect((await g.api('/api/v1/doctor')).status).toBe(200)
    }
    expect(spent()).toBe(before)
  })
})
