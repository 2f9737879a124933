import type { SemanticContext } from '../context.js'
import type { Refusal } from '../decision.js'
import type { ExchangeState } from '../exchange-state.js'
import type { Fact } from '../observation.js'
import type { ActorRef, AskId, EventId, Instant, RequestId, Revision } from '../refs.js'
import type { WorkRequest } from '../request.js'

/** New words of whoever asked: every command that makes the next revision of one request says these. */
export interface NextRevision {
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  /** The revision that the author saw. */
  readonly onRevision: Revision
  readonly request: WorkRequest
  readonly context: SemanticContext
}

/** Null when the author saw the head, and what it says comes right after it. */
export function staleOf(state: ExchangeState, command: NextRevision): Refusal | null {
  const next = command.onRevision === state.head && command.request.revision === state.head + 1
  return next ? null : { reason: 'stale-revision', head: state.head }
}

/** What every fact of such a command carries: it belongs to the revision that it makes. */
export const baseOfNext = ({ requestId, request, actor, at }: NextRevision) =>
  ({ request: requestId, revision: request.revision, attempt: null, actor, at }) as const

/** Asks that were put off until whoever asked says more. */
export function awaitingAnswer(state: ExchangeState): readonly AskId[] {
  return [...state.asks].flatMap(([id, ask]) =>
    ask.is === 'deferred' && ask.until.condition.when === 'answer-from-owner' ? [id] : [],
  )
}

/**
 * New words are the answer that some asks wait for: those are owed again, by a fact of the same command.
 *
 * @param base of the facts of that command
 * @source ledger invariant 11 (`answer-from-owner`)
 */
export function answered(
  state: ExchangeState,
  base: Pick<Fact, 'request' | 'revision' | 'attempt' | 'actor' | 'at'>,
): readonly Fact[] {
  const asks = awaitingAnswer(state)
  return asks.length === 0 ? [] : [{ ...base, kind: 'deferral-due', asks, because: 'condition' }]
}
