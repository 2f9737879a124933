import type { AgentId, ConversationId, Instant, TextDigest } from './refs.js'

/**
 * A standing permission: one agent may do one exact operation in the name of one owner, for one conversation. It is
 * asked for at every use, and whatever is not exactly this is not covered.
 *
 * @source RFC §5.3 (principal, scope, effect, audience; expiry and revocation)
 */
export interface Grant {
  readonly id: string
  readonly agent: AgentId
  /** The owner who gave it and in whose name it is used. */
  readonly openId: string
  /** The audience: what is allowed here is not allowed elsewhere. */
  readonly conversation: ConversationId
  /** By the digest of its exact words, as the runtime said them. */
  readonly operation: TextDigest
  readonly issuedAt: Instant
  /** Null: until it is revoked. */
  readonly expiresAt: Instant | null
  readonly revokedAt: Instant | null
}

/** One use, at the moment at which it would happen. */
export type Use = Pick<Grant, 'agent' | 'openId' | 'conversation' | 'operation'> & { readonly at: Instant }

/** Whether this grant allows this use. A revoked or expired one allows nothing, and one of the future nothing yet. */
export function covers(grant: Grant, use: Use): boolean {
  return (
    grant.agent === use.agent &&
    grant.openId === use.openId &&
    grant.conversation === use.conversation &&
    grant.operation === use.operation &&
    grant.issuedAt <= use.at &&
    (grant.expiresAt === null || use.at < grant.expiresAt) &&
    (grant.revokedAt === null || use.at < grant.revokedAt)
  )
}

/** The grant that allows a use, whatever the order in which they stand; null when none does. */
export function grantFor(grants: readonly Grant[], use: Use): Grant | null {
  const found = grants.filter((grant) => covers(grant, use))
  return found.toSorted((a, b) => a.issuedAt - b.issuedAt || (a.id < b.id ? -1 : 1))[0] ?? null
}
