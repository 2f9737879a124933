import { evolve, type ExchangeState } from './exchange-state.js'
import type { Fact } from './observation.js'
import type { EventId, Seq } from './refs.js'

/** The state once these facts of one command are committed. */
export function foresee(state: ExchangeState, facts: readonly Fact[]): ExchangeState {
  return facts.reduce<ExchangeState>((before, fact, ordinal) => {
    const identity = { eventId: 'to-be-committed' as EventId, ordinal, seq: (before.seq + 1) as Seq }
    return evolve(before, { ...fact, ...identity })
  }, state)
}
