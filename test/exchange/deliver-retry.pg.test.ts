import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PartToSend } from '../../src/collab/channel.js'
import type { DeliveryId } from '../../src/collab/refs.js'
import { deliver } from '../../src/exchange/deliver.js'
import { retryDelivery } from '../../src/exchange/retry.js'
import { partsOf } from '../../src/stores/deliveries/parts.js'
import { findDelivery } from '../../src/stores/views/deliveries.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { overtaken } from './between.js'
import { bench as benchOf, finish, states, texts, type Bench } from './delivery-bench.js'
import { heldRun } from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const bench = (text: string) => benchOf(fresh.db, text)

describe('an operator', () => {
  const event = () => crypto.randomUUID() as Parameters<typeof retryDelivery>[1]['eventId']

  async function parked(): Promise<Bench> {
    const b = await bench('p1\n\np2')
    b.channel.faults = ['lost']
    await deliver(b.x, b.id, heldRun)
    b.clock.add(55 * 60_000)
    b.channel.lookUps = [{ looked: 'incomplete', because: 'not-permitted' }]
    await finish(b)
    return b
  }

  test('retrying what is delivered changes nothing', async () => {
    const b = await bench('p1')
    await finish(b)
    expect(await retryDelivery(b.x, { delivery: b.id, who: 'op', eventId: event() })).toEqual({
      outcome: 'already-delivered',
    })
  })

  test('a replayed job of a failed delivery sends the failed part and those after it; a parked one is looked up first', async () => {
    const failed = await bench('p1\n\np2\n\np3')
    failed.channel.faults = ['ok', 'target-gone']
    await finish(failed)
    // Run again by itself, as after a crash, it tries nothing.
    expect(await deliver(failed.x, failed.id, heldRun)).toMatchObject({ outcome: 'failed' })
    expect(await deliver(failed.x, failed.id, { ...heldRun, replayed: true })).toMatchObject({ outcome: 'done' })
    expect(texts(failed)).toEqual(['p1', 'p2', 'p3'])
    const b = await parked()
    expect(await deliver(b.x, b.id, { ...heldRun, replayed: true })).toMatchObject({ outcome: 'done' })
    expect(texts(b)).toEqual(['p1', 'p2'])
  })

  test('retrying a failed delivery sends the failed part and those after it', async () => {
    const b = await bench('p1\n\np2\n\np3')
    b.channel.faults = ['ok', 'target-gone']
    await finish(b)
    expect(await retryDelivery(b.x, { delivery: b.id, who: 'op', eventId: event() })).toMatchObject({ outcome: 'put' })
    expect(await finish(b)).toContain('verified: 3 of 3 parts arrived')
    expect(texts(b)).toEqual(['p1', 'p2', 'p3'])
  })

  test('a retry at any moment of a run that fails: what is sent after it is what the delivery says', async () => {
    let taken = 0
    for (let at = 0; at < 40; at++) {
      const b = await bench('p1')
      b.channel.faults = ['target-gone']
      let put = false
      const db = overtaken(b.x.db, at, async () => {
        put = (await retryDelivery(b.x, { delivery: b.id, who: 'op', eventId: event() })).outcome === 'put'
      })
      await deliver({ ...b.x, db }, b.id, heldRun)
      await finish(b)
      const shown = texts(b).length
      const [row] = await fresh.db.sql<{ outcome: string }[]>`select outcome from collab.deliveries where id = ${b.id}`
      expect([at, row?.outcome, await states(b)]).toEqual(
        shown === 1 ? [at, 'verified', ['verified']] : [at, 'failed', ['failed target-gone']],
      )
      if (put) taken += shown
    }
    expect(taken).toBeGreaterThan(0)
  })

  test('without a decision a parked part is looked up again before anything is sent', async () => {
    const b = await parked()
    await retryDelivery(b.x, { delivery: b.id, who: 'op', eventId: event() })
    b.channel.lookUps = [{ looked: 'incomplete', because: 'not-permitted' }]
    expect(await finish(b)).toContain('parked: 0 of 2 parts arrived')
    expect(b.channel.sendCalls).toHaveLength(1)
  })

  test('`present` stands for the look: the later parts follow', async () => {
    const b = await parked()
    await retryDelivery(b.x, { delivery: b.id, decision: 'present', who: 'op', eventId: event() })
    expect(await finish(b)).toContain('accepted: 2 of 2 parts arrived')
    expect(texts(b)).toEqual(['p2'])
  })

  test('`absent-send` sends the part once more, and the same command again does not', async () => {
    const b = await parked()
    const command = { delivery: b.id, decision: 'absent-send', who: 'op', eventId: event() } as const
    await retryDelivery(b.x, command)
    expect(await retryDelivery(b.x, command)).toMatchObject({ outcome: 'put' })
    expect(await finish(b)).toContain('verified: 2 of 2 parts arrived')
    expect(texts(b)).toEqual(['p1', 'p2'])
    const lines = await fresh.db.sql`select who, act from collab.audit_lines where subject = ${b.id}`
    expect(lines).toEqual([{ who: 'op', act: 'delivery absent-send' }])
  })

  test('`give-up` ends the delivery as failed', async () => {
    const b = await parked()
    await retryDelivery(b.x, { delivery: b.id, decision: 'give-up', who: 'op', eventId: event() })
    expect(await finish(b)).toContain('failed: 0 of 2 parts arrived')
    expect(await states(b)).toEqual(['failed given-up', 'planned'])
  })

  test('a message that was seen is named, read back and kept; who said so and when is shown', async () => {
    const b = await parked()
    // It did arrive, and its answer was lost.
    const sent = b.channel.sendCalls[0]
    const reply = await b.channel.send({ ...(sent as PartToSend), uuid: null })
    const messageId = reply.reply === 'taken' ? reply.messageId : ''
    const command = { delivery: b.id, decision: 'present', messageId, who: 'operator 1', eventId: event() } as const
    expect(
      await retryDelivery(b.x, { ...command, messageId: 'om_other', eventId: event(), decision: 'give-up' }),
    ).toEqual({
      outcome: 'refused',
      reason: 'message-without-part',
    })
    expect(await retryDelivery(b.x, command)).toMatchObject({ outcome: 'put' })
    expect(await finish(b)).toContain('verified: 2 of 2 parts arrived')
    expect((await partsOf(fresh.db.sql, b.id))[0]).toMatchObject({ state: 'verified', messageId })
    expect(texts(b)).toEqual(['p1', 'p2'])
    expect((await findDelivery(fresh.db.sql, b.id))?.acts).toEqual([
      { at: expect.any(Number) as number, who: 'operator 1', act: `delivery present as ${messageId}` },
    ])
    const other = await parked()
    const taken = { ...command, delivery: other.id, eventId: event() }
    expect(await retryDelivery(other.x, taken)).toEqual({ outcome: 'refused', reason: 'message-of-another-part' })
  })

  test('what does not exist or is not parked is refused with its reason', async () => {
    const b = await bench('p1')
    const unknown = crypto.randomUUID() as DeliveryId
    const ask = (command: object) => retryDelivery(b.x, { delivery: b.id, who: 'op', eventId: event(), ...command })
    expect(await ask({ delivery: unknown })).toEqual({ outcome: 'refused', reason: 'delivery-unknown' })
    expect(await ask({ part: { index: 7, subIndex: 0 } })).toEqual({ outcome: 'refused', reason: 'part-unknown' })
    expect(await ask({ decision: 'present' })).toEqual({ outcome: 'refused', reason: 'not-parked' })
  })
})
