import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeliveryId } from '../../src/collab/refs.js'
import { deliver } from '../../src/exchange/deliver.js'
import { retryDelivery } from '../../src/exchange/retry.js'
import { deliveryOf, putDeliveries } from '../../src/stores/deliveries/deliveries.js'
import { partsOf } from '../../src/stores/deliveries/parts.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bench as benchOf, finish, states, texts, type Bench } from './delivery-bench.js'
import { answer, bot, day, FakeChannel, heldRun, TestClock, testExchange } from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const bench = (text: string, options: Parameters<typeof benchOf>[2] = {}) => benchOf(fresh.db, text, options)

/** What was said of a delivery beside it, its place before its owner. */
const noticesOf = (b: Bench) => fresh.db.sql<{ chat: string; notice: object }[]>`
  select route ->> 'chatId' as chat, source -> 'notice' as notice from collab.deliveries
  where cause_kind = 'notice' and cause_id like ${`%:${b.id}:%`} order by route ->> 'chatId' = 'oc_owner'`

beforeAll(async () => {
  await fresh.db.sql`
    insert into collab.principals (bot, open_id, role, direct_chat, bound_at)
    values (${bot}, 'ou_test_owner', 'owner', 'oc_owner', 1)`
})

describe('one delivery', () => {
  test('parts arrive in order and are verified', async () => {
    const b = await bench('p1\n\np2\n\np3')
    expect(await finish(b)).toContain('verified: 3 of 3 parts arrived')
    expect(texts(b)).toEqual(['p1', 'p2', 'p3'])
    expect(await states(b)).toEqual(['verified', 'verified', 'verified'])
    expect(b.x.meter.counts.get('deliveries_total verified')).toBe(1)
    expect(b.x.meter.seen.map((seen) => seen.name)).toEqual(['result_to_verified_seconds'])
  })

  test('replayed after its end it sends nothing and says so', async () => {
    const b = await bench('once')
    await finish(b)
    expect(await deliver(b.x, b.id, heldRun)).toEqual({ outcome: 'done', note: 'already delivered' })
    expect(b.channel.sendCalls).toHaveLength(1)
  })

  test('two equal paragraphs are two messages', async () => {
    const b = await bench('same\n\nsame')
    await finish(b)
    expect(texts(b)).toEqual(['same', 'same'])
    expect(new Set(b.channel.sendCalls.map((call) => call.uuid)).size).toBe(2)
  })

  test('a lost answer is asked for again with the same uuid', async () => {
    const b = await bench('p1\n\np2')
    b.channel.faults = ['taken-lost']
    expect(await finish(b)).toContain('verified: 2 of 2 parts arrived')
    expect(texts(b)).toEqual(['p1', 'p2'])
    expect(b.channel.sendCalls[0]?.uuid).toBe(b.channel.sendCalls[1]?.uuid)
  })

  test('after 50 minutes a lost answer is looked for, never asked for again', async () => {
    const b = await bench('p1')
    b.channel.faults = ['taken-lost']
    await deliver(b.x, b.id, heldRun)
    b.clock.add(55 * 60_000)
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    expect(b.channel.sendCalls).toHaveLength(1)
    expect(texts(b)).toEqual(['p1'])
  })

  test('after a proved absence the message goes out with a uuid of its own', async () => {
    const b = await bench('p1')
    b.channel.faults = ['lost']
    await deliver(b.x, b.id, heldRun)
    b.clock.add(55 * 60_000)
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    expect(texts(b)).toEqual(['p1'])
    expect(b.channel.sendCalls[0]?.uuid).not.toBe(b.channel.sendCalls[1]?.uuid)
  })

  test('a look that may not read the chat parks the part and sends nothing', async () => {
    const b = await bench('p1\n\np2')
    b.channel.faults = ['lost']
    await deliver(b.x, b.id, heldRun)
    b.clock.add(55 * 60_000)
    b.channel.lookUps = [{ looked: 'incomplete', because: 'not-permitted' }]
    expect(await finish(b)).toContain('parked: 0 of 2 parts arrived')
    expect(await states(b)).toEqual(['parked look-up-not-permitted', 'planned'])
    expect(b.channel.sendCalls).toHaveLength(1)
  })

  test('a look that fails for want of connection is repeated for an hour, then parks', async () => {
    const b = await bench('p1')
    b.channel.faults = ['lost']
    await deliver(b.x, b.id, heldRun)
    b.clock.add(55 * 60_000)
    const start = b.clock.now()
    b.channel.lookUps = Array.from({ length: 50 }, () => ({ looked: 'incomplete', because: 'unavailable' }) as const)
    expect(await finish(b)).toContain('parked: 0 of 1 parts arrived')
    expect(b.clock.now() - start).toBeGreaterThan(50 * 60_000)
    expect(b.clock.now() - start).toBeLessThan(80 * 60_000)
    expect(b.channel.sendCalls).toHaveLength(1)
  })

  test('one look that fails after a day away is tried again, and finds what arrived', async () => {
    const b = await bench('p1')
    b.channel.faults = ['taken-lost']
    await deliver(b.x, b.id, heldRun)
    b.clock.add(24 * 60 * 60_000)
    const messageId = b.channel.shown[0]?.messageId ?? ''
    const failed = { looked: 'incomplete', because: 'unavailable' } as const
    b.channel.lookUps = [failed, failed, { looked: 'found', messageId }]
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    expect(b.channel.shown).toHaveLength(1)
  })

  test('looks that go on failing after a day away park the part within minutes', async () => {
    const b = await bench('p1')
    b.channel.faults = ['taken-lost']
    await deliver(b.x, b.id, heldRun)
    b.clock.add(24 * 60 * 60_000)
    const start = b.clock.now()
    b.channel.lookUps = Array.from({ length: 50 }, () => ({ looked: 'incomplete', because: 'unavailable' }) as const)
    expect(await finish(b)).toContain('parked: 0 of 1 parts arrived')
    expect(await states(b)).toEqual(['parked look-up-unavailable'])
    expect(b.clock.now() - start).toBeLessThan(15 * 60_000)
    expect(b.channel.shown).toHaveLength(1)
  })

  test('a message found in the chat that is another part does not stand for this one', async () => {
    const b = await bench('same\n\nsame')
    b.channel.faults = ['ok', 'lost']
    await deliver(b.x, b.id, heldRun)
    b.clock.add(55 * 60_000)
    b.channel.lookUps = [{ looked: 'found', messageId: b.channel.shown[0]?.messageId ?? '' }]
    expect(await finish(b)).toContain('parked: 1 of 2 parts arrived')
  })

  test('a wait that the platform names is kept on the part and costs no attempt', async () => {
    const b = await bench('p1')
    b.channel.faults = ['rate-limit', 'channel-down']
    const first = await deliver(b.x, b.id, heldRun)
    expect(first).toMatchObject({ outcome: 'later', because: 'rate-limit' })
    const [waiting] = await partsOf(fresh.db.sql, b.id)
    expect(waiting).toMatchObject({ state: 'planned', attempts: 0, firstCallAt: null })
    expect(waiting?.notBefore).toBeGreaterThanOrEqual(b.clock.now() + 3_000)
    // A run that comes too early changes nothing.
    expect(await deliver(b.x, b.id, heldRun)).toEqual(first)
    expect(b.channel.sendCalls).toHaveLength(1)
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    expect((await partsOf(fresh.db.sql, b.id))[0]?.attempts).toBe(1)
  })

  test('a bot that cannot send for hours gives nothing up', async () => {
    const b = await bench('p1')
    b.channel.faults = Array.from({ length: 40 }, () => 'channel-down' as const)
    await deliver(b.x, b.id, heldRun)
    b.clock.add(3 * 3_600_000)
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    expect(texts(b)).toEqual(['p1'])
  })

  test('a refused part stops the later ones and says how many arrived', async () => {
    const b = await bench('p1\n\np2\n\np3')
    b.channel.faults = ['ok', 'bad-format']
    expect(await finish(b)).toContain('failed: 1 of 3 parts arrived')
    expect(texts(b)).toEqual(['p1'])
    expect(await states(b)).toEqual(['verified', 'failed bad-format', 'planned'])
  })

  test('a refusal after a lost answer does not hide that the message arrived', async () => {
    const b = await bench('p1')
    b.channel.faults = ['taken-lost', 'target-gone']
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    expect(texts(b)).toEqual(['p1'])
  })

  test('a failure reaches the owner through their direct chat, once', async () => {
    const b = await bench('p1')
    b.channel.faults = ['target-gone']
    await finish(b)
    const kicked = b.x.kicked.filter((wake) => wake.kind === 'deliver')
    expect(kicked).toHaveLength(1)
    const notice = await deliveryOf(fresh.db.sql, kicked[0]?.subject as DeliveryId)
    expect(notice?.route.chatId).toBe('oc_owner')
    expect(notice?.source).toMatchObject({
      notice: { kind: 'delivery-failed', arrived: 0, total: 1, reason: 'target-gone' },
    })
    b.channel.faults = ['target-gone']
    await retryDelivery(b.x, { delivery: b.id, who: 'op', eventId: crypto.randomUUID() as never })
    await finish(b)
    expect(b.x.kicked.filter((wake) => wake.kind === 'deliver' && wake.subject !== b.id)).toHaveLength(1)
  })

  test('what the platform refuses to show is told in its place in neutral words, and takes no second route', async () => {
    const b = await bench('a text that the audit refuses')
    b.channel.faults = ['content-audit']
    await finish(b)
    expect(b.channel.sendCalls).toHaveLength(1)
    const notices = await noticesOf(b)
    expect(notices).toEqual([
      { chat: b.chatId, notice: { kind: 'answer-withheld' } },
      { chat: 'oc_owner', notice: { kind: 'answer-withheld-owner', arrived: 0, total: 1, page: null } },
    ])
    expect(JSON.stringify(notices)).not.toContain('a text that')
  })

  test('a part that is parked is told to the owner alone, once, with which one it is', async () => {
    const b = await bench('p1\n\np2')
    b.channel.faults = ['ok', 'lost']
    const parkIt = async () => {
      b.channel.lookUps = [{ looked: 'incomplete', because: 'not-permitted' }]
      expect(await finish(b)).toContain('parked: 1 of 2 parts arrived')
    }
    await deliver(b.x, b.id, heldRun)
    b.clock.add(55 * 60_000)
    await parkIt()
    const notice = { kind: 'delivery-parked', part: 2, arrived: 1, total: 2, page: null }
    expect(await noticesOf(b)).toEqual([{ chat: 'oc_owner', notice }])
    await retryDelivery(b.x, { delivery: b.id, who: 'op', eventId: crypto.randomUUID() as never })
    await parkIt()
    expect(await noticesOf(b)).toHaveLength(1)
  })

  test('in the direct chat of the owner there is one notice, with all of it', async () => {
    const b = await bench('p1', { chatId: 'oc_owner', route: { chatType: 'p2p' } })
    b.channel.faults = ['content-audit']
    await finish(b)
    expect((await noticesOf(b)).map(({ notice }) => notice)).toMatchObject([{ kind: 'answer-withheld-owner' }])
  })

  test('of a notice about a delivery no notice is made', async () => {
    const b = await bench('p1')
    b.channel.faults = ['content-audit']
    await finish(b)
    const [first] = b.x.kicked
    b.channel.faults = ['content-audit']
    const before = b.x.kicked.length
    await deliver(b.x, first?.subject as DeliveryId, heldRun)
    expect(b.x.kicked).toHaveLength(before)
  })

  test('without the right to read, a part is accepted and the later ones follow', async () => {
    const b = await bench('p1\n\np2')
    b.channel.readBacks = [{ found: 'unknown', because: 'not-permitted' }]
    expect(await finish(b)).toContain('accepted: 2 of 2 parts arrived')
    expect(await states(b)).toEqual(['accepted read-back-not-permitted', 'verified'])
  })

  test('a read-back without connection holds nothing up and ends as accepted after an hour', async () => {
    const b = await bench('p1\n\np2')
    b.channel.readBacks = [{ found: 'unknown', because: 'unavailable' }]
    await deliver(b.x, b.id, heldRun)
    expect(texts(b)).toEqual(['p1', 'p2'])
    b.channel.readBacks = Array.from({ length: 50 }, () => ({ found: 'unknown', because: 'unavailable' }) as const)
    expect(await finish(b)).toContain('accepted: 2 of 2 parts arrived')
    expect(await states(b)).toEqual(['accepted read-back-unavailable', 'verified'])
  })

  test('a file is uploaded once, and its key is used again when the send is repeated', async () => {
    const file = { digest: 'd'.repeat(64), fileName: '报告.md', mediaType: 'text/markdown', size: 10 }
    const b = await bench('see the file', { files: [file] })
    b.channel.faults = ['ok', 'taken-lost', 'being-sent']
    expect(await finish(b)).toContain('verified: 2 of 2 parts arrived')
    expect(b.channel.uploads).toBe(1)
    expect(b.channel.shown.at(-1)?.content).toBe('{"file_key":"file_1"}')
    expect(b.channel.shown).toHaveLength(2)
  })

  test('a text that was erased fails visibly', async () => {
    const b = await bench('to be erased')
    await fresh.db.sql`update collab.texts set body = null where body = 'to be erased'`
    expect(await finish(b)).toContain('failed: 0 of 0 parts arrived')
  })

  test('a run that lost its hold stops before the next call', async () => {
    const b = await bench('p1\n\np2')
    let asked = 0
    const run = { signal: heldRun.signal, stillHeld: async () => ++asked <= 2 }
    expect(await deliver(b.x, b.id, run)).toEqual({ outcome: 'done', note: 'taken over by another run' })
    expect(texts(b)).toEqual(['p1'])
    expect(await finish(b)).toContain('verified: 2 of 2 parts arrived')
  })

  test('a stopping process records the step in flight and leaves the rest', async () => {
    const b = await bench('p1\n\np2')
    const stop = new AbortController()
    b.channel.beforeSend = async () => stop.abort()
    expect(await deliver(b.x, b.id, { ...heldRun, signal: stop.signal })).toMatchObject({ because: 'stopping' })
    expect(await states(b)).toEqual(['accepted', 'planned'])
  })

  test('a run that is held up until the window of its uuid has closed does not call with it any more, and looks', async () => {
    const b = await bench('p1')
    b.channel.faults = ['taken-lost']
    const first = await deliver(b.x, b.id, heldRun)
    if (first.outcome !== 'later') throw new Error(`the first call ended as ${first.outcome}`)
    b.clock.set(first.at)
    let heldUp = false
    const newId = () => {
      // The last thing before the call is written down.
      if (!heldUp) b.clock.add(61 * 60_000)
      heldUp = true
      return b.x.newId()
    }
    await deliver({ ...b.x, newId }, b.id, heldRun)
    expect(heldUp).toBe(true)
    await finish(b)
    expect(await states(b)).toEqual(['verified'])
    expect(b.channel.sendCalls).toHaveLength(1)
    expect(texts(b)).toEqual(['p1'])
  })

  test('the answer of a run that was taken over is refused', async () => {
    const b = await bench('p1')
    let letGo = (): void => {}
    const blocked = new Promise<void>((resolve) => (letGo = resolve))
    let reached = (): void => {}
    const waiting = new Promise<void>((resolve) => (reached = resolve))
    b.channel.beforeSend = () => {
      b.channel.beforeSend = null
      reached()
      return blocked
    }
    const stalled = deliver(b.x, b.id, heldRun)
    await waiting
    b.clock.add(90_000)
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    letGo()
    expect(await stalled).toEqual({ outcome: 'done', note: 'taken over by another run' })
    expect(texts(b)).toEqual(['p1'])
    expect(await states(b)).toEqual(['verified'])
  })
})

describe('twenty answers at once into one chat', () => {
  test('are all delivered once, under the limit of the chat, while no run waits in place', async () => {
    const clock = new TestClock(day + 86_400_000)
    const channel = new FakeChannel(clock)
    const x = testExchange(fresh.db, clock, channel)
    const rows = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        answer(fresh.db.sql, `answer ${n}, first\n\nanswer ${n}, second`, { chatId: 'oc_busy' }),
      ),
    )
    await putDeliveries(fresh.db.sql, rows)
    channel.faults = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? 'rate-limit' : 'ok'))
    const due = new Map(rows.map((row) => [row.id, clock.now()]))
    while (due.size > 0) {
      const [id, at] = [...due].reduce((a, b) => (b[1] < a[1] ? b : a))
      clock.set(at)
      const outcome = await deliver(x, id, heldRun)
      if (outcome.outcome === 'later') due.set(id, outcome.at)
      else due.delete(id)
    }
    const shown = channel.shown.map((message) => (JSON.parse(message.content) as { text: string }).text)
    expect([...shown].sort()).toEqual(rows.flatMap((_, n) => [`answer ${n}, first`, `answer ${n}, second`]).sort())
    for (let n = 0; n < 20; n++) {
      expect(shown.indexOf(`answer ${n}, first`)).toBeLessThan(shown.indexOf(`answer ${n}, second`))
    }
    const times = channel.sendCalls.map((call) => call.at).sort((a, b) => a - b)
    times.forEach((time, index) => expect((times[index + 5] ?? Infinity) - time).toBeGreaterThanOrEqual(1_000))
  })
})
