import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReceiptEnd } from '../../src/collab/delivery.js'
import type { ExchangeSettings } from '../../src/exchange/deps.js'
import { endReceipt, placeReceipt, settleReaction } from '../../src/exchange/receipts.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { Killer, mortalChannel, mortalDb } from './killing.js'
import { bot, testExchange } from './outgoing-kit.js'
import { bench as benchOf, standing } from './receipt-bench.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const bench = (settings: Partial<ExchangeSettings>) => benchOf(fresh.db, settings)

describe('receipts of a process that is killed anywhere', () => {
  test('end as they were asked to: nothing of ours is left standing but the mark', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: 14 }), fc.constantFrom('before', 'after')), { minLength: 1, maxLength: 4 }),
        fc.constantFrom<ReceiptEnd>('done', 'failed', 'withdrawn'),
        async (planned, end) => {
          const kills = [...planned]
          const b = await bench({ reactions: { received: 'Get', done: 'DONE', failed: 'CrossMark' } })
          const { messageId, chatId } = b.receipt
          const mortal = () => {
            const [at, effect] = kills.shift() ?? [Infinity, 'after']
            const killer = new Killer(at, effect as 'before' | 'after')
            const channel = mortalChannel(b.channel, killer)
            return testExchange(mortalDb(fresh.db, killer), b.clock, channel, { ...b.x.settings })
          }
          const acceptedAt = b.clock.now()
          await placeReceipt(mortal(), b.receipt, acceptedAt).catch(() => {})
          b.clock.add(30_000)
          // The fact that ends a receipt is tried until it is committed, as its job is.
          for (let ended = false; !ended;) {
            ended = await endReceipt(mortal(), { bot, messageId, chatId, end }).then(
              () => true,
              () => false,
            )
          }
          for (let round = 0; round < 40; round++) {
            const rows = await fresh.db.sql<{ id: string }[]>`
              select id from collab.reactions where message_id = ${messageId} and state in ('prepared', 'removing')`
            if (rows.length === 0) break
            b.clock.add(120_000)
            for (const { id } of rows) await settleReaction(mortal(), id).catch(() => {})
          }
          expect(standing(b)).toEqual(end === 'withdrawn' ? [] : [end === 'done' ? 'DONE' : 'CrossMark'])
        },
      ),
      { numRuns: 60 },
    )
  })
})
