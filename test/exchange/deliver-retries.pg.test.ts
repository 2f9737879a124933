import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeliveryId, EventId } from '../../src/collab/refs.js'
import { deliver } from '../../src/exchange/deliver.js'
import { retryDelivery, type PartDecision } from '../../src/exchange/retry.js'
import { partsOf } from '../../src/stores/deliveries/parts.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bench, type Bench } from './delivery-bench.js'
import { heldRun, type Fault } from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

/** What an operator, a queue or time does to one delivery. */
type Step =
  | { readonly do: 'run' | 'replay' | 'retry' | 'retry-again' | 'give-up' | 'decide' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'faults'; readonly faults: readonly Fault[] }
  | { readonly do: 'blind' }

const fault = fc.constantFrom<Fault>(
  'ok',
  'taken-lost',
  'lost',
  'being-sent',
  'rate-limit',
  'channel-down',
  'bad-format',
  'too-long',
  'cannot-reply-here',
  'target-gone',
  'content-audit',
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.constantFrom('run', 'replay', 'retry', 'retry-again').map((name) => ({ do: name })), weight: 6 },
  { arbitrary: fc.constantFrom('decide', 'give-up').map((name) => ({ do: name })), weight: 3 },
  { arbitrary: fc.integer({ min: 1, max: 90 * 60_000 }).map((ms) => ({ do: 'wait', ms }) as const), weight: 3 },
  {
    arbitrary: fc.array(fault, { minLength: 1, maxLength: 4 }).map((faults) => ({ do: 'faults', faults }) as const),
    weight: 4,
  },
  { arbitrary: fc.constant({ do: 'blind' } as const), weight: 1 },
)

/** All that stands in the chat, without the lines that name the question (the last one may be cut). */
const said = (b: Bench): string =>
  b.channel.shown
    .map((message) => (JSON.parse(message.content) as { text: string }).text)
    .join('')
    .replace(/\{"kind":"answers-gone"[^}]*\}\n?|\{[^}]*$/g, '')

/** What the operator sees in the chat of a parked part, and says truly. */
async function decisionOf(
  b: Bench,
): Promise<{ part: { index: number; subIndex: number }; decision: PartDecision } | null> {
  const parked = (await partsOf(fresh.db.sql, b.id)).find((part) => part.state === 'parked')
  if (parked === undefined) return null
  const { index, subIndex } = parked
  const there = b.channel.shown.some((message) => message.content === parked.content)
  return { part: { index, subIndex }, decision: there ? 'present' : 'absent-send' }
}

test('whatever is retried, replayed and decided, in whatever order, each part is seen at most once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
      const b = await bench(fresh.db, 'ab\n\n# cd\n\nef', { route: { replyTo: 'om_question' } })
      let last: EventId = crypto.randomUUID() as EventId
      const ask = (more: Partial<Parameters<typeof retryDelivery>[1]>, eventId: EventId) =>
        retryDelivery(b.x, { delivery: b.id as DeliveryId, who: 'op', eventId, ...more })
      const run = (replayed: boolean) => deliver(b.x, b.id, { ...heldRun, replayed })
      for (const one of steps) {
        switch (one.do) {
          case 'run':
            await run(false)
            break
          case 'replay':
            await run(true)
            break
          case 'retry':
            last = crypto.randomUUID() as EventId
            await ask({}, last)
            break
          case 'retry-again':
            await ask({}, last)
            break
          case 'give-up':
            await ask({ decision: 'give-up' }, crypto.randomUUID() as EventId)
            break
          case 'decide': {
            const decided = await decisionOf(b)
            if (decided !== null) await ask(decided, crypto.randomUUID() as EventId)
            break
          }
          case 'wait':
            b.clock.add(one.ms)
            break
          case 'faults':
            b.channel.faults.push(...one.faults)
            break
          case 'blind':
            b.channel.lookUps.push({ looked: 'incomplete', because: 'not-permitted' })
            break
        }
        // Pieces of one part joined are that part; nothing else may stand twice or before its turn.
        expect('ab# cdef'.startsWith(said(b))).toBe(true)
      }
      // In the end nothing stands in the way, and the operator looks into the chat.
      b.channel.faults = []
      b.channel.lookUps = []
      for (let round = 0; round < 60; round++) {
        const outcome = await run(false)
        if (outcome.outcome === 'done') break
        if (outcome.outcome === 'later') b.clock.set(outcome.at)
        else await ask((await decisionOf(b)) ?? {}, crypto.randomUUID() as EventId)
      }
      expect(said(b)).toBe('ab# cdef')
      expect(await run(true)).toMatchObject({ outcome: 'done' })
      expect(said(b)).toBe('ab# cdef')
    }),
    { numRuns: 40 },
  )
}, 180_000)
