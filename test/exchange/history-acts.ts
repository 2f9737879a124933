import fc from 'fast-check'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import type { Receipt } from '../../src/collab/decision.js'
import { openEffects, type ExchangeState } from '../../src/collab/exchange-state.js'
import type { RequestId } from '../../src/collab/refs.js'

export interface Act {
  readonly say: (typeof verbs)[number]
  readonly by: number
  readonly on: number
  readonly pick: number
}

const verbs = [
  ...(['message', 'begin', 'end', 'read', 'accept', 'reject', 'defer', 'report', 'ask', 'revise', 'cancel'] as const),
  ...(['reassign', 'relate', 'split', 'declare', 'submitted', 'unknown', 'confirmed', 'carry'] as const),
] as const
const often: readonly Act['say'][] = ['read', 'accept', 'report', 'ask', 'ask', 'carry', 'message']

const act: fc.Arbitrary<Act> = fc.record({
  say: fc.constantFrom<Act['say']>(...verbs, ...often, ...often),
  by: fc.nat({ max: 4 }),
  on: fc.nat({ max: 11 }),
  pick: fc.nat({ max: 11 }),
})

/** Two acts of those who have a request or handed it on, about the same one; the first can be overtaken at any step. */
export const rivals = (
  firsts: readonly Act['say'][],
  seconds: readonly Act['say'][],
): fc.Arbitrary<{ readonly first: Act; readonly second: Act; readonly at: number }> =>
  fc
    .record({
      first: fc.constantFrom(...firsts),
      second: fc.constantFrom(...seconds),
      on: fc.nat({ max: 3 }),
      picks: fc.tuple(fc.constantFrom(0, 1, 2, 5, 6), fc.constantFrom(0, 1, 2, 5, 6)),
      at: fc.nat({ max: 14 }),
    })
    .map(({ first, second, on, picks, at }) => ({
      first: { say: first, by: 0, on, pick: picks[0] },
      second: { say: second, by: 0, on, pick: picks[1] },
      at,
    }))

export const acts = (minLength: number, maxLength: number): fc.Arbitrary<readonly Act[]> =>
  fc.array(act, { minLength, maxLength })

/** Every history begins with work that was handed on twice over. */
export const beginning: readonly Act[] = [
  { say: 'message', by: 0, on: 0, pick: 0 },
  { say: 'begin', by: 0, on: 0, pick: 0 },
  { say: 'ask', by: 0, on: 0, pick: 0 },
  { say: 'ask', by: 2, on: 1, pick: 1 },
]

/** One call of a tool, and what was answered. */
export interface Heard {
  readonly caller: ToolCaller
  readonly verb: Act['say']
  readonly request: RequestId
  readonly receipt: Receipt
}

/** Mostly a request to which the act has something to say. */
export function isMeant(act: Act, state: ExchangeState): boolean {
  if (act.pick % 5 === 3) return true
  if (act.say === 'relate') return state.request?.parent === null
  if (/submitted|unknown|confirmed/.test(act.say)) return openEffects(state, null).length > 0
  return act.say === 'ask' || state.closed === null
}
