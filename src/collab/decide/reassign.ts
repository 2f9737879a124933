import type { DispatchAttempt } from '../attempt.js'
import { accept, reject, type Decision } from '../decision.js'
import { openEffects, type AttemptState, type ExchangeState } from '../exchange-state.js'
import type { Candidate } from '../observation.js'
import type { ActorRef, AgentId, EventId, Instant, RequestId } from '../refs.js'
import { released } from './fence.js'

export interface ReassignRequest {
  readonly kind: 'reassign-request'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  /** The new receiver's attempt. */
  readonly attempt: DispatchAttempt
  readonly candidates: readonly Candidate[]
  readonly reason: string
  /** Receivers whose executor this host ends with their turn: for these a turn that has ended proves quiescence. */
  readonly enforced: ReadonlySet<AgentId>
}

/**
 * Another receiver gets the request. The former attempt must be proved unable to act: no turn runs, no effect is in
 * doubt, and its executor is ours to end or has never been given the request. Reassignment itself proves nothing.
 *
 * @returns accepted with `receiver-selected`, `fence-released` for each former attempt, `attempt-assigned` and
 *   `inbox-stored`; or rejected with `request-unknown` | `request-unreadable` | `request-closed` | `request-expired` |
 *   `cancel-pending` | `stale-revision` | `not-admitted` | `turn-running` | `effect-open` | `fence-held`
 * @source RFC §5.10 (reassignment never erases an active execution claim), ledger invariant 4 — A7, A18
 */
export function decideReassign(state: ExchangeState, command: ReassignRequest): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.expired) return reject({ reason: 'request-expired' })
  if (state.cancel === 'requested') return reject({ reason: 'cancel-pending' })
  const { attempt } = command
  if (attempt.revision !== state.head) return reject({ reason: 'stale-revision', head: state.head })
  const live = [...state.attempts.values()].filter((one) => one.released === null)
  const chosen = command.candidates.find((one) => one.agent === attempt.target)
  if (chosen?.admitted !== true) {
    return reject({ reason: 'not-admitted', because: chosen?.reasons ?? ['not among the candidates'] })
  }
  if (live.some((one) => one.target === attempt.target)) {
    return reject({ reason: 'not-admitted', because: ['it is the receiver already'] })
  }
  if (state.running !== null) return reject({ reason: 'turn-running', turn: state.running })
  const [doubtful] = openEffects(state, null)
  if (doubtful !== undefined) return reject({ reason: 'effect-open', effect: doubtful })
  const holder = live.find((one) => one.effectful && mayStillAct(state, one, command.enforced))
  if (holder !== undefined) return reject({ reason: 'fence-held', holder: holder.id })
  const base = { request: command.requestId, revision: state.head, actor: command.actor, at: command.at }
  const { candidates, reason } = command
  return accept(
    { ...base, attempt: null, kind: 'receiver-selected', candidates, chosen: attempt.target, reason },
    ...live.map((one) => released(one, command, 'quiescent')),
    { ...base, attempt: attempt.id, kind: 'attempt-assigned', assigned: attempt },
    { ...base, attempt: attempt.id, actor: { kind: 'host' }, kind: 'inbox-stored', agent: attempt.target },
  )
}

/** An executor elsewhere that has read the request: nothing here can show that it stopped. */
function mayStillAct(state: ExchangeState, attempt: AttemptState, enforced: ReadonlySet<AgentId>): boolean {
  if (enforced.has(attempt.target)) return false
  return [...state.provided].some((key) => key.startsWith(`${attempt.target}@`))
}
