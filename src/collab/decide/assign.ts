import type { DispatchAttempt } from '../attempt.js'
import { accept, reject, type Decision } from '../decision.js'
import { owesSynthesis, type ExchangeState } from '../exchange-state.js'
import type { ActorRef, EventId, Instant, RequestId } from '../refs.js'

export interface AssignAttempt {
  readonly kind: 'assign-attempt'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly attempt: DispatchAttempt
}

/**
 * Decides whether one more attempt may start on a request.
 *
 * Pure: no clock, no store, no id made here. A decision about the future looks at the head.
 *
 * @returns accepted with one `attempt-assigned`, or rejected with `request-unknown` | `request-unreadable` |
 *   `request-closed` | `cancel-pending` | `stale-revision` | `fence-held`
 * @source RFC §5.10 (one effectful attempt across all revisions) — A7, A18
 */
export function decideAssign(state: ExchangeState, command: AssignAttempt): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null && !owesSynthesis(state)) return reject({ reason: 'request-closed' })
  if (state.cancel === 'requested') return reject({ reason: 'cancel-pending' })
  if (state.expired) return reject({ reason: 'request-expired' })
  if (command.attempt.revision !== state.head) return reject({ reason: 'stale-revision', head: state.head })
  if (command.attempt.effectful && state.fence !== null) return reject({ reason: 'fence-held', holder: state.fence })
  return accept({
    kind: 'attempt-assigned',
    request: command.requestId,
    revision: command.attempt.revision,
    attempt: command.attempt.id,
    actor: command.actor,
    at: command.at,
    assigned: command.attempt,
  })
}
