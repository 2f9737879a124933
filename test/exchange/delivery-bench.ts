import type { DeliveryId } from '../../src/collab/refs.js'
import { deliver } from '../../src/exchange/deliver.js'
import { putDeliveries } from '../../src/stores/deliveries/deliveries.js'
import { partsOf } from '../../src/stores/deliveries/parts.js'
import type { Db } from '../../src/stores/db.js'
import { answer, FakeChannel, heldRun, TestClock, testExchange, type TestExchange } from './outgoing-kit.js'

export interface Bench {
  readonly clock: TestClock
  readonly channel: FakeChannel
  readonly x: TestExchange
  readonly id: DeliveryId
  readonly chatId: string
}

export async function bench(db: Db, text: string, options: Parameters<typeof answer>[2] = {}): Promise<Bench> {
  const clock = new TestClock()
  const channel = new FakeChannel(clock)
  const x = testExchange(db, clock, channel, { pacing: false })
  const delivery = await answer(db.sql, text, options)
  await putDeliveries(db.sql, [delivery])
  return { clock, channel, x, id: delivery.id, chatId: delivery.route.chatId }
}

/** Runs the job until it is done, moving the clock to each time that it asks for. */
export async function finish(b: Bench): Promise<string> {
  for (let round = 0; round < 200; round++) {
    const outcome = await deliver(b.x, b.id, heldRun)
    if (outcome.outcome === 'done') return outcome.note
    if (outcome.outcome === 'failed') return outcome.because
    b.clock.set(outcome.at)
  }
  throw new Error('the delivery never ends')
}

export const texts = (b: Bench): readonly string[] =>
  b.channel.shown.map((message) => (JSON.parse(message.content) as { text: string }).text)

export const states = async (b: Bench): Promise<readonly string[]> =>
  (await partsOf(b.x.db.sql, b.id)).map((part) =>
    part.because === null ? part.state : `${part.state} ${part.because}`,
  )
