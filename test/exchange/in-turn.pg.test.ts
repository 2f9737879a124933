import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CauseKind } from '../../src/collab/delivery.js'
import type { DeliveryId } from '../../src/collab/refs.js'
import { deliver } from '../../src/exchange/deliver.js'
import { putDeliveries, settleDelivery } from '../../src/stores/deliveries/deliveries.js'
import { partsOf } from '../../src/stores/deliveries/parts.js'
import { claimWake, putWake, releaseWake, settleWake } from '../../src/stores/wakes/wakes.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { answer, FakeChannel, heldRun, TestClock, testExchange, type Fault } from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

interface Said {
  readonly id: DeliveryId
  readonly name: string
}

/** A chat with a platform of its own; answers are given one millisecond after the other. */
async function bench() {
  const { sql } = fresh.db
  const clock = new TestClock()
  const channel = new FakeChannel(clock)
  const x = testExchange(fresh.db, clock, channel, { pacing: true })
  await sql`delete from collab.pacing`
  await sql`update collab.deliveries set settled_at = 1, outcome = 'verified' where settled_at is null`
  const chatId = `oc_${crypto.randomUUID()}`
  let given = 0
  return {
    clock,
    channel,
    async say(name: string, parts: number, options: { threadId?: string; causeKind?: CauseKind } = {}): Promise<Said> {
      const words = Array.from({ length: parts }, (_, at) => `${name}${at + 1}`).join('\n\n')
      const put = await answer(sql, words, { chatId, at: clock.now() + given++ })
      const { causeKind = put.causeKind, threadId = null } = options
      await putDeliveries(sql, [{ ...put, causeKind, route: { ...put.route, threadId } }])
      await putWake(sql, 'deliver', put.id, clock.now())
      return { id: put.id, name }
    },
    /** One run of its job, under its wake, as a worker does it. */
    async run({ id }: Said): Promise<string> {
      const claim = await claimWake(sql, 'deliver', id, 'test', clock.now(), 60_000)
      if (!claim.claimed) return claim.because
      const outcome = await deliver(x, id, heldRun)
      if (outcome.outcome === 'later') {
        await releaseWake(sql, 'deliver', id, claim, outcome.at, outcome.because)
        return outcome.because
      }
      await settleWake(sql, 'deliver', id, claim, clock.now())
      return outcome.outcome
    },
    /** Runs whatever is due, the earliest first, until nothing is owed. */
    async finish(all: readonly Said[]): Promise<void> {
      for (let round = 0; round < 200; round++) {
        const [next] = await sql<{ subject: string; at: number }[]>`
          select subject, due_at as at from collab.wakes
          where state = 'pending' and subject = any(${all.map((one) => one.id)}) order by due_at limit 1`
        if (next === undefined) return
        clock.set(next.at)
        await this.run({ id: next.subject as DeliveryId, name: '' })
      }
      throw new Error('they never end')
    },
    shown: () => channel.shown.map((message) => (JSON.parse(message.content) as { text: string }).text),
  }
}

describe('answers to several requests in one chat', () => {
  test.each<readonly [string, readonly Fault[]]>([
    ['before its first part', ['rate-limit']],
    ['between its parts', ['ok', 'rate-limit']],
    ['by a lost answer', ['ok', 'taken-lost']],
  ])('keep their order when the first is held up %s', async (_, faults) => {
    const b = await bench()
    const [first, second] = [await b.say('a', 3), await b.say('b', 2)]
    b.channel.faults = [...faults]
    await b.run(first)
    expect(await b.run(second)).toBe('in-order')
    expect((await partsOf(fresh.db.sql, second.id)).map((part) => part.state)).toEqual(['planned', 'planned'])
    await b.finish([first, second])
    expect(b.shown()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
  })

  test('keep it also when the later one is looked at first', async () => {
    const b = await bench()
    const said = [await b.say('a', 1), await b.say('b', 1), await b.say('c', 1)]
    for (const one of [...said].reverse()) await b.run(one)
    await b.finish(said)
    expect(b.shown()).toEqual(['a1', 'b1', 'c1'])
  })

  test('are not mixed when an earlier one goes on again while a later one is under way', async () => {
    const b = await bench()
    const [first, second] = [await b.say('a', 2), await b.say('b', 2)]
    await settleDelivery(fresh.db.sql, first.id, 'parked', b.clock.now())
    b.channel.faults = ['ok', 'rate-limit']
    await b.run(second)
    await fresh.db.sql`update collab.deliveries set settled_at = null, outcome = null where id = ${first.id}`
    expect(await b.run(first)).toBe('in-order')
    await b.finish([first, second])
    expect(b.shown()).toEqual(['b1', 'b2', 'a1', 'a2'])
  })

  test('do not wait for one that has stopped, nor for one that waits long for something', async () => {
    const b = await bench()
    const [stopped, waits, third] = [await b.say('a', 2), await b.say('b', 2), await b.say('c', 1)]
    b.channel.faults = ['bad-format']
    expect(await b.run(stopped)).toBe('failed')
    const { sql } = fresh.db
    await sql`update collab.wakes set due_at = ${b.clock.now() + 600_000} where subject = ${waits.id}`
    expect(await b.run(third)).not.toBe('in-order')
    await b.finish([third])
    expect(b.shown()).toEqual(['c1'])
  })

  test('do not wait for one whose parts are all in the chat and only not yet read back', async () => {
    const b = await bench()
    const [first, second] = [await b.say('a', 1), await b.say('b', 1)]
    b.channel.readBacks = [{ found: 'unknown', because: 'unavailable' }]
    expect(await b.run(first)).toBe('read-back-unavailable')
    expect(await b.run(second)).not.toBe('in-order')
    await b.finish([first, second])
    expect(b.shown()).toEqual(['a1', 'b1'])
  })

  test('hold up neither another topic of the chat nor what is no answer', async () => {
    const b = await bench()
    const first = await b.say('a', 3)
    const others = [
      await b.say('topic', 1, { threadId: 'omt_1' }),
      await b.say('control', 1, { causeKind: 'control' }),
      await b.say('notice', 1, { causeKind: 'notice' }),
    ]
    b.channel.faults = ['ok', 'rate-limit']
    await b.run(first)
    for (const one of others) expect(await b.run(one)).not.toBe('in-order')
    await b.finish([first, ...others])
    const shown = b.shown()
    expect(shown.filter((text) => text.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
    expect(others.every((one) => shown.includes(`${one.name}1`))).toBe(true)
  })
})

describe('a wait that the platform names', () => {
  test('for the chat holds its other answers, too, and no other chat', async () => {
    const [b, elsewhere] = [await bench(), await bench()]
    const [first, control] = [await b.say('a', 1), await b.say('c', 1, { causeKind: 'control' })]
    b.channel.faults = ['rate-limit']
    expect(await b.run(first)).toBe('rate-limit')
    expect(await b.run(control)).toBe('slot-0')
    expect(await elsewhere.run(await elsewhere.say('x', 1))).toBe('done')
    await b.finish([first, control])
    expect(b.channel.sendCalls).toHaveLength(3)
  })
})
