import { randomUUID } from 'node:crypto'
import type { ReceiptEnd } from '../../src/collab/delivery.js'
import type { ExchangeSettings } from '../../src/exchange/deps.js'
import { endReceipt, placeReceipt, settleReaction } from '../../src/exchange/receipts.js'
import type { Db } from '../../src/stores/db.js'
import { prepareReaction } from '../../src/stores/deliveries/reactions.js'
import { bot, FakeChannel, TestClock, testExchange, type TestExchange } from './outgoing-kit.js'

export interface Bench {
  readonly clock: TestClock
  readonly channel: FakeChannel
  readonly x: TestExchange
  readonly receipt: { id: string; bot: typeof bot; messageId: string; chatId: string; emoji: string }
  place(): Promise<void>
  end(end: ReceiptEnd): Promise<void>
  rows(): Promise<Record<string, string>>
}

/** One message whose receipt row the ingress statement has just prepared. */
export async function bench(db: Db, settings: Partial<ExchangeSettings> = {}): Promise<Bench> {
  const clock = new TestClock()
  const channel = new FakeChannel(clock)
  const x = testExchange(db, clock, channel, { pacing: false, ...settings })
  const messageId = `om_${randomUUID()}`
  const receipt = { id: randomUUID(), bot, messageId, chatId: 'oc_1', emoji: 'Get' }
  await prepareReaction(db.sql, { ...receipt, purpose: 'received', preparedAt: clock.now() })
  const acceptedAt = clock.now()
  return {
    clock,
    channel,
    x,
    receipt,
    place: () => placeReceipt(x, receipt, acceptedAt),
    end: (end) => endReceipt(x, { bot, messageId, chatId: 'oc_1', end }),
    rows: async () => {
      const rows = await db.sql<{ purpose: string; state: string }[]>`
        select purpose, state from collab.reactions where message_id = ${messageId}`
      return Object.fromEntries(rows.map((row) => [row.purpose, row.state]))
    },
  }
}

export const standing = (b: Bench): string[] => [...b.channel.reactions.values()].map((reaction) => reaction.emoji)

/** What the sweep and the queue do: runs owed reactions until nothing is owed, moving the clock as asked. */
export async function settleAll(b: Bench, id = b.receipt.id): Promise<string> {
  for (let round = 0; round < 100; round++) {
    const outcome = await settleReaction(b.x, id)
    if (outcome.outcome === 'done') return outcome.note
    if (outcome.outcome === 'failed') throw new Error(outcome.because)
    b.clock.set(outcome.at)
  }
  throw new Error('the reaction never ends')
}
