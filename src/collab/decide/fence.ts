import type { DispatchAttempt, FenceRelease } from '../attempt.js'
import { accept, reject, type Decision } from '../decision.js'
import { openEffects, type ExchangeState } from '../exchange-state.js'
import type { Fact } from '../observation.js'
import type { AttemptId, EventId, Instant, RequestId } from '../refs.js'

export interface QuiesceAttempt {
  readonly kind: 'quiesce-attempt'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly attempt: AttemptId
}

/**
 * Releases the fence of an attempt that is proved not to execute: no turn of the request runs and no effect of it is
 * open. A correction alone never does.
 *
 * @returns accepted with `fence-released(quiescent)`, or rejected with `attempt-unknown` | `attempt-released` |
 *   `turn-running` | `effect-open`
 * @source RFC §5.10, ledger invariant 4 — A7, A18
 */
export function decideQuiesce(state: ExchangeState, command: QuiesceAttempt): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  const attempt = state.attempts.get(command.attempt)
  if (attempt === undefined) return reject({ reason: 'attempt-unknown' })
  if (attempt.released !== null) return reject({ reason: 'attempt-released' })
  if (state.running !== null) return reject({ reason: 'turn-running', turn: state.running })
  const [doubtful] = openEffects(state, attempt.id)
  if (doubtful !== undefined) return reject({ reason: 'effect-open', effect: doubtful })
  return accept(released(attempt, command, 'quiescent'))
}

/** An attempt can no longer act: said by the host, of the attempt's own revision. */
export function released(
  attempt: DispatchAttempt,
  command: { readonly requestId: RequestId; readonly at: Instant },
  because: FenceRelease,
): Fact {
  return {
    kind: 'fence-released',
    request: command.requestId,
    revision: attempt.revision,
    attempt: attempt.id,
    actor: { kind: 'host' },
    at: command.at,
    because,
  }
}

/** Why an attempt is over on a request that is closed: something was answered, or everything was refused. */
export function endOfAttempt(state: ExchangeState): FenceRelease {
  return state.closed === 'resolved' ? 'terminal-result' : 'request-closed'
}

/**
 * A cancellation that took effect: every attempt that stood can no longer act, each at its own revision. Only for when
 * nothing runs any more and no effect is in doubt.
 *
 * @param ended an attempt that the same decision has released already
 * @source ledger invariants 4, 8
 */
export function acknowledged(
  state: ExchangeState,
  command: { readonly requestId: RequestId; readonly at: Instant },
  ended: AttemptId | null = null,
): readonly [...Fact[], Fact] {
  const live = [...state.attempts.values()].filter((one) => one.released === null && one.id !== ended)
  return [
    ...live.map((one) => released(one, command, 'cancel-acknowledged')),
    {
      request: command.requestId,
      revision: state.head,
      attempt: null,
      actor: { kind: 'host' },
      at: command.at,
      kind: 'cancel-acknowledged',
    },
  ]
}
