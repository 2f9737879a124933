import { accept, reject, type Decision } from '../decision.js'
import { openEffects, type ExchangeState } from '../exchange-state.js'
import { isCrash } from '../fold.js'
import type { Fact, TurnEnding } from '../observation.js'
import type { TurnFailure } from '../ports.js'
import type { ActorRef, AttemptId, EventId, Instant, RequestId, TextDigest, TurnId } from '../refs.js'
import { acknowledged, endOfAttempt, released } from './fence.js'

/** Crashes in a row after which a request waits for somebody's word: what it does may be what kills its executor. */
export const CRASHES = 3

export interface EndTurn {
  readonly kind: 'end-turn'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly turn: TurnId
  /** Whose turn it was: a runtime may fail before it says that the turn began. */
  readonly attempt: AttemptId
  /** Completed only when the agent said nothing more after it had reported by its tools. */
  readonly ending: TurnEnding
  /** Failed turns after which the owner is told and nothing more starts by itself. */
  readonly tries: number
}

/**
 * A turn ended without an answer: it covers nothing. A stopped or failed turn leaves the request owed; after the
 * last try, or the third crash in a row without anything new, it is handed to the owner; a waiting cancellation is acknowledged here, at the safe boundary.
 *
 * @returns accepted with `turn-ended` and what follows from it, or rejected with `request-unknown` |
 *   `request-unreadable` | `attempt-unknown` | `turn-not-running`
 * @source RFC §5.10 (control axis), ledger invariants 6, 8
 */
export function decideEndTurn(state: ExchangeState, command: EndTurn): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  const turn = state.turns.get(command.turn)
  // A turn that was presented ends on its own attempt, whatever is said.
  const attempt = state.attempts.get(turn?.attempt ?? command.attempt)
  if (attempt === undefined) return reject({ reason: 'attempt-unknown' })
  // A turn that was never presented may end; one that the ledger has ended, or that another has replaced, may not.
  const stale = turn === undefined ? state.running !== null || attempt.released !== null : turn.ending !== null
  if (stale) return reject({ reason: 'turn-not-running' })
  const base = {
    request: command.requestId,
    revision: attempt.revision,
    attempt: attempt.id,
    actor: { kind: 'host' },
    at: command.at,
  } as const
  const facts: [Fact, ...Fact[]] = [{ ...base, kind: 'turn-ended', turn: command.turn, ending: command.ending }]
  if (state.cancel === 'requested' && openEffects(state, null).length === 0) {
    facts.push(...acknowledged(state, command))
  } else if (state.closed !== null) {
    // Answered or refused while it ran: however the turn ended, nothing of it is left to do or to try again.
    const idle = attempt.released === null && openEffects(state, attempt.id).length === 0
    if (idle) facts.push(released(attempt, command, endOfAttempt(state)))
  } else if (command.ending.ended === 'interrupted' && command.ending.because === 'stop' && state.cancel === 'none') {
    // Nothing of it starts by itself; `revision` is the head's, since holding is about what comes.
    facts.push({ ...base, revision: state.head, attempt: null, kind: 'request-held', because: 'stopped' })
  } else if (command.ending.ended === 'failed' && isLast(state, command.ending.because, command.tries)) {
    facts.push({ ...base, kind: 'failure-handed-over', because: command.ending.because })
  } else if (isCrash(command.ending) && state.crashedTurns + 1 >= CRASHES) {
    facts.push({ ...base, kind: 'failure-handed-over', because: 'repeated-crash' })
  }
  return accept(...facts)
}

/** What a provider refuses by its own rules is not tried around by asking once more (RFC §5.3). */
function isLast(state: ExchangeState, because: TurnFailure, tries: number): boolean {
  return because === 'refused-by-provider' || state.failedTurns + 1 >= tries
}

export interface NoteOutside {
  readonly kind: 'note-outside'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  /** Which turn ran then; it has ended since. */
  readonly during: TurnId
  /** As the platform names and times it; its content is not looked at. */
  readonly message: { readonly id: string; readonly type: string; readonly writtenAt: Instant }
}

/**
 * A message of our own app that no delivery sent: kept on the exchange whose turn ran when it was written. It covers
 * nothing, whatever it says, and the committed result is delivered all the same.
 *
 * @returns accepted with `sent-outside`, or rejected with `request-unreadable` | `turn-not-running` for a
 *   turn that is not of this request
 * @source delivery Out 5
 */
export function decideNoteOutside(state: ExchangeState, command: NoteOutside): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  const turn = state.turns.get(command.during)
  if (turn === undefined) return reject({ reason: 'turn-not-running' })
  const { id: messageId, type: messageType, writtenAt } = command.message
  return accept({
    kind: 'sent-outside',
    request: command.requestId,
    revision: turn.revision,
    attempt: turn.attempt,
    actor: { kind: 'host' },
    at: command.at,
    during: turn.id,
    messageId,
    messageType,
    writtenAt,
  })
}

export interface RefuseApproval {
  readonly kind: 'refuse-approval'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly turn: TurnId
  readonly operation: TextDigest
}

/**
 * The agent asked for an operation that no grant covers: the refusal is kept with the turn that asked.
 *
 * @returns accepted with `approval-refused`, or rejected with `turn-not-running`
 * @source RFC §5.3 (an approval presents the exact operation; a policy refusal is not the user's refusal)
 */
export function decideRefuseApproval(state: ExchangeState, command: RefuseApproval): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  const turn = state.turns.get(command.turn)
  if (turn === undefined || turn.ending !== null) return reject({ reason: 'turn-not-running' })
  return accept({
    kind: 'approval-refused',
    request: command.requestId,
    revision: turn.revision,
    attempt: turn.attempt,
    actor: command.actor,
    at: command.at,
    turn: turn.id,
    operation: command.operation,
  })
}
