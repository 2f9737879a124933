import type { ExchangeState } from '../exchange-state.js'
import type { Observation, TurnEnding } from '../observation.js'

/** When the gateway took a turn up, and what its row says of it since. Milliseconds since the epoch. */
export interface TurnTimes {
  readonly id: string
  readonly acceptedAt: number
  readonly firstAnswerAt: number | null
  readonly endedAt: number | null
}

/** One turn with its four stamps; each null until it is there. */
export interface TurnView {
  readonly id: string
  /** The gateway journalled it, before the runtime was called; null for a turn that has no row any more. */
  readonly acceptedAt: number | null
  /** The runtime said that it began. */
  readonly presentedAt: number
  /** The runtime was first seen to write its answer; null where it does not show that. */
  readonly firstAnswerAt: number | null
  /** Its end was written: with its result, or without one. */
  readonly completedAt: number | null
  readonly ending: TurnEnding | null
  /** Commands that it left running and that ended with it; null in the place of erased words. */
  readonly endedWith: readonly (string | null)[]
}

/** The turns of one attempt, in the order in which they began. */
export function turnsOf(
  state: ExchangeState,
  attempt: string,
  facts: readonly Observation[],
  times: readonly TurnTimes[],
  textOf: (digest: string) => string | null,
): readonly TurnView[] {
  return [...state.turns.values()]
    .filter((turn) => turn.attempt === attempt)
    .map(({ id, presentedAt, ending }) => {
      const row = times.find((one) => one.id === id)
      return {
        id,
        acceptedAt: row?.acceptedAt ?? null,
        presentedAt,
        firstAnswerAt: row?.firstAnswerAt ?? null,
        completedAt: row?.endedAt ?? null,
        ending,
        endedWith: facts.flatMap((fact) =>
          fact.kind === 'ended-with-turn' && fact.turn === id ? [textOf(fact.command)] : [],
        ),
      }
    })
}
