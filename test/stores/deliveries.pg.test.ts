import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeliveryId } from '../../src/collab/refs.js'
import { deliveryOf, putDeliveries, settleDelivery } from '../../src/stores/deliveries/deliveries.js'
import {
  beginAttempt,
  closeLost,
  commitPlan,
  endAttempt,
  partKey,
  partsOf,
  putForms,
} from '../../src/stores/deliveries/parts.js'
import { answer, route } from '../exchange/outgoing-kit.js'
import { freshDb, type FreshDb } from '../kit/pg.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const t0 = 1_796_000_000_000
const planned = (text: string) => ({
  msgType: 'text' as const,
  content: JSON.stringify({ text }),
  bytes: text.length,
  plain: text,
  file: null,
  renderer: 'test-1',
})
const accepted = {
  state: 'accepted',
  because: null,
  notBefore: null,
  messageId: 'om_1',
  settledAt: null,
  counts: true,
  windowOpen: true,
} as const

async function plan(texts: readonly string[]): Promise<DeliveryId> {
  const delivery = await answer(fresh.db.sql, texts.join('\n\n'))
  await putDeliveries(fresh.db.sql, [delivery])
  await commitPlan(fresh.db.sql, delivery.id, texts.map(planned), t0)
  return delivery.id
}

describe('delivery rows', () => {
  test('several producers of one cause and route make one delivery', async () => {
    const first = await answer(fresh.db.sql, 'one')
    const others = Array.from({ length: 5 }, () => ({ ...first, id: randomUUID() as DeliveryId }))
    const elsewhere = { ...first, id: randomUUID() as DeliveryId, route: route('oc_elsewhere') }
    const puts = await Promise.all([first, ...others].map((row) => putDeliveries(fresh.db.sql, [row])))
    expect(puts.reduce((sum, ids) => sum + ids.size, 0)).toBe(1)
    expect(await putDeliveries(fresh.db.sql, [elsewhere])).toEqual(new Set([elsewhere.id]))
  })

  test('are read back as they were put', async () => {
    const delivery = await answer(fresh.db.sql, '一个 "quoted" answer')
    await putDeliveries(fresh.db.sql, [delivery])
    expect(await deliveryOf(fresh.db.sql, delivery.id)).toMatchObject({ ...delivery, plannedAt: null, outcome: null })
  })

  test('are planned once, whatever several runs want to plan', async () => {
    const delivery = await answer(fresh.db.sql, 'plan')
    await putDeliveries(fresh.db.sql, [delivery])
    const plans = await Promise.all(
      Array.from({ length: 6 }, (_, run) =>
        commitPlan(fresh.db.sql, delivery.id, [planned(`run ${run}`), planned('second')], t0),
      ),
    )
    expect(plans.filter(Boolean)).toHaveLength(1)
    const parts = await partsOf(fresh.db.sql, delivery.id)
    expect(parts.map((part) => part.plain)).toEqual([`run ${plans.indexOf(true)}`, 'second'])
  })

  test('keep the exact body that was planned, byte for byte', async () => {
    const body = '{"text":"a\\n\\tb 中 \u2028 👩‍👩‍👧 \\u0000"}'
    const delivery = await answer(fresh.db.sql, 'body')
    await putDeliveries(fresh.db.sql, [delivery])
    await commitPlan(fresh.db.sql, delivery.id, [{ ...planned('x'), content: body }], t0)
    expect((await partsOf(fresh.db.sql, delivery.id))[0]?.content).toBe(body)
  })

  test('end once', async () => {
    const id = await plan(['a'])
    const ends = await Promise.all([1, 2, 3].map((n) => settleDelivery(fresh.db.sql, id, 'verified', t0 + n)))
    expect(ends.filter(Boolean)).toHaveLength(1)
  })
})

describe('the key of a part', () => {
  test('differs by delivery, place, type and content, and not by anything else', () => {
    const id = (n: number) => `d${n}` as DeliveryId
    const at = (delivery: DeliveryId, index: number, subIndex = 0) => ({ delivery, index, subIndex })
    const keys = [
      partKey(at(id(1), 0), planned('a')),
      partKey(at(id(2), 0), planned('a')),
      partKey(at(id(1), 1), planned('a')),
      partKey(at(id(1), 0), planned('b')),
      partKey(at(id(1), 0), { ...planned('a'), msgType: 'post' }),
      partKey(at(id(1), 0, 1), planned('a')),
      partKey(at(id(1), 0, 2), planned('a')),
    ]
    expect(new Set(keys).size).toBe(keys.length)
    expect(partKey(at(id(1), 0), { ...planned('a'), renderer: 'test-2', bytes: 9 })).toBe(keys[0])
  })
})

describe('rows that stand for a refused one', () => {
  const own = (text: string) => ({ part: planned(text), key: null, uploadKey: null, detached: false })

  test('come in its place, in order, before what follows; and so do those that stand for them', async () => {
    const id = await plan(['a', 'b', 'c'])
    const { sql } = fresh.db
    await putForms(sql, { delivery: id, index: 1, subIndex: 0 }, [own('b1'), own('b2')])
    await putForms(sql, { delivery: id, index: 1, subIndex: 1 }, [own('b1x'), own('b1y')])
    const parts = await partsOf(sql, id)
    expect(parts.map((part) => part.plain)).toEqual(['a', 'b', 'b1', 'b1x', 'b1y', 'b2', 'c'])
    expect(parts.map((part) => `${part.index}.${part.subIndex}`)).toEqual([
      '0.0',
      '1.0',
      '1.1',
      '1.3',
      '1.4',
      '1.2',
      '2.0',
    ])
  })

  test('are different messages though they say the same', async () => {
    const id = await plan(['aa'])
    await putForms(fresh.db.sql, { delivery: id, index: 0, subIndex: 0 }, [own('a'), own('a')])
    expect(new Set((await partsOf(fresh.db.sql, id)).map((part) => part.key)).size).toBe(3)
  })

  test('keep what they are written from, and a key, an upload and an address that are given', async () => {
    const id = await plan(['a'])
    const source = { markdown: '**a** "q" \\ 中 👩‍👩‍👧' }
    const row = { part: { ...planned('a'), source }, key: 'k'.repeat(64), uploadKey: 'file_1', detached: true }
    await putForms(fresh.db.sql, { delivery: id, index: 0, subIndex: 0 }, [row])
    const [, kept] = await partsOf(fresh.db.sql, id)
    expect(kept).toMatchObject({
      source,
      key: row.key,
      uploadKey: 'file_1',
      detached: true,
      replaces: 0,
      state: 'planned',
    })
  })
})

describe('calls', () => {
  test('only one run of many begins the call of a part', async () => {
    const id = await plan(['a'])
    const part = { delivery: id, index: 0, subIndex: 0 }
    const begun = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        beginAttempt(fresh.db.sql, part, { id: randomUUID(), by: `run ${n}`, now: t0 }),
      ),
    )
    expect(begun.filter(Boolean)).toHaveLength(1)
    expect((await partsOf(fresh.db.sql, id))[0]).toMatchObject({ state: 'sending', firstCallAt: t0 })
  })

  test('a call that was closed as lost refuses its late answer', async () => {
    const id = await plan(['a'])
    const part = { delivery: id, index: 0, subIndex: 0 }
    const attempt = randomUUID()
    await beginAttempt(fresh.db.sql, part, { id: attempt, by: 'a', now: t0 })
    expect(await closeLost(fresh.db.sql, id, t0 + 90_000)).toBe(1)
    const end = { id: attempt, outcome: 'taken', code: null, detail: null, now: t0 + 91_000 } as const
    expect(await endAttempt(fresh.db.sql, part, end, accepted)).toBe(false)
    const [row] = await partsOf(fresh.db.sql, id)
    expect(row).toMatchObject({ state: 'ambiguous', because: 'no-answer', messageId: null, attempts: 1 })
    expect(row?.history).toEqual([{ startedAt: t0, endedAt: t0 + 90_000, outcome: 'ambiguous' }])
  })
})
