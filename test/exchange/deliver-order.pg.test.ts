import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CauseKind, NewDelivery } from '../../src/collab/delivery.js'
import type { DeliveryId, RequestId } from '../../src/collab/refs.js'
import { deliver } from '../../src/exchange/deliver.js'
import { putDeliveries } from '../../src/stores/deliveries/deliveries.js'
import { claimWake, putWake, releaseWake, settleWake } from '../../src/stores/wakes/wakes.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import {
  answer,
  day,
  FakeChannel,
  heldRun,
  testExchange,
  TestClock,
  type Fault,
  type TestExchange,
} from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

interface Line {
  readonly x: TestExchange
  readonly clock: TestClock
  readonly channel: FakeChannel
  readonly ids: readonly DeliveryId[]
}

/** Answers to one request in one chat, committed one after the other. */
async function answers(
  texts: readonly string[],
  over: readonly Partial<Pick<NewDelivery, 'causeKind' | 'route'>>[] = [],
): Promise<Line> {
  const clock = new TestClock()
  const channel = new FakeChannel(clock)
  const request = randomUUID() as RequestId
  const chatId = `oc_${request}`
  const ids: DeliveryId[] = []
  for (const [n, text] of texts.entries()) {
    const put = { ...(await answer(fresh.db.sql, text, { chatId, at: day + n })), request, ...over[n] }
    await putDeliveries(fresh.db.sql, [put])
    ids.push(put.id)
  }
  return { x: testExchange(fresh.db, clock, channel, { pacing: false }), clock, channel, ids }
}

const shown = ({ channel }: Line) => channel.shown.map(({ content }) => (JSON.parse(content) as { text: string }).text)
const run = (line: Line, n: number) => deliver(line.x, line.ids[n] as DeliveryId, heldRun)
const wakesOf = ({ x }: Line, id: DeliveryId | undefined) =>
  x.kicked.filter(({ kind, subject }) => kind === 'deliver' && subject === id).length

describe('answers to one request', () => {
  test('a later one waits until the earlier one has arrived, and is woken then', async () => {
    const line = await answers(['first', 'second'])
    expect(await run(line, 1)).toMatchObject({ outcome: 'later', because: 'earlier-answer' })
    expect(shown(line)).toEqual([])
    expect(await run(line, 0)).toMatchObject({ outcome: 'done' })
    expect(wakesOf(line, line.ids[1])).toBe(1)
    expect(await run(line, 1)).toMatchObject({ outcome: 'done' })
    expect(shown(line)).toEqual(['first', 'second'])
    // An old job that comes once more does no harm.
    for (const n of [1, 0, 1]) expect(await run(line, n)).toEqual({ outcome: 'done', note: 'already delivered' })
    expect(shown(line)).toEqual(['first', 'second'])
  })

  test('one that waits only for its read-back is in the chat, and the next one goes', async () => {
    const line = await answers(['first', 'second'])
    line.channel.readBacks = [{ found: 'unknown', because: 'unavailable' }]
    expect(await run(line, 0)).toMatchObject({ outcome: 'later', because: 'read-back-unavailable' })
    expect(wakesOf(line, line.ids[1])).toBe(1)
    expect(await run(line, 1)).toMatchObject({ outcome: 'done' })
    expect(shown(line)).toEqual(['first', 'second'])
  })

  test('one that failed for good holds nothing back', async () => {
    const line = await answers(['first', 'second'])
    line.channel.faults = ['target-gone']
    expect(await run(line, 0)).toMatchObject({ outcome: 'failed' })
    expect(wakesOf(line, line.ids[1])).toBe(1)
    expect(await run(line, 1)).toMatchObject({ outcome: 'done' })
    expect(shown(line)).toEqual(['second'])
  })

  test('one of unknown outcome holds the later ones back until it is parked', async () => {
    const line = await answers(['first', 'second'])
    line.channel.faults = ['lost']
    expect(await run(line, 0)).toMatchObject({ outcome: 'later' })
    expect(await run(line, 1)).toMatchObject({ outcome: 'later', because: 'earlier-answer' })
    line.clock.add(55 * 60_000)
    line.channel.lookUps = [{ looked: 'incomplete', because: 'not-permitted' }]
    expect(await run(line, 0)).toMatchObject({ outcome: 'failed' })
    expect(await run(line, 1)).toMatchObject({ outcome: 'done' })
    expect(shown(line)).toEqual(['second'])
  })

  test('an interim answer has its place in the order, a notice has none', async () => {
    const line = await answers(['asked around', 'told', 'done'], [{ causeKind: 'interim' }, { causeKind: 'notice' }])
    expect(await run(line, 2)).toMatchObject({ outcome: 'later' })
    expect(await run(line, 1)).toMatchObject({ outcome: 'done' })
    expect(await run(line, 0)).toMatchObject({ outcome: 'done' })
    expect(await run(line, 2)).toMatchObject({ outcome: 'done' })
    expect(shown(line)).toEqual(['told', 'asked around', 'done'])
  })

  test('another place and another request wait for nobody', async () => {
    const elsewhere = (await answer(fresh.db.sql, 'x')).route
    const line = await answers(['here', 'there'], [{}, { route: elsewhere }])
    expect(await run(line, 1)).toMatchObject({ outcome: 'done' })
    expect(await run(await answers(['alone']), 0)).toMatchObject({ outcome: 'done' })
  })

  test('whatever order the jobs run in and whatever the platform does, each is shown once and in order', async () => {
    const faults = fc.array(fc.constantFrom<Fault>('ok', 'lost', 'taken-lost', 'rate-limit', 'channel-down'), {
      maxLength: 6,
    })
    const kinds = fc.constantFrom<CauseKind>('result', 'interim')
    await fc.assert(
      fc.asyncProperty(
        fc.array(kinds, { minLength: 2, maxLength: 4 }),
        fc.array(fc.nat(3), { maxLength: 12 }),
        faults,
        async (causes, jobs, does) => {
          const texts = causes.map((_, n) => `text ${n}`)
          const line = await answers(
            texts,
            causes.map((causeKind) => ({ causeKind })),
          )
          line.channel.faults = [...does]
          for (const job of jobs) {
            await run(line, job % texts.length)
            line.clock.add(2_000)
          }
          for (let round = 0; round < 40 && shown(line).length < texts.length; round++) {
            for (let n = texts.length - 1; n >= 0; n--) await run(line, n)
            line.clock.add(5_000)
          }
          expect(shown(line)).toEqual(texts)
        },
      ),
      { numRuns: 60 },
    )
  }, 60_000)
})

describe('a wake that comes while its subject is held', () => {
  const subject = () => `order-${randomUUID()}`
  let sql: FreshDb['db']['sql']
  beforeAll(() => {
    sql = fresh.db.sql
  })

  test('gets a job of its own when the holder ends, since its first one may have found the subject held', async () => {
    const id = subject()
    await putWake(sql, 'deliver', id, day)
    const claim = await claimWake(sql, 'deliver', id, 'a', day, 1_000)
    if (!claim.claimed) throw new Error('free')
    const during = await putWake(sql, 'deliver', id, day)
    const next = await settleWake(sql, 'deliver', id, claim, day)
    expect(next?.generation).toBeGreaterThan(during.generation)
    expect(await claimWake(sql, 'deliver', id, 'b', day, 1_000)).toMatchObject({ claimed: true })
  })

  test('is due at its own time when the holder wanted to wait longer', async () => {
    const id = subject()
    await putWake(sql, 'deliver', id, day)
    const claim = await claimWake(sql, 'deliver', id, 'a', day, 1_000)
    if (!claim.claimed) throw new Error('free')
    const during = await putWake(sql, 'deliver', id, day + 5)
    const next = await releaseWake(sql, 'deliver', id, claim, day + 60_000, 'earlier-answer')
    expect(next?.generation).toBeGreaterThan(during.generation)
    const rows = await sql`select due_at as due, state from collab.wakes where subject = ${id}`
    expect(rows).toEqual([{ due: day + 5, state: 'pending' }])
  })

  test('and nothing came: the holder waits as it said, and no job is put', async () => {
    const id = subject()
    await putWake(sql, 'deliver', id, day)
    const claim = await claimWake(sql, 'deliver', id, 'a', day, 1_000)
    if (!claim.claimed) throw new Error('free')
    expect(await releaseWake(sql, 'deliver', id, claim, day + 60_000, 'wait')).toBeNull()
    const rows = await sql`select due_at as due from collab.wakes where subject = ${id}`
    expect(rows).toEqual([{ due: day + 60_000 }])
  })
})
