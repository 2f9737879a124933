import type { Audience, Grant, NewGrant } from '../../collab/grant.js'
import type { Effect, Scope } from '../../collab/grant-scope.js'
import type { AgentId, ConversationId, Instant, TextDigest } from '../../collab/refs.js'
import { must } from '../../lib/assert.js'
import type { SqlLike, Tx } from '../db.js'

/** How the audit line of a use begins that no approval asked for. */
export const GRANT_USE = 'grant use'

/** What is kept of a grant beside what it allows. */
export interface GrantNote {
  readonly reason: string | null
  readonly issuedBy: string | null
}

export interface GrantRow {
  readonly id: string
  readonly agent: AgentId
  readonly openId: string
  readonly conversation: ConversationId | null
  readonly operation: TextDigest | null
  readonly scope: Scope | null
  readonly effects: readonly Effect[]
  readonly parent: string | null
  readonly issuedAt: Instant
  readonly expiresAt: Instant | null
  readonly revokedAt: Instant | null
}

export function grantOf(row: GrantRow): Grant {
  const { conversation, operation, scope, ...rest } = row
  const audience: Audience = conversation === null ? { kind: 'owner-private' } : { kind: 'conversation', conversation }
  return {
    ...rest,
    audience,
    // The table holds exactly one of the two.
    scope: operation === null ? must(scope ?? undefined, 'a scope') : { kind: 'operation', digest: operation },
  }
}

/**
 * The grants of an agent in the name of one owner that may cover an operation now, with everything above them, and those
 * that ended after `since`: what covers is decided elsewhere, and what has just ended is the reason of a refusal.
 */
export async function grantsOf(
  sql: SqlLike,
  of: { readonly agent: AgentId; readonly openId: string; readonly operation: TextDigest; readonly since: number },
): Promise<readonly Grant[]> {
  const rows = await sql<GrantRow[]>`
    with recursive chain as (
      select * from collab.grants g
      where g.open_id = ${of.openId} and g.agent = ${of.agent}
        and (g.operation is null or g.operation = ${of.operation})
        and least(g.revoked_at, g.expires_at, 999999999999999) > ${of.since}
      union
      select above.* from collab.grants above join chain on above.id = chain.parent
    )
    select id, agent, open_id as "openId", conversation, operation, scope, effects, parent,
      issued_at as "issuedAt", expires_at as "expiresAt", revoked_at as "revokedAt" from chain`
  return rows.map(grantOf)
}

/** These grants with everything above them. */
export async function grantsAbove(sql: SqlLike, ids: readonly string[]): Promise<readonly Grant[]> {
  const rows = await sql<GrantRow[]>`
    with recursive chain as (
      select * from collab.grants where id = any(${[...ids]})
      union
      select above.* from collab.grants above join chain on above.id = chain.parent
    )
    select id, agent, open_id as "openId", conversation, operation, scope, effects, parent,
      issued_at as "issuedAt", expires_at as "expiresAt", revoked_at as "revokedAt" from chain`
  return rows.map(grantOf)
}

/** @returns false when one with this id stands already; nothing is added then */
export async function putGrant(sql: SqlLike, grant: NewGrant, note: GrantNote): Promise<boolean> {
  const { scope, audience } = grant
  const rows = await sql`
    insert into collab.grants (id, agent, open_id, conversation, operation, scope, effects, parent, reason, issued_by,
      issued_at, expires_at)
    values (${grant.id}, ${grant.agent}, ${grant.openId},
      ${audience.kind === 'conversation' ? audience.conversation : null},
      ${scope.kind === 'operation' ? scope.digest : null},
      ${scope.kind === 'operation' ? null : JSON.stringify(scope)}::text::jsonb,
      ${JSON.stringify(grant.effects)}::text::jsonb,
      ${grant.parent}, ${note.reason}, ${note.issuedBy}, ${grant.issuedAt}, ${grant.expiresAt})
    on conflict (id) do nothing returning 1`
  return rows.length > 0
}

/** @returns null when there is none; `ended` when it was revoked before */
export async function revokeGrant(
  sql: SqlLike,
  id: string,
  by: string,
  at: number,
): Promise<'revoked' | 'ended' | null> {
  const revoked = await sql`
    update collab.grants set revoked_at = ${at}, revoked_by = ${by}, revision = revision + 1
    where id = ${id} and revoked_at is null returning 1`
  if (revoked.length > 0) return 'revoked'
  return (await sql`select 1 from collab.grants where id = ${id}`).length > 0 ? 'ended' : null
}

/** Itself and every one that was made of it, of any depth. */
export async function grantsBelow(sql: SqlLike, id: string): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    with recursive below as (
      select id from collab.grants where id = ${id}
      union
      select g.id from collab.grants g join below on g.parent = below.id
    )
    select id from below`
  return rows.map((row) => row.id)
}

/**
 * Whether none of these, and nothing above them, is revoked or has expired; none can be until the transaction that asks
 * has ended.
 */
export async function grantsStand(tx: Tx, ids: readonly string[], at: number): Promise<boolean> {
  // In one order, so that two who ask for the same ones do not wait for each other. What stands above never changes.
  const rows = await tx<{ id: string; standing: boolean }[]>`
    with recursive chain as (
      select id, parent from collab.grants where id = any(${[...ids]})
      union
      select above.id, above.parent from collab.grants above join chain on above.id = chain.parent
    )
    select id, revoked_at is null and (expires_at is null or expires_at > ${at}) as standing
    from collab.grants where id in (select id from chain) order by id for share`
  return ids.every((id) => rows.some((row) => row.id === id)) && rows.every((row) => row.standing)
}
