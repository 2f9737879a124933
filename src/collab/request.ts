import type {
  ActorRef,
  AgentId,
  AskId,
  ConversationId,
  Instant,
  OriginRef,
  RequestId,
  ReturnTo,
  Revision,
  TextDigest,
} from './refs.js'

/** Consultation asks for a judgment, delegation for work, ownership-transfer for taking over (RFC §5.10). */
export type Intent = 'consultation' | 'delegation' | 'ownership-transfer'

export type RevisionKind = 'original' | 'correction' | 'addition' | 'cancellation'

/** One substantive question. Its words stand in `texts` under the digest. */
export interface Ask {
  readonly id: AskId
  readonly textDigest: TextDigest
}

/** Whose authority a request carries, until grants exist: the bound owner at its root. Text never grants anything. */
export interface AuthorityRef {
  readonly principal: 'owner'
  readonly openId: string
}

/** A request at one committed revision (RFC §5.10). */
export interface WorkRequest {
  readonly id: RequestId
  readonly revision: Revision
  readonly kind: RevisionKind
  readonly parent: RequestId | null
  readonly conversation: ConversationId
  readonly origin: OriginRef
  readonly sender: ActorRef
  readonly intent: Intent
  /** May be absent only while unassigned. */
  readonly target: AgentId | null
  readonly authority: AuthorityRef
  readonly contextDigest: TextDigest
  readonly returnTo: ReturnTo
  readonly workRefs: readonly string[]
  readonly asks: readonly Ask[]
  readonly supersedes: Revision | null
  readonly openedAt: Instant
}
