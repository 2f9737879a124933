import type { Fact } from './observation.js'
import type { AgentId, AskId, AttemptId, EffectId, EventId, RequestId, Revision, Seq, TurnId } from './refs.js'

/** Every reason for which the ledger says no. Each door answers every one, and the compiler counts. */
export type Refusal =
  | { readonly reason: 'request-unknown' }
  | { readonly reason: 'request-exists' }
  | { readonly reason: 'request-closed' }
  | { readonly reason: 'request-unreadable' }
  | { readonly reason: 'stale-revision'; readonly head: Revision }
  | { readonly reason: 'fence-held'; readonly holder: AttemptId }
  | { readonly reason: 'attempt-unknown' }
  | { readonly reason: 'attempt-released' }
  | { readonly reason: 'turn-running'; readonly turn: TurnId }
  | { readonly reason: 'turn-not-running' }
  | { readonly reason: 'request-held' }
  | { readonly reason: 'not-held' }
  | { readonly reason: 'cancel-pending' }
  | { readonly reason: 'nothing-to-cancel' }
  | { readonly reason: 'text-empty' }
  | { readonly reason: 'nothing-owed' }
  | { readonly reason: 'request-expired' }
  | { readonly reason: 'ask-unknown'; readonly ask: AskId }
  | { readonly reason: 'ask-not-owed'; readonly ask: AskId }
  /** Assessment needs presentation, or context provided, of the revision that it judges, to the same agent. */
  | { readonly reason: 'not-presented' }
  /** A result needs the receiver's own assessment of what it covers. */
  | { readonly reason: 'not-assessed'; readonly ask: AskId }
  | { readonly reason: 'not-receiver'; readonly receiver: AgentId | null }
  | { readonly reason: 'effect-unknown' }
  | { readonly reason: 'effect-known' }
  | { readonly reason: 'effect-settled' }
  /** Its outcome is unknown: it is reconciled before anything else may act. */
  | { readonly reason: 'effect-open'; readonly effect: EffectId }
  /** A correction came that the receiver has not assessed: its resolution comes before the next effect. */
  | { readonly reason: 'basis-unresolved'; readonly head: Revision }
  | { readonly reason: 'child-unknown' }
  | { readonly reason: 'child-known' }
  | { readonly reason: 'child-already-returned' }
  /** One's own requester is answered with report_result, not asked the same. */
  | { readonly reason: 'asks-own-requester' }
  | { readonly reason: 'wait-cycle'; readonly through: readonly RequestId[] }
  | {
      readonly reason: 'not-related'
      readonly because:
        'other-conversation' | 'other-sender' | 'already-presented' | 'already-answered' | 'handed-on' | 'same-request'
    }
  | { readonly reason: 'agent-unknown' }
  | { readonly reason: 'not-admitted'; readonly because: readonly string[] }
  | { readonly reason: 'stale-epoch' }
  | { readonly reason: 'too-large'; readonly limit: number }
  | { readonly reason: 'bad-reference'; readonly field: string }
  | { readonly reason: 'result-unknown' }

export type RefusalReason = Refusal['reason']

/** One command makes one non-empty list of facts, all or none. */
export type Decision =
  | { readonly outcome: 'accepted'; readonly facts: readonly [Fact, ...Fact[]] }
  | { readonly outcome: 'rejected'; readonly refusal: Refusal }

/** The answer of the loop, in the RFC's four words. A refusal is not recorded: the same event id is decided again. */
export type Receipt =
  | { readonly outcome: 'accepted'; readonly eventId: EventId; readonly seq: Seq; readonly revision: Revision }
  | { readonly outcome: 'already-applied'; readonly eventId: EventId; readonly seq: Seq; readonly revision: Revision }
  | { readonly outcome: 'conflict'; readonly eventId: EventId }
  | { readonly outcome: 'rejected'; readonly refusal: Refusal }

export function accept(...facts: readonly [Fact, ...Fact[]]): Decision {
  return { outcome: 'accepted', facts }
}

export function reject(refusal: Refusal): Decision {
  return { outcome: 'rejected', refusal }
}
