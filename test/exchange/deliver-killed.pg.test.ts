import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliver } from '../../src/exchange/deliver.js'
import { deliveryOf, putDeliveries } from '../../src/stores/deliveries/deliveries.js'
import { partsOf } from '../../src/stores/deliveries/parts.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { Killed, Killer, mortalChannel, mortalDb } from './killing.js'
import { answer, FakeChannel, heldRun, TestClock, testExchange, type Fault } from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const faults: readonly Fault[] = [
  'ok',
  'taken-lost',
  'lost',
  'being-sent',
  'rate-limit',
  'channel-down',
  'bad-format',
  'target-gone',
]
const harmless: readonly Fault[] = ['ok', 'taken-lost', 'lost', 'being-sent', 'rate-limit', 'channel-down']

interface Life {
  /** Where this run is killed. */
  readonly at: number
  readonly effect: 'before' | 'after'
  /** How long the process stays down. */
  readonly downMs: number
}

const life: fc.Arbitrary<Life> = fc.record({
  at: fc.nat({ max: 24 }),
  effect: fc.constantFrom('before', 'after'),
  downMs: fc.oneof(fc.constant(0), fc.nat({ max: 120_000 }), fc.integer({ min: 2_900_000, max: 4_500_000 })),
})

interface World {
  readonly shown: readonly string[]
  readonly outcome: string | null
  readonly states: readonly string[]
  readonly killed: number
}

/** Lives through the killed runs, then runs undisturbed to the end. */
async function live(
  parts: readonly string[],
  lives: readonly Life[],
  script: readonly Fault[],
  pacing = true,
): Promise<World> {
  const clock = new TestClock()
  const channel = new FakeChannel(clock)
  channel.faults = [...script]
  let killed = 0
  const delivery = await answer(fresh.db.sql, parts.join('\n\n'))
  await putDeliveries(fresh.db.sql, [delivery])
  for (const { at, effect, downMs } of lives) {
    const killer = new Killer(at, effect)
    const x = testExchange(mortalDb(fresh.db, killer), clock, mortalChannel(channel, killer), { pacing })
    try {
      const outcome = await deliver(x, delivery.id, heldRun)
      if (outcome.outcome === 'later') clock.set(outcome.at)
    } catch (error) {
      if (!(error instanceof Killed)) throw error
      killed += 1
      clock.add(downMs)
    }
  }
  const x = testExchange(fresh.db, clock, channel, { pacing })
  for (let round = 0; ; round++) {
    const outcome = await deliver(x, delivery.id, heldRun)
    if (outcome.outcome !== 'later') break
    if (round > 300) throw new Error('the delivery never ends')
    clock.set(outcome.at)
  }
  const row = await deliveryOf(fresh.db.sql, delivery.id)
  return {
    shown: channel.shown.map((message) => (JSON.parse(message.content) as { text: string }).text),
    outcome: row?.outcome ?? null,
    states: (await partsOf(fresh.db.sql, delivery.id)).map((part) => part.state),
    killed,
  }
}

describe('a delivery whose runs are killed anywhere', () => {
  const parts = ['p1', 'p2', 'p3']

  test('arrives whole, once and in order when nothing is refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(life, { maxLength: 4 }),
        fc.array(fc.constantFrom(...harmless), { maxLength: 8 }),
        async (lives, script) => {
          const world = await live(parts, lives, script)
          expect(world.shown).toEqual(parts)
          expect(world.outcome).toBe('verified')
        },
      ),
      { numRuns: 60 },
    )
  })

  test('shows each part at most once and in order, and says of the rest that it failed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(life, { maxLength: 4 }),
        fc.array(fc.constantFrom(...faults), { maxLength: 8 }),
        async (lives, script) => {
          const world = await live(parts, lives, script)
          expect(world.shown).toEqual(parts.slice(0, world.shown.length))
          if (world.shown.length === parts.length) expect(world.outcome).toBe('verified')
          else {
            expect(world.outcome).toBe('failed')
            expect(world.states[world.shown.length]).toBe('failed')
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  test('does not depend on where exactly: every single wait of a run, before and after its effect', async () => {
    let killed = 0
    const scripts: readonly Fault[][] = [[], ['ok', 'taken-lost']]
    for (const effect of ['before', 'after'] as const) {
      for (let at = 0; at < 30; at++) {
        for (const script of scripts) {
          const downMs = at % 2 === 0 ? 1_000 : 3_600_000
          const world = await live(['a', 'b'], [{ at, effect, downMs }], script, at % 3 === 0)
          expect({ at, effect, ...world }).toMatchObject({ shown: ['a', 'b'], outcome: 'verified' })
          killed += world.killed
        }
      }
    }
    // Otherwise the runs would have ended before anything killed them.
    expect(killed).toBeGreaterThan(60)
  })
})

describe('two runs at once', () => {
  test('a stalled run that wakes while another one sends changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 2 }), fc.integer({ min: 0, max: 3_000_000 }), async (stallAt, stalledMs) => {
        const clock = new TestClock()
        const channel = new FakeChannel(clock)
        const delivery = await answer(fresh.db.sql, 'p1\n\np2\n\np3')
        await putDeliveries(fresh.db.sql, [delivery])
        const x = testExchange(fresh.db, clock, channel, { pacing: false })
        let calls = 0
        let wake = (): void => {}
        const asleep = new Promise<void>((resolve) => (wake = resolve))
        let reached = (): void => {}
        const sleeping = new Promise<void>((resolve) => (reached = resolve))
        channel.beforeSend = async () => {
          if (calls++ !== stallAt) return
          reached()
          await asleep
        }
        const stalled = deliver(x, delivery.id, heldRun)
        await sleeping
        clock.add(stalledMs)
        const second = deliver(x, delivery.id, heldRun)
        wake()
        await Promise.all([stalled, second])
        for (let round = 0; round < 50; round++) {
          const outcome = await deliver(x, delivery.id, heldRun)
          if (outcome.outcome !== 'later') break
          clock.set(outcome.at)
        }
        expect(channel.shown.map((message) => message.content)).toEqual(
          ['p1', 'p2', 'p3'].map((text) => JSON.stringify({ text })),
        )
        expect((await deliveryOf(fresh.db.sql, delivery.id))?.outcome).toBe('verified')
      }),
      { numRuns: 40 },
    )
  })
})
