import { accept, reject, type Decision } from '../decision.js'
import { liveAttemptOf, openEffects, type ExchangeState } from '../exchange-state.js'
import type { Fact } from '../observation.js'
import type { ActorRef, AgentId, AskId, EventId, Instant, RequestId, ResultId, Revision, TextDigest } from '../refs.js'
import type { Intent } from '../request.js'
import { released } from './fence.js'

export interface OpenChild {
  readonly kind: 'open-child'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  /** Who hands on. */
  readonly agent: AgentId
  readonly child: RequestId
  readonly target: AgentId
  readonly intent: Intent
  /** Which of the parent's asks the child works on; the parent keeps the duty to answer them. */
  readonly asks: readonly AskId[]
  /** The text that the child can be opened from again. */
  readonly spec?: TextDigest | undefined
}

/**
 * The parent's side of handing work on: consultation, delegation or transfer are one contract with an intent.
 *
 * @returns accepted with `child-opened`, or rejected with `request-unknown` | `request-unreadable` | `request-closed` |
 *   `request-expired` | `cancel-pending` | `not-receiver` | `asks-own-requester` | `child-known` | `ask-unknown` |
 *   `ask-not-owed`
 * @source RFC §5.2, §5.8, ledger invariant 9 — A6
 */
export function decideOpenChild(state: ExchangeState, command: OpenChild): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.expired) return reject({ reason: 'request-expired' })
  if (state.cancel === 'requested') return reject({ reason: 'cancel-pending' })
  const attempt = liveAttemptOf(state, command.agent)
  if (attempt === null) return reject({ reason: 'not-receiver', receiver: state.request.target })
  const sender = state.request.sender
  if (sender.kind === 'agent' && sender.agent === command.target) return reject({ reason: 'asks-own-requester' })
  if (state.children.has(command.child)) return reject({ reason: 'child-known' })
  for (const ask of command.asks) {
    const now = state.asks.get(ask)
    if (now === undefined) return reject({ reason: 'ask-unknown', ask })
    if (now.is !== 'owed') return reject({ reason: 'ask-not-owed', ask })
  }
  return accept({
    kind: 'child-opened',
    request: command.requestId,
    revision: state.head,
    attempt: attempt.id,
    actor: command.actor,
    at: command.at,
    child: command.child,
    target: command.target,
    intent: command.intent,
    asks: command.asks,
    ...(command.spec === undefined ? {} : { spec: command.spec }),
  })
}

export interface ReturnChild {
  readonly kind: 'return-child'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly child: RequestId
  readonly ended: 'resolved' | 'rejected' | 'cancelled' | 'failed'
  readonly result: ResultId | null
  /** A standing policy of the request: the child's own conclusion answers its asks. */
  readonly direct: boolean
  /** The child's revision at which it had ended. */
  readonly childRevision?: Revision
}

/**
 * A child came back: exactly one return of a result reaches its parent, also after the parent's turn or session is
 * gone. What follows from it is owed by the parent's owner.
 *
 * @returns accepted with `child-returned` and, for a direct return that left nothing owed, `fence-released`; or
 *   rejected with `request-unknown` | `request-unreadable` | `child-unknown` | `child-already-returned`, or
 *   `stale-revision` when the child was corrected since
 * @source RFC §5.6, §5.10, ledger invariant 9 — A8
 */
export function decideReturnChild(state: ExchangeState, command: ReturnChild): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  const child = state.children.get(command.child)
  if (child === undefined) return reject({ reason: 'child-unknown' })
  // It works on what was passed on to it since, and comes back with that.
  if ((command.childRevision ?? child.revision) < child.revision) {
    return reject({ reason: 'stale-revision', head: child.revision })
  }
  // A newer conclusion of the same child supersedes visibly; the same one again, or an older one, does not.
  const before = [...child.formerly, ...(child.returned === null ? [] : [child.returned.result])]
  if (!child.reopened && before.includes(command.result)) return reject({ reason: 'child-already-returned' })
  const base = {
    request: command.requestId,
    revision: state.head,
    attempt: null,
    actor: { kind: 'host' },
    at: command.at,
  } as const
  const { ended, result, direct } = command
  const facts: [Fact, ...Fact[]] = [{ ...base, kind: 'child-returned', child: command.child, ended, result, direct }]
  const left = [...state.asks].some(
    ([id, ask]) => ask.is === 'deferred' || (ask.is === 'owed' && !child.asks.includes(id)),
  )
  const idle = state.running === null && openEffects(state, state.fence).length === 0
  const holder = state.fence === null ? undefined : state.attempts.get(state.fence)
  if (direct && result !== null && !left && idle && holder !== undefined) {
    facts.push(released(holder, command, 'terminal-result'))
  }
  return accept(...facts)
}

export interface ReviseChild {
  readonly kind: 'revise-child'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly child: RequestId
  readonly childRevision: Revision
  /** Asks of the parent that were passed on with the correction. */
  readonly asks: readonly AskId[]
}

/**
 * The parent's side of a correction that its child already has: the child works on the asks that were passed on, too,
 * and works again when it had come back. A record of the past: what is not owed any more is left out.
 *
 * @returns accepted with `child-revised`, or rejected with `request-unknown` | `request-unreadable` | `child-unknown`,
 *   or `child-known` when the parent was told of this revision or a later one
 * @source RFC §5.6 (a correction appends a linked revision), ledger invariant 9 — A5, A7
 */
export function decideReviseChild(state: ExchangeState, command: ReviseChild): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  const child = state.children.get(command.child)
  if (child === undefined) return reject({ reason: 'child-unknown' })
  if (command.childRevision <= child.revision) return reject({ reason: 'child-known' })
  return accept({
    kind: 'child-revised',
    request: command.requestId,
    revision: state.head,
    attempt: null,
    actor: command.actor,
    at: command.at,
    child: command.child,
    childRevision: command.childRevision,
    asks: command.asks.filter((ask) => state.asks.get(ask)?.is === 'owed'),
  })
}
