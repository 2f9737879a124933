import { accept, reject, type Decision } from '../decision.js'
import { liveAttemptOf, providedKey, type ExchangeState } from '../exchange-state.js'
import type { Candidate, WaitReason, WorkReceipt } from '../observation.js'
import type { ActorRef, AgentId, AttemptId, EventId, Instant, RequestId, Revision } from '../refs.js'

interface OfReceiver {
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly agent: AgentId
}

export interface StoreInbox extends OfReceiver {
  readonly kind: 'store-inbox'
}

/**
 * The request stands in its receiver's inbox at the head; nothing is said about reading.
 *
 * @returns accepted with `inbox-stored`, or rejected with `request-unknown` | `request-unreadable` | `request-closed` |
 *   `not-receiver`
 * @source RFC §5.6
 */
export function decideStoreInbox(state: ExchangeState, command: StoreInbox): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  const attempt = liveAttemptOf(state, command.agent)
  if (attempt === null) return reject({ reason: 'not-receiver', receiver: state.request.target })
  return accept({ ...baseOf(state, command, attempt.id), kind: 'inbox-stored', agent: command.agent })
}

export interface ProvideContext extends OfReceiver {
  readonly kind: 'provide-context'
  readonly onRevision: Revision
  readonly session: string
}

/**
 * A receiver pulled the brief without a host turn: that is not presentation.
 *
 * @returns accepted with `context-provided`, or rejected with `request-unknown` | `request-unreadable` |
 *   `request-closed` | `stale-revision` | `not-receiver` | `nothing-owed` (it was provided before)
 * @source ledger, "Axes"
 */
export function decideProvide(state: ExchangeState, command: ProvideContext): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (command.onRevision !== state.head) return reject({ reason: 'stale-revision', head: state.head })
  const attempt = liveAttemptOf(state, command.agent)
  if (attempt === null) return reject({ reason: 'not-receiver', receiver: state.request.target })
  if (state.provided.has(providedKey(command.agent, state.head))) return reject({ reason: 'nothing-owed' })
  const base = baseOf(state, command, attempt.id)
  return accept({ ...base, kind: 'context-provided', agent: command.agent, session: command.session })
}

export interface ObserveWait extends OfReceiver {
  readonly kind: 'observe-wait'
  readonly because: WaitReason
}

/**
 * Why the receiver has not begun; said once per reason, not per look.
 *
 * @returns accepted with `receiver-waits`, or rejected with `request-unknown` | `request-unreadable` | `request-closed` |
 *   `nothing-owed`
 * @source RFC §5.10 (busy, offline, unsupported are explicit observations)
 */
export function decideObserveWait(state: ExchangeState, command: ObserveWait): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.waits?.agent === command.agent && state.waits.because === command.because) {
    return reject({ reason: 'nothing-owed' })
  }
  return accept({
    ...baseOf(state, command, null),
    kind: 'receiver-waits',
    agent: command.agent,
    because: command.because,
  })
}

export interface RecordSelection {
  readonly kind: 'record-selection'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly candidates: readonly Candidate[]
  readonly chosen: AgentId | null
  readonly reason: string
}

/**
 * The candidates of one choice with their reasons, and what was chosen; "no suitable worker" is an answer.
 *
 * @returns accepted with `receiver-selected`, or rejected with `request-unknown` | `request-unreadable` |
 *   `not-admitted`
 * @source RFC §5.5 — A4, A24
 */
export function decideRecordSelection(state: ExchangeState, command: RecordSelection): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  const chosen = command.candidates.find((candidate) => candidate.agent === command.chosen)
  if (command.chosen !== null && chosen?.admitted !== true) {
    return reject({ reason: 'not-admitted', because: chosen?.reasons ?? ['not among the candidates'] })
  }
  return accept({
    ...baseOf(state, command, null),
    kind: 'receiver-selected',
    candidates: command.candidates,
    chosen: command.chosen,
    reason: command.reason,
  })
}

export interface LinkWork extends OfReceiver {
  readonly kind: 'link-work'
  readonly receipt: WorkReceipt
}

/**
 * A receipt of the work owner belongs to this request. A record of the past: it lands on its attempt's own revision.
 *
 * @returns accepted with `work-linked`, or rejected with `request-unknown` | `request-unreadable` | `attempt-unknown`
 * @source RFC §5.12 — A7, A15
 */
export function decideLinkWork(state: ExchangeState, command: LinkWork): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  const attempt = [...state.attempts.values()].findLast((one) => one.target === command.agent)
  if (attempt === undefined) return reject({ reason: 'attempt-unknown' })
  return accept({
    kind: 'work-linked',
    request: command.requestId,
    revision: attempt.revision,
    attempt: attempt.id,
    actor: command.actor,
    at: command.at,
    receipt: command.receipt,
  })
}

function baseOf(
  state: ExchangeState,
  command: { readonly requestId: RequestId; readonly actor: ActorRef; readonly at: Instant },
  attempt: AttemptId | null,
) {
  return { request: command.requestId, revision: state.head, attempt, actor: command.actor, at: command.at } as const
}
