import { accept, reject, type Decision } from '../decision.js'
import { evolve, unopened, type ExchangeState } from '../exchange-state.js'
import type { Fact, Observation, Steered } from '../observation.js'
import type { AskId, EventId, Instant, RequestId, Revision, TurnId } from '../refs.js'

interface Steer {
  readonly eventId: EventId
  /** The follow-up that waits. */
  readonly requestId: RequestId
  readonly at: Instant
  readonly turn: TurnId
}

export interface SteerTurn extends Steer {
  readonly kind: 'steer-turn'
  /** The request that the turn runs for. */
  readonly into: RequestId
}

/**
 * The words of a follow-up are about to be put into the turn that runs before it. It stays where it is in its lane:
 * whether it goes on in the other request is for the agent to say.
 *
 * @returns accepted with `steer-intended`, or rejected with `request-unknown` | `request-unreadable` |
 *   `request-closed` | `request-held` | `request-expired` | `cancel-pending` | `turn-running` for a turn of its own |
 *   `not-related` for one that a turn has worked on, or that this turn was told before
 * @source RFC A23, delivery In 9
 */
export function decideSteer(state: ExchangeState, command: SteerTurn): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.held !== null) return reject({ reason: 'request-held' })
  if (state.expired) return reject({ reason: 'request-expired' })
  if (state.cancel !== 'none') return reject({ reason: 'cancel-pending' })
  if (state.running !== null) return reject({ reason: 'turn-running', turn: state.running })
  if (state.id === command.into) return reject({ reason: 'not-related', because: 'same-request' })
  const known = state.turns.size > 0 || state.steers.has(command.turn)
  if (known) return reject({ reason: 'not-related', because: 'already-presented' })
  return accept({ ...baseOf(state, command), kind: 'steer-intended', turn: command.turn, into: command.into })
}

export interface SettleSteer extends Steer {
  readonly kind: 'settle-steer'
  readonly became: Steered
}

/**
 * What the runtime answered: a record of the past, whatever has become of the follow-up since.
 *
 * @returns accepted with `steer-settled`, or rejected with `request-unreadable` | `effect-unknown` for what was never
 *   intended | `effect-settled`
 */
export function decideSettleSteer(state: ExchangeState, command: SettleSteer): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  const steer = state.steers.get(command.turn)
  if (steer === undefined) return reject({ reason: 'effect-unknown' })
  if (steer.became !== 'intended') return reject({ reason: 'effect-settled' })
  return accept({ ...baseOf(state, command), kind: 'steer-settled', turn: command.turn, became: command.became })
}

function baseOf(state: ExchangeState, { requestId, at }: Steer) {
  return { request: requestId, revision: state.head, attempt: null, actor: { kind: 'host' }, at } as const
}

/**
 * What the running turn of the earlier request may answer once the later one is related to it: what the later one asks,
 * and what this turn had put off until that answer. Only a turn that took the very words; what it was not told since
 * it began keeps it at its revision.
 *
 * @param asks what the later one's words are in the earlier request
 * @param due what waited for them there
 * @returns nothing when no turn runs, or when it was not told
 * @source ledger, axes (presented needs a host turn)
 */
export function toldInTurn(
  earlier: ExchangeState,
  later: ExchangeState,
  asks: readonly AskId[],
  due: readonly AskId[],
  base: Pick<Fact, 'at'> & { readonly revision: Revision },
): readonly Fact[] {
  const turn = earlier.running === null ? undefined : earlier.turns.get(earlier.running)
  if (turn === undefined) return []
  const steer = later.steers.get(turn.id)
  if (steer?.became !== 'taken' || steer.into !== earlier.id) return []
  const told = [...asks, ...due.filter((ask) => turn.asks.includes(ask))]
  if (told.length === 0) return []
  return [
    {
      ...base,
      request: earlier.id,
      revision: turn.revision === earlier.head ? base.revision : turn.revision,
      attempt: turn.attempt,
      actor: { kind: 'host' },
      kind: 'turn-steered',
      turn: turn.id,
      by: later.id,
      asks: told,
    },
  ]
}

/**
 * Did a person's word start the turn that is presented next? A recheck, a condition that came by itself and the return
 * of a child start turns in which a follow-up is not put: nobody who writes then means them.
 *
 * @param facts of the request, before the turn
 * @source delivery In 9
 */
export function startedByPerson(facts: readonly Observation[]): boolean {
  let state: ExchangeState | null = null
  let person = false
  for (const fact of facts) {
    state ??= unopened(fact.request)
    if (fact.kind === 'request-opened') person = fact.opened.sender.kind === 'person'
    else if (fact.kind === 'request-revised') person = fact.revised.sender.kind === 'person'
    else if (fact.kind === 'request-released') person = true
    else if (fact.kind === 'child-returned') person = false
    else if (fact.kind === 'deferral-due') person = fact.asks.every((ask) => waitsForOwner(state, ask))
    state = evolve(state, fact)
  }
  return person
}

function waitsForOwner(state: ExchangeState | null, ask: AskId): boolean {
  const now = state?.asks.get(ask)
  return now?.is === 'deferred' && now.until.condition.when === 'answer-from-owner'
}
