import { accept, reject, type Decision } from '../decision.js'
import { openEffects, type ExchangeState } from '../exchange-state.js'
import type { Fact } from '../observation.js'
import type { ActorRef, EventId, Instant, RequestId, Revision } from '../refs.js'
import { acknowledged } from './fence.js'

interface Control {
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
}

export interface CancelRequest extends Control {
  readonly kind: 'cancel-request'
  /** Null when the provider withdrew the trigger: that is not tied to a revision that anybody saw. */
  readonly onRevision: Revision | null
  readonly because: 'owner' | 'trigger-recalled' | 'requester' | 'authority-gone'
  /** A turn has begun on a runtime that has not said so yet; its end is the safe boundary, as of any other. */
  readonly executing?: boolean
}

/**
 * Cancellation takes effect at a safe boundary: at once when nothing runs, else when the running turn has ended.
 *
 * @returns accepted with `cancel-requested` and, when nothing runs, what `acknowledged` says; or rejected with
 *   `request-unknown` | `request-unreadable` | `request-closed` | `stale-revision` | `cancel-pending`
 * @source RFC §5.10 (control axis), ledger invariants 4, 8 — A7
 */
export function decideCancel(state: ExchangeState, command: CancelRequest): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.cancel === 'requested') return reject({ reason: 'cancel-pending' })
  if (command.onRevision !== null && command.onRevision !== state.head) {
    return reject({ reason: 'stale-revision', head: state.head })
  }
  const base = baseOf(state, command)
  const facts: [Fact] = [{ ...base, kind: 'cancel-requested', because: command.because }]
  const mayAct = state.running !== null || command.executing === true || openEffects(state, null).length > 0
  if (mayAct) return accept(...facts)
  return accept(...facts, ...acknowledged(state, command))
}

export interface RecallTrigger extends Control {
  readonly kind: 'recall-trigger'
}

/**
 * The owner withdrew the message. Before the first turn that cancels the request; during or after it does not.
 *
 * @returns what `decideCancel` returns, or accepted with `trigger-recalled`
 * @source RFC §5.10 — delivery In 10
 */
export function decideRecall(state: ExchangeState, command: RecallTrigger): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.turns.size === 0) {
    return decideCancel(state, { ...command, kind: 'cancel-request', onRevision: null, because: 'trigger-recalled' })
  }
  if (state.recalled) return reject({ reason: 'nothing-to-cancel' })
  return accept({ ...baseOf(state, command), kind: 'trigger-recalled' })
}

/** Held, or failed for good: both wait for somebody's word. */
export interface ReleaseHeld extends Control {
  readonly kind: 'release-held'
}

/**
 * The owner says that a held request shall run.
 *
 * @returns accepted with `request-released`, or rejected with `request-unknown` | `request-unreadable` |
 *   `request-closed` | `not-held`
 */
export function decideRelease(state: ExchangeState, command: ReleaseHeld): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.held === null && state.failure === null) return reject({ reason: 'not-held' })
  return accept({ ...baseOf(state, command), kind: 'request-released' })
}

export interface HoldRequest extends Control {
  readonly kind: 'hold-request'
  readonly because?: 'stopped' | 'backlog'
}

/**
 * What waits behind a stop, before a fresh conversation, or too long behind a turn, starts by the owner's word only. A
 * turn that runs is not held: it is ended, and its end holds the request.
 *
 * @returns accepted with `request-held`, or rejected with `request-unknown` | `request-unreadable` | `request-closed` |
 *   `request-held` | `turn-running`
 * @source delivery In 9
 */
export function decideHold(state: ExchangeState, command: HoldRequest): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.held !== null) return reject({ reason: 'request-held' })
  if (state.running !== null) return reject({ reason: 'turn-running', turn: state.running })
  const { because = 'stopped' } = command
  return accept({ ...baseOf(state, command), actor: { kind: 'host' }, kind: 'request-held', because })
}

export interface SkipHeld extends Control {
  readonly kind: 'skip-held'
}

/**
 * The owner says that a held request shall not run: its asks are rejected with that reason, never dropped silently.
 *
 * @returns accepted with `request-rejected` and, when an attempt stood, `fence-released`; or rejected with
 *   `request-unknown` | `request-unreadable` | `request-closed` | `not-held`
 */
export function decideSkip(state: ExchangeState, command: SkipHeld): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.held === null) return reject({ reason: 'not-held' })
  const rejected: Fact = { ...baseOf(state, command), kind: 'request-rejected', because: 'skipped-by-owner' }
  // One that a stop had ended has an attempt; while an effect of it is in doubt its settlement releases the fence.
  const attempt = state.fence === null ? undefined : state.attempts.get(state.fence)
  if (attempt === undefined || openEffects(state, attempt.id).length > 0) return accept(rejected)
  return accept(rejected, {
    ...baseOf(state, command),
    revision: attempt.revision,
    attempt: attempt.id,
    actor: { kind: 'host' },
    kind: 'fence-released',
    because: 'request-closed',
  })
}

function baseOf(state: ExchangeState, command: Control) {
  return {
    request: command.requestId,
    revision: state.head,
    attempt: null,
    actor: command.actor,
    at: command.at,
  } as const
}
