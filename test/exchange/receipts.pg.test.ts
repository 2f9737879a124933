import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExchangeSettings } from '../../src/exchange/deps.js'
import { deliver } from '../../src/exchange/deliver.js'
import { placeReceipt } from '../../src/exchange/receipts.js'
import { putDeliveries } from '../../src/stores/deliveries/deliveries.js'
import { owedReactions, prepareReaction, reactionOf } from '../../src/stores/deliveries/reactions.js'
import { takeSlot, apiPace } from '../../src/stores/pacing/pacing.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bench as benchOf, settleAll, standing, type Bench } from './receipt-bench.js'
import { answer, bot, heldRun, testExchange } from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const bench = (settings: Partial<ExchangeSettings> = {}) => benchOf(fresh.db, settings)

describe('a receipt', () => {
  test('is placed, its id kept and its time measured from the acceptance of the event', async () => {
    const b = await bench()
    b.clock.add(120)
    await b.place()
    expect(standing(b)).toEqual(['Get'])
    const row = await reactionOf(fresh.db.sql, b.receipt.id)
    expect(row).toMatchObject({ state: 'placed', reactionId: [...b.channel.reactions.keys()][0] })
    expect(b.x.meter.seen).toEqual([{ name: 'ingress_receipt_seconds', seconds: 0.12 }])
  })

  test.each(['message-gone', 'unknown-emoji'] as const)('that is refused as %s is not tried again', async (because) => {
    const b = await bench()
    b.channel.reacts = [{ reaction: 'refused', because, code: 231001 }]
    await b.place()
    expect(await b.rows()).toEqual({ received: 'refused' })
    expect(await settleAll(b)).toBe('refused')
    expect(b.channel.reactCalls).toBe(1)
  })

  test('whose answer was lost is looked up, and not placed a second time', async () => {
    const b = await bench()
    b.channel.reacts = ['placed-lost']
    await b.place()
    expect(await b.rows()).toEqual({ received: 'prepared' })
    expect(b.x.kicked).toMatchObject([{ kind: 'reaction', subject: b.receipt.id }])
    expect(await settleAll(b)).toBe('placed')
    expect(b.channel.reactCalls).toBe(1)
    expect(await b.rows()).toEqual({ received: 'placed' })
  })

  test('that a crash left without an outcome is owed after the grace time and placed once', async () => {
    const b = await bench()
    const owed = async () => (await owedReactions(fresh.db.sql, b.clock.now(), 10_000, 100)).includes(b.receipt.id)
    expect(await owed()).toBe(false)
    b.clock.add(10_001)
    expect(await owed()).toBe(true)
    await settleAll(b)
    expect(await owed()).toBe(false)
    expect(standing(b)).toEqual(['Get'])
  })

  test('that a crash left after its call is found standing', async () => {
    const b = await bench()
    await b.channel.react(b.receipt.messageId, 'Get')
    await settleAll(b)
    expect(b.channel.reactCalls).toBe(1)
    await b.end('done')
    expect(standing(b)).toEqual([])
  })

  test('that the platform defers is placed by a job', async () => {
    const b = await bench()
    b.channel.reacts = [{ reaction: 'later', retryAfterMs: 900 }]
    await b.place()
    expect(standing(b)).toEqual([])
    expect(b.x.kicked).toHaveLength(1)
    expect(await settleAll(b)).toBe('placed')
  })

  test('that cannot get a slot within its time is skipped and counted', async () => {
    const b = await bench({ pacing: true, receiptSlotMs: 2_000 })
    const keys = apiPace(bot, 'react')
    for (let taken = 0; taken < 120; taken++) await takeSlot(fresh.db.sql, keys, b.clock.now())
    await b.place()
    expect(b.channel.reactCalls).toBe(0)
    expect(await b.rows()).toEqual({ received: 'skipped' })
    expect(b.x.meter.counts.get('reactions_total skipped')).toBe(1)
    await fresh.db.sql`delete from collab.pacing`
  })

  test('that gets a slot a moment later is placed by a job', async () => {
    const b = await bench({ pacing: true, receiptSlotMs: 2_000 })
    const keys = apiPace(bot, 'react')
    for (let taken = 0; taken < 30; taken++) await takeSlot(fresh.db.sql, keys, b.clock.now())
    await b.place()
    expect(b.channel.reactCalls).toBe(0)
    expect(await settleAll(b)).toBe('placed')
    await fresh.db.sql`delete from collab.pacing`
  })
})

describe('the end of a receipt', () => {
  test('`clear` removes it', async () => {
    const b = await bench()
    await b.place()
    await b.end('done')
    expect(standing(b)).toEqual([])
    expect(await b.rows()).toEqual({ received: 'removed' })
  })

  test('`clear` adds the mark before the receipt goes', async () => {
    const b = await bench()
    await b.place()
    const seen: string[][] = []
    const unreact = b.channel.unreact.bind(b.channel)
    b.channel.unreact = async (...args) => {
      seen.push(standing(b))
      return await unreact(...args)
    }
    await b.end('failed')
    expect(seen).toEqual([['Get', 'CrossMark']])
    expect(standing(b)).toEqual(['CrossMark'])
  })

  test('`retain` leaves it, owes nothing by it, and still adds a failure', async () => {
    const b = await bench({
      receiptPolicy: 'retain',
      reactions: { received: 'Get', done: 'DONE', failed: 'CrossMark' },
    })
    await b.place()
    await b.end('done')
    expect(standing(b)).toEqual(['Get'])
    expect(await b.rows()).toEqual({ received: 'kept' })
    await b.end('failed')
    expect(standing(b)).toEqual(['Get', 'CrossMark'])
  })

  test('`withdrawn` adds no mark', async () => {
    const b = await bench({ reactions: { received: 'Get', done: 'DONE', failed: 'CrossMark' } })
    await b.place()
    await b.end('withdrawn')
    expect(standing(b)).toEqual([])
  })

  test('done after a failure takes the failure mark away', async () => {
    const b = await bench({ reactions: { received: 'Get', done: 'DONE', failed: 'CrossMark' } })
    await b.place()
    await b.end('failed')
    await b.end('done')
    expect(standing(b)).toEqual(['DONE'])
  })

  test('asked for twice, it happens once', async () => {
    const b = await bench()
    await b.place()
    await Promise.all([b.end('failed'), b.end('failed')])
    await settleAll(b)
    expect(standing(b)).toEqual(['CrossMark'])
    expect(b.channel.unreactCalls).toBe(1)
  })

  test('asked for while the receipt is being placed, nothing is left standing', async () => {
    const b = await bench()
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const react = b.channel.react.bind(b.channel)
    b.channel.react = async (...args) => {
      await gate
      return await react(...args)
    }
    const placing = b.place()
    await b.end('done')
    expect(await b.rows()).toEqual({ received: 'removed' })
    go()
    await placing
    expect(await b.rows()).toEqual({ received: 'removing' })
    expect(b.x.kicked.at(-1)).toMatchObject({ kind: 'reaction', subject: b.receipt.id })
    await settleAll(b)
    expect(standing(b)).toEqual([])
  })

  test('that fails is retried with growing pauses for about 24 hours, then given up', async () => {
    const b = await bench()
    await b.place()
    b.channel.unreacts = Array.from({ length: 100 }, () => ({ reaction: 'unknown', code: 500 }) as const)
    const start = b.clock.now()
    await b.end('done')
    expect(await settleAll(b)).toBe('cleanup-failed')
    const hours = (b.clock.now() - start) / 3_600_000
    expect(hours).toBeGreaterThan(20)
    expect(hours).toBeLessThan(30)
  })

  test('is tried once more when the message is gone', async () => {
    const b = await bench()
    await b.place()
    const gone = { reaction: 'refused', because: 'message-gone', code: 231003 } as const
    b.channel.unreacts = [gone, gone, gone]
    await b.end('done')
    expect(await settleAll(b)).toBe('removed')
    expect(b.channel.unreactCalls).toBe(2)
  })

  test('removes only the reaction that we placed', async () => {
    const b = await bench()
    await b.place()
    b.channel.reactions.set('rx_other', { messageId: b.receipt.messageId, emoji: 'Get' })
    await b.end('done')
    expect([...b.channel.reactions.keys()]).toEqual(['rx_other'])
  })
})

describe('the breaker', () => {
  test('after the quota is used up, fewer than 5 reaction calls are made in an hour, and answers go on', async () => {
    const b = await bench()
    b.channel.reacts = Array.from(
      { length: 50 },
      () => ({ reaction: 'refused', because: 'quota', code: 99991403 }) as const,
    )
    for (let message = 0; message < 20; message++) {
      const receipt = { ...b.receipt, id: randomUUID(), messageId: `om_${randomUUID()}` }
      await prepareReaction(fresh.db.sql, { ...receipt, purpose: 'received', preparedAt: b.clock.now() })
      await placeReceipt(b.x, receipt, b.clock.now())
      b.clock.add(170_000)
    }
    expect(b.channel.reactCalls).toBeLessThan(5)
    const delivery = await answer(fresh.db.sql, 'still answered')
    await putDeliveries(fresh.db.sql, [delivery])
    expect(await deliver(b.x, delivery.id, heldRun)).toMatchObject({ outcome: 'done' })
  })

  test('a removal waits for it and costs no try', async () => {
    const b = await bench()
    await b.place()
    b.channel.unreacts = [{ reaction: 'refused', because: 'quota', code: 99991403 }]
    await b.end('done')
    expect(await settleAll(b)).toBe('removed')
    expect(b.channel.unreactCalls).toBe(2)
  })
})

describe('a delivery and its receipt', () => {
  async function delivered(b: Bench): Promise<Awaited<ReturnType<typeof deliver>>> {
    const { messageId, chatId } = b.receipt
    const delivery = await answer(fresh.db.sql, 'p1\n\np2', { endsReceipt: { messageId, chatId, end: 'done' } })
    await putDeliveries(fresh.db.sql, [delivery])
    return await deliver(b.x, delivery.id, heldRun)
  }

  test('the receipt stands until the last part is verified, then it goes', async () => {
    const b = await bench()
    await b.place()
    const seen: string[][] = []
    b.channel.beforeSend = async () => void seen.push(standing(b))
    expect(await delivered(b)).toMatchObject({ outcome: 'done' })
    expect(seen).toEqual([['Get'], ['Get']])
    expect(standing(b)).toEqual([])
  })

  test('a removal that fails leaves the delivery verified, and is owed as a wake that survives the process', async () => {
    const b = await bench()
    await b.place()
    b.channel.unreacts = [{ reaction: 'unknown', code: 500 }]
    expect(await delivered(b)).toMatchObject({ outcome: 'done', note: 'verified: 2 of 2 parts arrived' })
    const [wake] = await fresh.db.sql<{ state: string; due_at: number }[]>`
      select state, due_at from collab.wakes where kind = 'reaction' and subject = ${b.receipt.id}`
    expect(wake).toEqual({ state: 'pending', due_at: b.clock.now() + 10_000 })
    const after = { ...b, x: testExchange(fresh.db, b.clock, b.channel, { pacing: false }) }
    await settleAll(after)
    expect(standing(b)).toEqual([])
  })

  test('a delivery that fails ends the receipt as failed', async () => {
    const b = await bench()
    await b.place()
    b.channel.faults = ['ok', 'content-audit']
    expect(await delivered(b)).toMatchObject({ outcome: 'failed' })
    expect(standing(b)).toEqual(['CrossMark'])
  })

  test('a platform that throws on reactions does not touch the delivery', async () => {
    const b = await bench()
    await b.place()
    b.channel.unreact = async () => {
      throw new Error('socket closed')
    }
    expect(await delivered(b)).toMatchObject({ outcome: 'done' })
    expect(await b.rows()).toEqual({ received: 'removing' })
  })
})
