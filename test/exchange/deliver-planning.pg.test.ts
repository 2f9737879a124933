import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EventId } from '../../src/collab/refs.js'
import { deliver } from '../../src/exchange/deliver.js'
import { retryDelivery } from '../../src/exchange/retry.js'
import { deliveryOf, putDeliveries } from '../../src/stores/deliveries/deliveries.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bench as benchOf, finish, texts, type Bench } from './delivery-bench.js'
import { answer, heldRun } from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const last = { ...heldRun, lastAttempt: true }

/** A delivery that cannot be planned until `mend` is called: the renderer or the store of reports fails. */
async function unplannable(): Promise<Bench & { readonly mend: () => void }> {
  const messageId = `om_${crypto.randomUUID()}`
  const b = await benchOf(fresh.db, 'p1\n\np2', { endsReceipt: { messageId, chatId: 'oc_x', end: 'done' } })
  const { channel } = b
  const planned = channel.plan.bind(channel)
  channel.plan = () => Promise.reject(new Error('no room left for a report'))
  return { ...b, mend: () => void (channel.plan = planned) }
}

const noticesOf = (b: Bench) =>
  fresh.db.sql`select route ->> 'chatId' as chat, source -> 'notice' as notice from collab.deliveries
    where cause_id like ${`delivery-failed:${b.id}:%`}`

describe('a delivery that cannot be planned', () => {
  test('is tried again while tries are left, and nothing is said', async () => {
    const b = await unplannable()
    await expect(deliver(b.x, b.id, heldRun)).rejects.toThrow('no room left')
    expect(await deliveryOf(fresh.db.sql, b.id)).toMatchObject({ outcome: null, plannedAt: null })
    b.mend()
    expect(await finish(b)).toContain('verified: 2 of 2 parts arrived')
    expect(await noticesOf(b)).toEqual([])
  })

  test('ends as failed with the last try, and the place is told', async () => {
    const b = await unplannable()
    expect(await deliver(b.x, b.id, last)).toEqual({
      outcome: 'failed',
      because: 'failed: 0 of 0 parts arrived (planning)',
    })
    expect(await deliveryOf(fresh.db.sql, b.id)).toMatchObject({ outcome: 'failed' })
    expect(await noticesOf(b)).toEqual([
      { chat: b.chatId, notice: { kind: 'delivery-failed', arrived: 0, total: 0, reason: 'planning' } },
    ])
    expect(b.x.meter.counts.get('deliveries_total failed')).toBe(1)
  })

  test('is not ended by a stop of the process', async () => {
    const b = await unplannable()
    await expect(deliver(b.x, b.id, { ...last, signal: AbortSignal.abort() })).rejects.toThrow('no room left')
    expect(await deliveryOf(fresh.db.sql, b.id)).toMatchObject({ outcome: null })
  })

  test('run again by itself it stays as it ended; retried by the operator it is planned and arrives', async () => {
    const b = await unplannable()
    await deliver(b.x, b.id, last)
    b.mend()
    expect(await deliver(b.x, b.id, heldRun)).toMatchObject({ outcome: 'failed' })
    expect(texts(b)).toEqual([])
    const eventId = crypto.randomUUID() as EventId
    expect(await retryDelivery(b.x, { delivery: b.id, who: 'op', eventId })).toMatchObject({ outcome: 'put' })
    expect(await finish(b)).toContain('verified: 2 of 2 parts arrived')
    expect(texts(b)).toEqual(['p1', 'p2'])
  })

  test('a replayed job of it plans it', async () => {
    const b = await unplannable()
    await deliver(b.x, b.id, last)
    b.mend()
    expect(await deliver(b.x, b.id, { ...last, replayed: true })).toMatchObject({ outcome: 'done' })
    expect(texts(b)).toEqual(['p1', 'p2'])
  })

  test('the notice of a failure that cannot be planned either causes no further notice', async () => {
    const b = await unplannable()
    const base = await answer(fresh.db.sql, 'x')
    const notice = { kind: 'delivery-failed', arrived: 0, total: 1, reason: 'planning' } as const
    await putDeliveries(fresh.db.sql, [
      { ...base, causeKind: 'notice', source: { kind: 'notice', notice, language: 'en', endsReceipt: null } },
    ])
    expect(await deliver(b.x, base.id, last)).toMatchObject({ outcome: 'failed' })
    expect(await noticesOf({ ...b, id: base.id })).toEqual([])
  })
})
