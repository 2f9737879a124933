import { earlyMs } from '../../src/collab/decide/send.js'
import { missingOf, sendPace, slotRule, type PaceKey, type PaceRank } from '../../src/stores/pacing/pacing.js'

export const t0 = 1_796_000_000_000

/** A message that somebody wants to send at a moment; it goes so late after its slot as a slow job would. */
export interface Wanted {
  readonly at: number
  readonly chat: number
  readonly rank: PaceRank
  readonly late: number
}

export interface Made {
  readonly wanted: Wanted
  readonly at: number
}

type Held = Parameters<typeof missingOf>[1]

/** Takes places as the database would, moment after moment, and says when each call really starts. */
export function callsOf(wanted: readonly Wanted[], keysOf = keysOfSend): readonly Made[] {
  const next = new Map<string, number>()
  const made: Made[] = []
  const events: { now: number; order: number; held: Held; wanted: Wanted }[] = wanted.map((one, order) => ({
    now: one.at,
    order,
    held: 'none',
    wanted: one,
  }))
  while (events.length > 0) {
    events.sort((a, b) => b.now - a.now || b.order - a.order)
    const event = events.pop()
    if (event === undefined) break
    const missing = missingOf(keysOf(event.wanted), event.held)
    const slot = slotRule(
      missing.map((key) => ({ ...key, nextAt: next.get(key.key) ?? 0 })),
      event.now,
      Number.MAX_SAFE_INTEGER - event.now,
    )
    for (const [key, at] of slot.next) next.set(key, at)
    if (slot.startAt <= event.now + earlyMs) made.push({ wanted: event.wanted, at: event.now })
    else if (slot.taken !== 'none') events.push({ ...event, now: slot.startAt + event.wanted.late, held: slot.taken })
  }
  return made
}

const keysOfSend = (one: Wanted): readonly PaceKey[] => sendPace('bot', `oc_${one.chat}`, one.rank)

/** The most calls that start in any window of that length. */
export function most(times: readonly number[], windowMs: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  let max = 0
  let from = 0
  sorted.forEach((time, index) => {
    while (time - (sorted[from] ?? 0) >= windowMs) from += 1
    max = Math.max(max, index - from + 1)
  })
  return max
}
