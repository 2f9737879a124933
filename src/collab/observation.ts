import type { DispatchAttempt, FenceRelease } from './attempt.js'
import type { SemanticContext } from './context.js'
import type { OutgoingFile } from './channel.js'
import type { HostRefusal } from './host-refusal.js'
import type { TurnFailure } from './ports.js'
import type {
  ActorRef,
  AgentId,
  AskId,
  AttemptId,
  EffectId,
  EventId,
  Instant,
  RequestId,
  ResultId,
  Revision,
  Seq,
  TextDigest,
  TurnId,
} from './refs.js'
import type { Ask, Intent, WorkRequest } from './request.js'

/** What every fact carries. Bodies stand in `texts`; a fact holds their digest. */
interface Base {
  readonly request: RequestId
  /** The revision it belongs to: its own attempt's for records of the past, the head for decisions. */
  readonly revision: Revision
  readonly attempt: AttemptId | null
  readonly actor: ActorRef
  readonly at: Instant
}

/** Why a turn stopped without an answer. `failed` says which of the runtime's failures it was. */
export type TurnEnding =
  | { readonly ended: 'completed' }
  | { readonly ended: 'interrupted'; readonly because: 'shutdown' | 'stop' | 'holder-gone' }
  | { readonly ended: 'failed'; readonly because: TurnFailure }

/** Why the owner was told that nothing more of a request starts by itself. */
export type HandedOver = TurnFailure | 'interrupted' | 'repeated-crash'

/** Why a request waits for its owner's word. `backlog`: too many, or too long, waited behind a turn. */
export type HeldFor = 'late' | 'stopped' | 'backlog'

/** What became of words that were put into a running turn; after a crash in between nobody has said. */
export type Steered = 'taken' | 'too-late' | 'unsupported' | 'unknown'

/** Allowed this once; refused by the person who was asked; or nobody said anything while the turn ran. */
export type ApprovalEnd = 'allowed' | 'refused' | 'lapsed'

/** A committed conclusion (`result`) or an answer that covers nothing (`interim`). */
export interface ResultRecord {
  readonly id: ResultId
  readonly kind: 'result' | 'interim'
  readonly textDigest: TextDigest
  readonly conclusionDigest: TextDigest | null
  readonly accessScope: string
  readonly covers: readonly AskId[]
  readonly remainder: readonly AskId[]
  readonly files: readonly OutgoingFile[]
  readonly supersedes: ResultId | null
}

/** What a receiver says of one ask, with its reason (RFC §5.5). */
export type AskJudgment =
  | { readonly ask: AskId; readonly judgment: 'accepted' | 'no-change'; readonly reason: string }
  | { readonly ask: AskId; readonly judgment: 'rejected'; readonly reason: string }
  | { readonly ask: AskId; readonly judgment: 'deferred'; readonly reason: string; readonly until: Deferral }

/** Who owes a deferred ask, and what makes it due again. Free text is a note and needs an `at`. */
export interface Deferral {
  readonly owner: string
  readonly condition: DeferralCondition
  /** The next recheck, also when the condition has not come. */
  readonly recheckAt: Instant
}

export type DeferralCondition =
  | { readonly when: 'at' }
  | { readonly when: 'request-resolved'; readonly request: RequestId }
  | { readonly when: 'host-back'; readonly host: string }
  | { readonly when: 'agent-free'; readonly agent: AgentId }
  | { readonly when: 'answer-from-owner' }
  | { readonly when: 'note'; readonly note: string }

/** The whole assessment, read off its asks. */
export type Verdict = 'accepted' | 'partially-accepted' | 'deferred' | 'rejected' | 'no-change'

/** Who may own the work state of a goal. There is one for each goal, and none stands in for another (RFC §5.12). */
export type WorkSource = 'canonical' | 'loopx'

/** A receipt of the work owner that belongs to this request; never a copy of its objects (RFC §5.12). */
export interface WorkReceipt {
  readonly owner: WorkSource
  readonly operation: string
  readonly refs: readonly { readonly ref: string; readonly revision: string | 'unknown' }[]
}

/** How the doubt about an effect ends: by looking it up, by the same key within a window, or by a person. */
export type DoubtEnds =
  { readonly by: 'look-up' } | { readonly by: 'resubmit'; readonly windowMs: number } | { readonly by: 'none' }

/** One candidate of a selection, with why it was admitted or not; unknown stays unknown. */
export interface Candidate {
  readonly agent: AgentId
  readonly admitted: boolean
  readonly reasons: readonly string[]
}

/** Why a receiver has not begun; each is a fact, not a poll. */
export type WaitReason = 'queued-until-wake' | 'busy' | 'offline' | 'unsupported'

/** Every kind of fact that the ledger can hold. A new kind does not compile until it is folded and given a codec. */
export type Fact =
  | (Base & { readonly kind: 'request-opened'; readonly opened: WorkRequest; readonly context: SemanticContext })
  | (Base & {
      readonly kind: 'request-revised'
      readonly revised: WorkRequest
      readonly context: SemanticContext
      /** Of a correction that an asker passed on: the asks of its own request that it is about. */
      readonly about?: readonly AskId[] | undefined
    })
  /** Kept and owed, but nothing starts by itself. */
  | (Base & { readonly kind: 'request-held'; readonly because: HeldFor })
  | (Base & { readonly kind: 'request-released' })
  | (Base & { readonly kind: 'request-rejected'; readonly because: 'skipped-by-owner' })
  | (Base & { readonly kind: 'attempt-assigned'; readonly assigned: DispatchAttempt })
  /** Needs a real host turn: an inbox read is not presentation (RFC §5.6). */
  | (Base & {
      readonly kind: 'turn-presented'
      readonly turn: TurnId
      readonly hostTurn: string
      readonly asks: readonly AskId[]
      readonly contextItems: readonly string[]
    })
  /** Of a request that waits: its words are about to be put into this turn, which runs for another request. */
  | (Base & { readonly kind: 'steer-intended'; readonly turn: TurnId; readonly into: RequestId })
  | (Base & { readonly kind: 'steer-settled'; readonly turn: TurnId; readonly became: Steered })
  /** The running turn was told these asks while it ran, and its agent said that they belong to its request. */
  | (Base & {
      readonly kind: 'turn-steered'
      readonly turn: TurnId
      readonly by: RequestId
      readonly asks: readonly AskId[]
    })
  | (Base & { readonly kind: 'turn-ended'; readonly turn: TurnId; readonly ending: TurnEnding })
  /** The agent asked to do something that no grant covers; it was refused once and the owner is told. */
  | (Base & { readonly kind: 'approval-refused'; readonly turn: TurnId; readonly operation: TextDigest })
  /** The agent asked, and its turn waits for a person's word. */
  | (Base & {
      readonly kind: 'approval-asked'
      readonly turn: TurnId
      readonly approval: string
      readonly operation: TextDigest
    })
  | (Base & {
      readonly kind: 'approval-settled'
      readonly turn: TurnId
      readonly approval: string
      readonly operation: TextDigest
      readonly as: ApprovalEnd
      /** The standing grant by which it was allowed; null: a person's word, or none. */
      readonly grant: string | null
    })
  /** The agent's host refused an operation by itself; `operation` is null where the host does not say what it was. */
  | (Base &
      Omit<HostRefusal, 'operation'> & {
        readonly kind: 'refused-by-host'
        readonly turn: TurnId
        readonly operation: TextDigest | null
      })
  /** Left running by the turn, and ended by its host when the turn was over. */
  | (Base & {
      readonly kind: 'ended-with-turn'
      readonly turn: TurnId
      readonly tool: string
      readonly command: TextDigest
    })
  /** `turn` is null when an agent reported without a turn of ours. */
  | (Base & { readonly kind: 'result-committed'; readonly turn: TurnId | null; readonly result: ResultRecord })
  /** Committed and kept from its place: the question was withdrawn while the work ran. */
  | (Base & { readonly kind: 'result-withheld'; readonly result: ResultId })
  | (Base & { readonly kind: 'withheld-settled'; readonly result: ResultId; readonly as: 'shown' | 'dropped' })
  /** The tries are used up: the owner is told, and a replay may begin again. */
  | (Base & { readonly kind: 'failure-handed-over'; readonly because: HandedOver })
  /** `requester`: the agent that asked for it, or the end of the request that it was opened for. */
  | (Base & {
      readonly kind: 'cancel-requested'
      /** `authority-gone`: whoever asked may not start work there any more. */
      readonly because: 'owner' | 'trigger-recalled' | 'requester' | 'authority-gone'
    })
  | (Base & { readonly kind: 'cancel-acknowledged' })
  /** What an agent says of its work for whoever goes on with it; it judges, covers and closes nothing. */
  | (Base & { readonly kind: 'brief-saved'; readonly agent: AgentId; readonly brief: TextDigest })
  /** Blocks new dispatch only: what is in flight goes on. */
  | (Base & { readonly kind: 'request-expired' })
  /** A later message was related to an earlier request and goes on there; both keep their words. */
  | (Base & {
      readonly kind: 'request-continued'
      readonly into: RequestId
      readonly intoRevision: Revision
      readonly as: 'addition' | 'correction' | 'context'
    })
  /** The manager named the substantive questions of a message; the verbatim text stays with the first. */
  | (Base & { readonly kind: 'asks-split'; readonly of: AskId; readonly into: readonly Ask[] })
  /** Stored for exactly this receiver at this revision; no claim that it was read. */
  | (Base & { readonly kind: 'inbox-stored'; readonly agent: AgentId })
  /** Pulled without a host turn: never shown as presented. */
  | (Base & { readonly kind: 'context-provided'; readonly agent: AgentId; readonly session: string })
  | (Base & {
      readonly kind: 'assessed'
      readonly agent: AgentId
      readonly verdict: Verdict
      readonly asks: readonly AskJudgment[]
      readonly basis: 'presented' | 'context-provided'
    })
  /** A deferral's condition came, or its recheck time: the ask is owed again. */
  | (Base & {
      readonly kind: 'deferral-due'
      readonly asks: readonly AskId[]
      readonly because: 'condition' | 'recheck'
    })
  | (Base & { readonly kind: 'work-linked'; readonly receipt: WorkReceipt })
  | (Base & {
      readonly kind: 'effect-intended'
      readonly effect: EffectId
      readonly effectKind: string
      readonly target: string
      readonly providerKey: string
      readonly doubt: DoubtEnds
      readonly input: TextDigest
    })
  | (Base & {
      readonly kind: 'effect-settled'
      readonly effect: EffectId
      readonly became: 'submitted' | 'confirmed' | 'failed' | 'outcome-unknown'
      readonly evidence: string | null
    })
  /** Candidates and reasons of one choice of a receiver, and what was chosen by whom. */
  | (Base & {
      readonly kind: 'receiver-selected'
      readonly candidates: readonly Candidate[]
      readonly chosen: AgentId | null
      readonly reason: string
    })
  | (Base & {
      readonly kind: 'child-opened'
      readonly child: RequestId
      readonly target: AgentId
      readonly intent: Intent
      readonly asks: readonly AskId[]
      /** Everything that the child is made of, so that a crash before its own commit loses nothing. */
      readonly spec?: TextDigest | undefined
    })
  /** The asker corrected a child: which asks of its own request it passed on with that. */
  | (Base & {
      readonly kind: 'child-revised'
      readonly child: RequestId
      readonly childRevision: Revision
      readonly asks: readonly AskId[]
    })
  /** What came back from a child: its result, or its end without one. The parent's owner integrates it. */
  | (Base & {
      readonly kind: 'child-returned'
      readonly child: RequestId
      readonly ended: 'resolved' | 'rejected' | 'cancelled' | 'failed'
      readonly result: ResultId | null
      readonly direct: boolean
    })
  | (Base & { readonly kind: 'receiver-waits'; readonly agent: AgentId; readonly because: WaitReason })
  /** Withdrawn during or after its turn: not a cancellation. */
  | (Base & { readonly kind: 'trigger-recalled' })
  /** A message of our own app that no delivery sent, written while this turn ran. It answers nothing. */
  | (Base & {
      readonly kind: 'sent-outside'
      readonly during: TurnId
      readonly messageId: string
      readonly messageType: string
      readonly writtenAt: Instant
    })
  | (Base & { readonly kind: 'fence-released'; readonly because: FenceRelease })

export type FactKind = Fact['kind']

/** A stored fact. Its identity is (event id, ordinal); `seq` orders the facts of one request. */
export type Observation = { readonly eventId: EventId; readonly ordinal: number; readonly seq: Seq } & (
  | Fact
  /** Written by a version that we do not know: it blocks decisions on its request and is shown; it never throws. */
  | (Base & { readonly kind: 'unreadable-fact'; readonly storedKind: string; readonly storedVersion: number })
)
