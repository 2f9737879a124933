import { accept, reject, type Decision } from '../decision.js'
import { openEffects, type ExchangeState } from '../exchange-state.js'
import type { DoubtEnds, Fact } from '../observation.js'
import type { ActorRef, AgentId, AttemptId, EffectId, EventId, Instant, RequestId, TextDigest } from '../refs.js'
import { acknowledged, endOfAttempt, released } from './fence.js'

export interface IntendEffect {
  readonly kind: 'intend-effect'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly attempt: AttemptId
  readonly effect: EffectId
  readonly effectKind: string
  readonly target: string
  readonly providerKey: string
  readonly doubt: DoubtEnds
  /** Of the exact input: a resubmit with another one is parked. */
  readonly input: TextDigest
}

/**
 * An attempt declares an outside effect before it causes it.
 *
 * A decision about the future: refused while a correction stands that the receiver has not assessed, while another
 * effect's outcome is unknown, and to whoever does not hold the fence.
 *
 * @returns accepted with `effect-intended`, or rejected with `request-unknown` | `request-unreadable` |
 *   `request-closed` | `request-expired` | `cancel-pending` | `attempt-unknown` | `attempt-released` | `fence-held` |
 *   `basis-unresolved` | `effect-known` | `effect-open`
 * @source RFC §5.10 (effect intents), ledger invariants 4, 17 — A7
 */
export function decideIntendEffect(state: ExchangeState, command: IntendEffect): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.expired) return reject({ reason: 'request-expired' })
  if (state.cancel === 'requested') return reject({ reason: 'cancel-pending' })
  const attempt = state.attempts.get(command.attempt)
  if (attempt === undefined) return reject({ reason: 'attempt-unknown' })
  if (attempt.released !== null) return reject({ reason: 'attempt-released' })
  if (state.fence !== attempt.id) return reject({ reason: 'fence-held', holder: state.fence ?? attempt.id })
  if (attempt.revision < state.head && !hasResolved(state, attempt.target)) {
    return reject({ reason: 'basis-unresolved', head: state.head })
  }
  if (state.effects.has(command.effect)) return reject({ reason: 'effect-known' })
  const [doubtful] = openEffects(state, null)
  if (doubtful !== undefined) return reject({ reason: 'effect-open', effect: doubtful })
  return accept({
    kind: 'effect-intended',
    request: command.requestId,
    revision: attempt.revision,
    attempt: attempt.id,
    actor: command.actor,
    at: command.at,
    effect: command.effect,
    effectKind: command.effectKind,
    target: command.target,
    providerKey: command.providerKey,
    doubt: command.doubt,
    input: command.input,
  })
}

/** This receiver itself has judged the request as it stands now: another one's word resolves nothing for it. */
function hasResolved(state: ExchangeState, agent: AgentId): boolean {
  return [...(state.judged.get(agent)?.values() ?? [])].some((one) => one.revision >= state.head)
}

export interface SettleEffect {
  readonly kind: 'settle-effect'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly effect: EffectId
  readonly became: 'submitted' | 'confirmed' | 'failed' | 'outcome-unknown'
  /** Where it can be seen; a confirmation without evidence is not one. */
  readonly evidence: string | null
}

/**
 * What became of an effect. A record of the past: it binds to its own attempt's revision and is accepted after the
 * head moved. A cancellation that waited for it is acknowledged with it.
 *
 * @returns accepted with `effect-settled` and what waited for it; or rejected with `request-unknown` |
 *   `request-unreadable` | `effect-unknown` | `effect-settled`
 * @source RFC §5.10, ledger invariants 3, 8 — A7
 */
export function decideSettleEffect(state: ExchangeState, command: SettleEffect): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  const effect = state.effects.get(command.effect)
  if (effect === undefined) return reject({ reason: 'effect-unknown' })
  if (effect.became === 'confirmed' || effect.became === 'failed') return reject({ reason: 'effect-settled' })
  const base = {
    request: command.requestId,
    revision: state.attempts.get(effect.attempt)?.revision ?? state.head,
    attempt: effect.attempt,
    actor: command.actor,
    at: command.at,
  }
  const { became, evidence } = command
  const facts: [Fact, ...Fact[]] = [{ ...base, kind: 'effect-settled', effect: command.effect, became, evidence }]
  const terminal = became === 'confirmed' || became === 'failed'
  const others = openEffects(state, null).filter((id) => id !== command.effect)
  if (terminal && state.cancel === 'requested' && state.running === null && others.length === 0) {
    facts.push(...acknowledged(state, command))
  } else if (terminal && state.closed !== null && state.running === null && others.length === 0) {
    // Everything was answered or refused while this was in doubt: now the attempt can no longer act.
    const attempt = state.attempts.get(effect.attempt)
    if (attempt?.released === null) facts.push(released(attempt, command, endOfAttempt(state)))
  }
  return accept(...facts)
}
