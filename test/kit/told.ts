import type { Decision } from '../../src/collab/decision.js'
import { unopened, type ExchangeState } from '../../src/collab/exchange-state.js'
import type { Fact, FactKind } from '../../src/collab/observation.js'
import { digestOf } from '../../src/lib/digest.js'
import { applied, R } from './exchange.js'
import { commandFor, openingOf, type History, type Step } from './history.js'
import type { Said } from './history-aim.js'

/** One command that was taken. */
export interface Told {
  readonly step: Step['say'] | 'open'
  readonly said: Said
  readonly before: ExchangeState
  readonly facts: readonly Fact[]
  readonly state: ExchangeState
}

/** One command that was decided, taken or not, over the state that its decision saw. */
export interface Asked {
  readonly said: Said
  readonly before: ExchangeState
  readonly decision: Decision
}

/** What became of one request, in the order of its facts. */
export interface Chronicle {
  readonly told: readonly Told[]
  readonly asked: readonly Asked[]
}

/** A history told in the pure core. */
export function tell(history: History): Chronicle {
  const told: Told[] = []
  const asked: Asked[] = []
  let state = unopened(R)
  const take = (step: Told['step'], said: Said) => {
    const before = state
    const decision = decideOn(before, said)
    asked.push({ said, before, decision })
    if (decision.outcome === 'rejected') return
    state = applied(before, decision.facts, said.command.eventId)
    told.push({ step, said, before, facts: decision.facts, state })
  }
  take('open', openingOf(history.opening, R))
  for (const [n, step] of history.steps.entries()) {
    const said = step.say === 'again' ? null : commandFor(step, n, state, R, null)
    if (said !== null) take(step.say, said)
  }
  return { told, asked }
}

/** What the pure core says to a command. */
export const decideOn = (state: ExchangeState, said: Said): Decision => said.decide(state, said.command as never)

export type Of<K extends FactKind> = Extract<Fact, { kind: K }>

/** The facts of one kind in one step. */
export function factsOfKind<K extends FactKind>(facts: readonly Fact[], kind: K): readonly Of<K>[] {
  return facts.filter((fact): fact is Of<K> => fact.kind === kind)
}

/** Everything in a state, so that a change of any part of it is seen. */
export const pictureOf = (state: ExchangeState): string => digestOf(plain(state))

function plain(value: unknown): unknown {
  if (value instanceof Map) return [...value].map(([key, one]) => [key, plain(one)])
  if (value instanceof Set) return [...value].map(plain)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]))
}
