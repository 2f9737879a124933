import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  afterLookUp,
  afterReadBack,
  afterSend,
  backoffMs,
  lookPatienceMs,
  lookTries,
  nextOfDelivery,
  nextStep,
  outcomeOf,
  slotNeed,
  slotOf,
  slotText,
  uuidOf,
  uuidWindowMs,
  type AttemptTimes,
  type PartNow,
} from '../../src/collab/decide/send.js'
import { sha256 } from '../../src/lib/digest.js'

const t0 = 1_796_000_000_000

function part(change: Partial<PartNow> = {}): PartNow {
  return {
    key: sha256('part'),
    state: 'planned',
    because: null,
    isFile: false,
    uploadKey: null,
    messageId: null,
    attempts: 0,
    failedLooks: 0,
    firstCallAt: null,
    notBefore: null,
    settledAt: null,
    history: [],
    ...change,
  }
}

const doubtful = (startedAt: number, endedAt: number | null): AttemptTimes => ({
  startedAt,
  endedAt,
  outcome: endedAt === null ? null : 'ambiguous',
})

describe('the next step of a part', () => {
  test('inside the 50 minutes a doubtful call is repeated with the same uuid', () => {
    const doubt = part({ state: 'ambiguous', firstCallAt: t0, history: [doubtful(t0, t0 + 5_000)] })
    const first = nextStep(part(), t0)
    expect(nextStep(doubt, t0 + uuidWindowMs - 1)).toEqual(first)
  })

  test('from 50 minutes on only a look at the chat decides', () => {
    const history = [doubtful(t0, t0 + 5_000), doubtful(t0 + 60_000, t0 + 70_000)]
    const doubt = part({ state: 'ambiguous', firstCallAt: t0, history })
    expect(nextStep(doubt, t0 + uuidWindowMs)).toEqual({ step: 'look-up', from: t0, to: t0 + 70_000 })
  })

  test('a planned part with a doubt from before is not sent blindly either', () => {
    const doubt = part({ state: 'planned', firstCallAt: t0, history: [doubtful(t0, t0 + 5_000)] })
    expect(nextStep(doubt, t0 + uuidWindowMs).step).toBe('look-up')
  })

  test('an uuid is at most 50 characters, and another one after each proved absence', () => {
    const absent: AttemptTimes = { startedAt: t0, endedAt: t0, outcome: 'absent' }
    const uuids = [[], [absent], [absent, absent]].map((history) => uuidOf(sha256('k'), history))
    expect(new Set(uuids).size).toBe(3)
    expect(uuids[0]).toBe(sha256('k').slice(0, 40))
    expect(uuids.every((uuid) => uuid.length === 40)).toBe(true)
  })

  test('a file is uploaded once: with its key stored it is sent', () => {
    expect(nextStep(part({ isFile: true }), t0).step).toBe('upload')
    expect(nextStep(part({ isFile: true, uploadKey: 'file_1' }), t0).step).toBe('send')
  })

  test('a message that was accepted is never sent again, whatever a look at it says', () => {
    const accepted = part({ state: 'accepted', messageId: 'om_1', firstCallAt: t0 })
    for (const because of ['deleted', 'other-sender', 'other-place', 'other-type', 'other-content'] as const) {
      expect(afterReadBack(accepted, { found: 'different', because }, t0).to).toBe('accepted')
    }
    expect(nextStep(accepted, t0 + 10 * uuidWindowMs)).toEqual({ step: 'read-back', messageId: 'om_1' })
  })
})

describe('the next step of a delivery', () => {
  test('a part that waits holds the later ones', () => {
    const parts = [part({ because: 'rate-limit', notBefore: t0 + 9_000 }), part()]
    expect(nextOfDelivery(parts, t0)).toEqual({ part: null, until: t0 + 9_000, because: 'rate-limit' })
  })

  test('a part that waits only for its read-back does not', () => {
    const waiting = part({ state: 'accepted', messageId: 'om_1', notBefore: t0 + 9_000 })
    expect(nextOfDelivery([waiting, part()], t0)).toMatchObject({ step: { step: 'send' } })
  })

  test.each(['failed', 'parked'] as const)('a %s part stops the later ones', (state) => {
    expect(nextOfDelivery([part({ state }), part()], t0)).toMatchObject({ part: null, until: null })
  })

  test('the outcome is the worst part, and superseded rows do not count', () => {
    const done = { messageId: 'om_1', settledAt: t0 }
    const verified = part({ state: 'verified', ...done })
    const accepted = part({ state: 'accepted', ...done })
    expect(outcomeOf([part({ state: 'superseded' }), verified]).outcome).toBe('verified')
    expect(outcomeOf([verified, accepted]).outcome).toBe('accepted')
    expect(outcomeOf([verified, part({ state: 'accepted', messageId: 'om_1' })]).outcome).toBeNull()
    expect(outcomeOf([verified, part({ state: 'failed', because: 'too-long' }), part()])).toEqual({
      outcome: 'failed',
      arrived: 1,
      total: 3,
      because: 'too-long',
    })
  })
})

describe('answers', () => {
  test('a refusal fails a part, unless an earlier call may have arrived', () => {
    const refused = { reply: 'refused', because: 'target-gone', code: 230011, detail: '' } as const
    expect(afterSend(part(), refused, t0)).toEqual({ to: 'failed', because: 'target-gone' })
    const doubt = part({ state: 'ambiguous', history: [doubtful(t0, t0 + 1)] })
    expect(afterSend(doubt, refused, t0).to).toBe('look-up')
  })

  test('only a proved absence leads to a new message', () => {
    const doubt = part({ state: 'ambiguous', firstCallAt: t0, history: [doubtful(t0, t0 + 1)] })
    const now = t0 + uuidWindowMs
    const of = (because: 'not-permitted' | 'unavailable' | 'too-early' | 'no-content-to-match', at = now) =>
      afterLookUp(doubt, { looked: 'incomplete', because }, null, at).to
    expect(afterLookUp(doubt, { looked: 'absent' }, null, now).to).toBe('send-anew')
    expect(of('not-permitted')).toBe('parked')
    expect(of('no-content-to-match')).toBe('parked')
    expect(of('too-early')).toBe('later')
    expect(of('unavailable')).toBe('later')
  })

  test('a look that fails is given up after an hour and not before it failed a number of times', () => {
    const history = [doubtful(t0, t0 + 1)]
    const unavailable = { looked: 'incomplete', because: 'unavailable' } as const
    const of = (failedLooks: number, at: number) =>
      afterLookUp(part({ state: 'ambiguous', firstCallAt: t0, history, failedLooks }), unavailable, null, at).to
    const due = t0 + uuidWindowMs
    expect(of(lookTries, due + lookPatienceMs - 1)).toBe('later')
    // The process was away for a day: its first look may meet a fault like any other.
    expect(of(0, due + 86_400_000)).toBe('later')
    expect(of(lookTries - 2, due + 86_400_000)).toBe('later')
    expect(of(lookTries - 1, due + 86_400_000)).toBe('parked')
  })

  test('looks that are owed after an absence come within ten minutes altogether', () => {
    const history = [doubtful(t0, t0 + 1)]
    let at = t0 + 86_400_000
    for (let failedLooks = 0; ; failedLooks++) {
      const doubt = part({ state: 'ambiguous', firstCallAt: t0, history, failedLooks })
      const after = afterLookUp(doubt, { looked: 'incomplete', because: 'unavailable' }, null, at)
      if (after.to !== 'later') break
      expect(after.at).toBeGreaterThanOrEqual(at + 2_000)
      at = after.at
    }
    expect(at - t0 - 86_400_000).toBeGreaterThan(5 * 60_000)
    expect(at - t0 - 86_400_000).toBeLessThan(15 * 60_000)
  })

  test('a read-back that fails after an absence is tried again before it ends as accepted', () => {
    const history = [{ startedAt: t0, endedAt: t0 + 1, outcome: 'taken' }] as const
    const of = (failedLooks: number, at: number) =>
      afterReadBack(
        part({ state: 'accepted', messageId: 'om_1', history, failedLooks }),
        { found: 'unknown', because: 'unavailable' },
        at,
      ).to
    expect(of(0, t0 + 86_400_000)).toBe('later')
    expect(of(lookTries - 1, t0 + 86_400_000)).toBe('accepted')
    expect(of(lookTries - 1, t0 + lookPatienceMs - 1)).toBe('later')
  })

  test('a look that came too early is repeated when its pages can cover the margin', () => {
    const doubt = part({ state: 'ambiguous', firstCallAt: t0, history: [doubtful(t0, t0 + 5_000)] })
    const after = afterLookUp(doubt, { looked: 'incomplete', because: 'too-early' }, null, t0 + 6_000)
    expect(after).toEqual({ to: 'later', because: 'look-up-too-early', at: t0 + 66_000 })
  })

  test('back-off grows up to 2 minutes, with at most a quarter of jitter', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 100 }), (key, attempt) => {
        const base = Math.min(1_000 * 2 ** (attempt - 1), 120_000)
        const ms = backoffMs(key, attempt)
        expect(ms).toBeGreaterThanOrEqual(base)
        expect(ms).toBeLessThanOrEqual(base * 1.25)
      }),
    )
  })
})

describe('a kept slot', () => {
  test('is written on the part and read back', () => {
    for (const kept of [0, 3, 'all'] as const) {
      for (const again of [false, true]) expect(slotOf({ because: slotText({ kept, again }) })).toEqual({ kept, again })
    }
    expect(slotOf({ because: 'rate-limit' })).toBeNull()
  })

  test('is used when it is due, taken anew when it is late, and not lost a second time', () => {
    const at = (because: string, now: number) => slotNeed({ because, notBefore: t0 }, now)
    expect(at('slot-all', t0 + 200)).toEqual({ held: 'all', again: false })
    expect(at('slot-1', t0 + 200)).toEqual({ held: 1, again: false })
    expect(at('slot-all', t0 + 300)).toEqual({ held: 'none', again: true })
    expect(at('slot-all-again', t0 + 4_000)).toEqual({ held: 'all', again: true })
    expect(at('slot-all-again', t0 + 6_000)).toEqual({ held: 'none', again: true })
  })
})
