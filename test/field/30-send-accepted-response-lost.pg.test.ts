import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliver } from '../../src/exchange/deliver.js'
import { putDeliveries } from '../../src/stores/deliveries/deliveries.js'
import { partsOf } from '../../src/stores/deliveries/parts.js'
import { Killed } from '../exchange/killing.js'
import { answer, FakeChannel, heldRun, TestClock, testExchange } from '../exchange/outgoing-kit.js'
import { freshDb, type FreshDb } from '../kit/pg.js'

interface Step {
  readonly t_ms: number
  readonly parts?: readonly string[]
  readonly what?: string
}

const input = new URL('../cases/30-send-accepted-response-lost/input.json', import.meta.url)
const { steps } = JSON.parse(readFileSync(input, 'utf8')) as { steps: readonly Step[] }
const parts = steps.find((step) => step.parts !== undefined)?.parts ?? []
const downFrom = steps.find((step) => step.what === 'worker SIGKILL')?.t_ms ?? NaN
const downTo = steps.find((step) => step.what === 'worker starts')?.t_ms ?? NaN

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

/** Part 1 is answered; part 2 is taken, its answer is lost, and the worker dies `afterMs` before it starts again. */
async function play(options: { readonly afterMs: number; readonly dies: boolean }) {
  const clock = new TestClock()
  const channel = new FakeChannel(clock)
  const delivery = await answer(fresh.db.sql, parts.join('\n\n'))
  await putDeliveries(fresh.db.sql, [delivery])
  channel.faults = ['ok', 'taken-lost']
  const first = testExchange(fresh.db, clock, channel, { pacing: false })
  if (options.dies) {
    const lost = channel.send.bind(channel)
    channel.send = async (part) => {
      const reply = await lost(part)
      if (channel.sendCalls.length === 2) throw new Killed()
      return reply
    }
    await expect(deliver(first, delivery.id, heldRun)).rejects.toThrow(Killed)
    channel.send = lost
  } else await deliver(first, delivery.id, heldRun)
  const before = await partsOf(fresh.db.sql, delivery.id)
  clock.add(options.afterMs)
  // The worker starts: nothing is left of the first one but its rows.
  const second = testExchange(fresh.db, clock, channel, { pacing: false })
  for (let round = 0; round < 50; round++) {
    const outcome = await deliver(second, delivery.id, heldRun)
    if (outcome.outcome !== 'later') break
    clock.set(outcome.at)
  }
  return {
    channel,
    before,
    after: await partsOf(fresh.db.sql, delivery.id),
    shown: channel.shown.map((message) => (JSON.parse(message.content) as { text: string }).text),
  }
}

describe('case 30, a send that was accepted and whose answer was lost', () => {
  test.each([true, false])('the chat shows p1 p2 p3 once each, in order (worker killed: %s)', async (dies) => {
    const { shown, after } = await play({ afterMs: downTo - downFrom, dies })
    expect(shown).toEqual(['p1', 'p2', 'p3'])
    expect(after.map((part) => part.state)).toEqual(['verified', 'verified', 'verified'])
  })

  test('the attempt with its stable key stands in the rows when the worker dies', async () => {
    const { before } = await play({ afterMs: downTo - downFrom, dies: true })
    expect(before.map((part) => part.state)).toEqual(['verified', 'sending', 'planned'])
    expect(before[1]?.history).toMatchObject([{ endedAt: null, outcome: null }])
  })

  test('after the restart part 1 is untouched and part 2 is asked for with the same key', async () => {
    const { channel, before, after } = await play({ afterMs: downTo - downFrom, dies: true })
    expect(after[0]).toEqual(before[0])
    const uuids = channel.sendCalls.map((call) => call.uuid)
    expect(uuids).toHaveLength(4)
    expect(uuids[2]).toBe(uuids[1])
    expect(uuids[1]).toBe(after[1]?.key.slice(0, 40))
    expect(new Set(uuids).size).toBe(3)
  })

  test('a worker that starts after the key has expired reads the chat and sends nothing twice', async () => {
    const { channel, shown } = await play({ afterMs: 2 * 3_600_000, dies: true })
    expect(shown).toEqual(['p1', 'p2', 'p3'])
    expect(channel.sendCalls).toHaveLength(3)
  })

  test('a look that fails is not a look that finds nothing: no blind resend', async () => {
    const clock = new TestClock()
    const channel = new FakeChannel(clock)
    const x = testExchange(fresh.db, clock, channel, { pacing: false })
    const delivery = await answer(fresh.db.sql, parts.join('\n\n'))
    await putDeliveries(fresh.db.sql, [delivery])
    channel.faults = ['ok', 'taken-lost']
    await deliver(x, delivery.id, heldRun)
    clock.add(2 * 3_600_000)
    channel.lookUps = [{ looked: 'incomplete', because: 'not-permitted' }]
    expect(await deliver(x, delivery.id, heldRun)).toMatchObject({ outcome: 'failed' })
    expect(channel.sendCalls).toHaveLength(2)
    expect((await partsOf(fresh.db.sql, delivery.id)).map((part) => part.state)).toEqual([
      'verified',
      'parked',
      'planned',
    ])
  })
})
