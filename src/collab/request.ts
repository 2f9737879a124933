import type { PolicyRef } from './chat-policy.js'
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

/** What the provider said of a person, captured when their message came in; null where it said nothing. */
interface Provided {
  readonly openId: string
  readonly tenantKey?: string | null | undefined
  readonly unionId?: string | null | undefined
}

/**
 * Whose authority a request carries: the person at its root, through every hand-over. Text never grants anything.
 *
 * A member's request never carries an owner's identity: it uses none of an owner's grants, and nobody is asked to widen
 * it. `policy` is what admitted it. `sponsor` is the owner who is told of what concerns it, null when there is none.
 *
 * @source RFC §5.3
 */
export type AuthorityRef =
  | (Provided & { readonly principal: 'owner' })
  | (Provided & {
      readonly principal: 'member'
      readonly policy: PolicyRef
      readonly membership: string | null
      readonly sponsor: string | null
    })

/** The same right of the same person. One who was a member and is an owner now has another one. */
export function sameAuthority(a: AuthorityRef, b: AuthorityRef): boolean {
  return a.principal === b.principal && a.openId === b.openId
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
