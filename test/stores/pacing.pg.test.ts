import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { earlyMs } from '../../src/collab/decide/send.js'
import {
  apiPace,
  cleanupPace,
  holdKey,
  holdUntil,
  sendPace,
  slotRule,
  takeRest,
  takeSlot,
  type PaceRank,
} from '../../src/stores/pacing/pacing.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { most, t0 } from './pacing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

let bots = 0

describe('places in the database', () => {
  test('follow the rule that the limits were proved for', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            gap: fc.nat({ max: 400 }),
            chat: fc.nat({ max: 2 }),
            within: fc.constantFrom(50, 2_000, 100_000_000),
            what: fc.constantFrom<PaceRank | 'get' | 'cleanup'>(
              'control',
              'progress',
              'answer',
              'answer',
              'get',
              'cleanup',
            ),
          }),
          { minLength: 1, maxLength: 30 },
        ),
        async (wanted) => {
          const bot = `bot_${bots++}`
          const next = new Map<string, number>()
          let now = t0
          for (const { gap, chat, within, what } of wanted) {
            now += gap
            const keys =
              what === 'get'
                ? apiPace(bot, 'get')
                : what === 'cleanup'
                  ? cleanupPace(bot)
                  : sendPace(bot, `oc_${chat}`, what)
            const known = keys.map((key) => ({ ...key, nextAt: next.get(key.key) ?? 0 }))
            const { startAt, taken, next: moved } = slotRule(known, now, within)
            for (const [key, at] of moved) next.set(key, at)
            expect(await takeSlot(fresh.db.sql, keys, now, within)).toEqual({ startAt, taken })
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  test('are given once each to many takers at the same moment', async () => {
    const keys = sendPace('bot_many', 'oc_1', 'control')
    const slots = await Promise.all(Array.from({ length: 40 }, () => takeSlot(fresh.db.sql, keys, t0)))
    const starts = slots.map((slot) => slot.startAt - t0).sort((a, b) => a - b)
    expect(starts).toEqual(Array.from({ length: 40 }, (_, index) => Math.max(0, index * 300 - 190)))
  })

  test('twelve workers together keep the limits, and a control answer passes all that they have waiting', async () => {
    const bot = `bot_${bots++}`
    type Job = {
      readonly chat: number
      readonly rank: PaceRank
      readonly from: number
      now: number
      held: 'none' | 'all' | number
    }
    const job = (chat: number, rank: PaceRank, from: number): Job => ({ chat, rank, from, now: from, held: 'none' })
    let waiting: Job[] = [
      ...Array.from({ length: 120 }, (_, n) => job(n % 6 === 0 ? n : 0, 'answer', t0)),
      job(0, 'control', t0 + 3_000),
      job(0, 'progress', t0 + 3_000),
    ]
    const made: { readonly job: Job; readonly at: number }[] = []
    while (waiting.length > 0) {
      // Up to twelve workers take what is due at about the same moment, each with a connection of its own.
      waiting.sort((a, b) => a.now - b.now)
      const now = (waiting[0]?.now ?? 0) + 20
      const taken = waiting
        .filter((one) => one.now <= now)
        .slice(0, 12)
        .map((one) => ({ ...one, now }))
      waiting = waiting.slice(taken.length)
      const back = await Promise.all(
        taken.map(async (one) => {
          const slot = await takeRest(fresh.db.sql, sendPace(bot, `oc_${one.chat}`, one.rank), one.held, one.now)
          if (slot.startAt > one.now + earlyMs) return [{ ...one, now: slot.startAt, held: slot.held }]
          made.push({ job: one, at: one.now })
          return []
        }),
      )
      waiting = [...waiting, ...back.flat()]
    }
    expect(made).toHaveLength(122)
    expect(
      most(
        made.filter(({ job: { chat } }) => chat === 0).map(({ at }) => at),
        1_000,
      ),
    ).toBeLessThanOrEqual(5)
    expect(
      most(
        made.map(({ at }) => at),
        1_000,
      ),
    ).toBeLessThanOrEqual(50)
    const waitOf = (rank: PaceRank): number => {
      const one = made.find(({ job }) => job.rank === rank)
      return (one?.at ?? Infinity) - (one?.job.from ?? 0)
    }
    expect(waitOf('control')).toBeLessThan(700)
    expect(waitOf('progress')).toBeLessThan(1_000)
    const quiet = made.filter(({ job: { chat } }) => chat !== 0)
    expect(Math.max(...quiet.map(({ at }) => at - t0))).toBeLessThan(2_000)
  })
})

describe('a wait that the platform named', () => {
  test('holds every worker, also one that has its place, and only what it was named for', async () => {
    const bot = `bot_${bots++}`
    const keys = sendPace(bot, 'oc_1', 'answer')
    const { sql } = fresh.db
    await holdUntil(sql, [holdKey(bot, { chatId: 'oc_1' })], t0 + 7_000)
    // A shorter one that comes later does not lift it.
    await holdUntil(sql, [holdKey(bot, { chatId: 'oc_1' })], t0 + 2_000)
    expect((await takeSlot(sql, keys, t0)).startAt).toBe(t0 + 7_000)
    expect(await takeRest(sql, keys, 'all', t0)).toEqual({ startAt: t0 + 7_000, held: 0 })
    expect((await takeSlot(sql, sendPace(bot, 'oc_2', 'answer'), t0)).startAt).toBe(t0)
    // When it is over each takes a place again: the limit holds then, too.
    const starts = await Promise.all(Array.from({ length: 6 }, () => takeRest(sql, keys, 0, t0 + 7_000)))
    expect(starts.filter(({ startAt }) => startAt <= t0 + 7_000 + earlyMs)).toHaveLength(1)
  })

  test('for the whole API holds all chats and no other API', async () => {
    const bot = `bot_${bots++}`
    const { sql } = fresh.db
    await holdUntil(sql, [holdKey(bot, { api: 'send' })], t0 + 4_000)
    expect((await takeSlot(sql, sendPace(bot, 'oc_1', 'control'), t0)).startAt).toBe(t0 + 4_000)
    expect((await takeSlot(sql, apiPace(bot, 'react'), t0)).startAt).toBe(t0)
  })
})
