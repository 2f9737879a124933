import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lateMs } from '../../src/collab/decide/send.js'
import { cleanupPace, apiPace, sendPace, slotRule, type PaceRank } from '../../src/stores/pacing/pacing.js'
import { callsOf, most, t0, type Made, type Wanted } from './pacing-kit.js'

const ranks: readonly PaceRank[] = ['control', 'progress', 'answer']

const traffic = (chats: number, count: number, gap: number): fc.Arbitrary<Wanted[]> =>
  fc
    .array(
      fc.record({
        gap: fc.oneof(fc.constant(0), fc.nat({ max: gap })),
        chat: fc.nat({ max: chats - 1 }),
        rank: fc.constantFrom(...ranks),
        late: fc.nat({ max: lateMs }),
      }),
      { minLength: count / 2, maxLength: count },
    )
    .map((wanted) => {
      let at = t0
      return wanted.map(({ gap: after, ...one }) => ({ ...one, at: (at += after) }))
    })

const times = (made: readonly Made[]): number[] => made.map((one) => one.at)
const answers = (count: number, chat: (nth: number) => number): Wanted[] =>
  Array.from({ length: count }, (_, nth) => ({ at: t0, chat: chat(nth), rank: 'answer', late: (nth * 7) % lateMs }))
const waitOf = (made: readonly Made[], wanted: Wanted): number =>
  (made.find((one) => one.wanted === wanted)?.at ?? Infinity) - wanted.at

describe('the limits of the platform', () => {
  test('one chat never gets more than 5 messages in any second, whatever arrives', () => {
    fc.assert(
      fc.property(traffic(1, 60, 400), (wanted) => {
        const made = callsOf(wanted)
        expect(made).toHaveLength(wanted.length)
        expect(most(times(made), 1_000)).toBeLessThanOrEqual(5)
      }),
      { numRuns: 200 },
    )
  })

  test('one API never gets more than 50 calls in any second', () => {
    fc.assert(
      fc.property(traffic(200, 300, 20), (wanted) => {
        expect(most(times(callsOf(wanted)), 1_000)).toBeLessThanOrEqual(50)
      }),
      { numRuns: 40 },
    )
  })

  test('one API never gets more than 1000 calls in any minute, and not much less where that many are wanted', () => {
    const made = times(callsOf(answers(2_500, (nth) => nth)))
    expect(most(made, 60_000)).toBeLessThanOrEqual(1_000)
    expect(most(made, 60_000)).toBeGreaterThan(900)
  })
})

describe('who goes first', () => {
  const crowd = answers(100, () => 0)

  test('a crowded chat does not hold the others back', () => {
    const other: Wanted = { at: t0 + 10, chat: 1, rank: 'answer', late: 0 }
    expect(waitOf(callsOf([...crowd, other]), other)).toBeLessThan(200)
  })

  test('where all chats want more than there is, the one that wants most gets little more than the others', () => {
    const others = answers(40 * 12, (nth) => 1 + (nth % 40))
    const made = callsOf([...answers(400, () => 0), ...others])
    const by = t0 + 20_000
    const counts = [0, 1, 20, 40].map((chat) => made.filter((one) => one.wanted.chat === chat && one.at < by).length)
    const [chatty = 0, ...rest] = counts
    for (const count of rest) expect(count).toBeGreaterThanOrEqual(chatty * 0.6)
  })

  test('a control answer passes a hundred answers in its own chat', () => {
    const control: Wanted = { at: t0 + 2_000, chat: 0, rank: 'control', late: 0 }
    expect(waitOf(callsOf([...crowd, control]), control)).toBeLessThan(700)
  })

  test('a progress card passes them as well', () => {
    const progress: Wanted = { at: t0 + 2_000, chat: 0, rank: 'progress', late: 0 }
    expect(waitOf(callsOf([...crowd, progress]), progress)).toBeLessThan(1_000)
  })

  test('control answers pass a thousand answers to other chats', () => {
    const control = Array.from({ length: 5 }, (_, nth): Wanted => ({
      at: t0 + 30_000 + nth,
      chat: 5_000 + nth,
      rank: 'control',
      late: 0,
    }))
    const made = callsOf([...answers(1_500, (nth) => nth), ...control])
    for (const one of control) expect(waitOf(made, one)).toBeLessThan(700)
  })

  test('the first answer of a quiet chat waits for nothing', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ranks), (rank) => {
        const one: Wanted = { at: t0, chat: 0, rank, late: 0 }
        expect(waitOf(callsOf([one]), one)).toBe(0)
      }),
    )
  })

  test('taking reactions away leaves half of the limit to those that say "received"', () => {
    const wanted = answers(2_000, () => 0)
    const made = callsOf(wanted, () => cleanupPace('bot'))
    expect(most(times(made), 60_000)).toBeLessThanOrEqual(500)
    const placing: Wanted = { at: t0 + 30_000, chat: 0, rank: 'control', late: 0 }
    const both = callsOf([...wanted, placing], (one) =>
      one === placing ? apiPace('bot', 'react') : cleanupPace('bot'),
    )
    expect(waitOf(both, placing)).toBeLessThan(100)
  })
})

describe('a place', () => {
  test('later than asked for is not taken', () => {
    const keys = sendPace('bot', 'oc_1', 'answer').map((key) => ({ ...key, nextAt: t0 + 5_000 }))
    expect(slotRule(keys, t0, 2_000)).toMatchObject({ taken: 'none', next: new Map() })
  })

  test('in what all share is not held while something of its own is awaited', () => {
    const keys = sendPace('bot', 'oc_1', 'answer').map((key) => ({
      ...key,
      nextAt: key.key === 'chat:bot:oc_1:answer' ? t0 + 5_000 : 0,
    }))
    const { taken, next } = slotRule(keys, t0, 10_000)
    expect(taken).not.toBe('all')
    expect([...next.keys()].filter((key) => key.startsWith('api:') && !key.endsWith(':hold'))).toEqual([])
  })
})
