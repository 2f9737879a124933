import { accept, reject, type Decision } from '../decision.js'
import type { ExchangeState } from '../exchange-state.js'
import { digestOf } from '../../lib/digest.js'
import type { Deferral } from '../observation.js'
import type { ActorRef, AskId, EventId, Instant, RequestId, Revision } from '../refs.js'
import type { Ask } from '../request.js'

export interface SplitAsk {
  readonly kind: 'split-ask'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly onRevision: Revision
  readonly of: AskId
  readonly into: readonly [Ask, Ask, ...Ask[]]
}

/**
 * The manager names the substantive questions of one message: a typed, attributed act; the verbatim text is kept.
 *
 * @returns accepted with `asks-split`, or rejected with `request-unknown` | `request-unreadable` | `request-closed` |
 *   `stale-revision` | `ask-unknown` | `ask-not-owed`
 * @source RFC §5.11 (the manager identifies the substantive questions)
 */
export function decideSplit(state: ExchangeState, command: SplitAsk): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (command.onRevision !== state.head) return reject({ reason: 'stale-revision', head: state.head })
  const now = state.asks.get(command.of)
  if (now === undefined) return reject({ reason: 'ask-unknown', ask: command.of })
  if (now.is !== 'owed') return reject({ reason: 'ask-not-owed', ask: command.of })
  return accept({ ...baseOf(state, command), kind: 'asks-split', of: command.of, into: command.into })
}

export interface DueDeferral {
  readonly kind: 'due-deferral'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly because: 'condition' | 'recheck'
  readonly asks: readonly AskId[]
  /** The deferral of each that was found to be due; one that was put off anew since is not. Absent: all that stand. */
  readonly found?: readonly Deferral[]
}

/**
 * A deferral's condition came or its recheck time: its asks are owed again, once.
 *
 * @returns accepted with `deferral-due`, or rejected with `request-unknown` | `request-unreadable` | `request-closed` |
 *   `nothing-owed`
 * @source ledger invariant 11
 */
export function decideDue(state: ExchangeState, command: DueDeferral): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  const due = command.asks.filter((ask, n) => {
    const now = state.asks.get(ask)
    const found = command.found?.[n]
    return now?.is === 'deferred' && (found === undefined || digestOf(found) === digestOf(now.until))
  })
  if (due.length === 0) return reject({ reason: 'nothing-owed' })
  return accept({ ...baseOf(state, command), kind: 'deferral-due', asks: due, because: command.because })
}

export interface ExpireRequest {
  readonly kind: 'expire-request'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
}

/**
 * Expiry blocks new dispatch and nothing else: what is in flight goes on and is recorded.
 *
 * @returns accepted with `request-expired`, or rejected with `request-unknown` | `request-unreadable` |
 *   `request-closed` | `request-expired`
 * @source RFC §5.10 (control axis)
 */
export function decideExpire(state: ExchangeState, command: ExpireRequest): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.expired) return reject({ reason: 'request-expired' })
  return accept({ ...baseOf(state, command), kind: 'request-expired' })
}

function baseOf(state: ExchangeState, command: { requestId: RequestId; actor: ActorRef; at: Instant }) {
  return {
    request: command.requestId,
    revision: state.head,
    attempt: null,
    actor: command.actor,
    at: command.at,
  } as const
}
