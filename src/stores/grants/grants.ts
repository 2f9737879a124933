import type { Grant } from '../../collab/grant.js'
import type { AgentId, TextDigest } from '../../collab/refs.js'
import type { SqlLike, Tx } from '../db.js'

/** Every grant of an agent for an operation, also those that are over: what covers is decided elsewhere. */
export async function grantsFor(sql: SqlLike, agent: AgentId, operation: TextDigest): Promise<readonly Grant[]> {
  return await sql<Grant[]>`
    select id, agent, open_id as "openId", conversation, operation, issued_at as "issuedAt",
      expires_at as "expiresAt", revoked_at as "revokedAt"
    from collab.grants where operation = ${operation} and agent = ${agent}`
}

/** The same grant again adds nothing. */
export async function putGrant(sql: SqlLike, grant: Omit<Grant, 'revokedAt'>): Promise<void> {
  await sql`
    insert into collab.grants (id, agent, open_id, conversation, operation, issued_at, expires_at)
    values (${grant.id}, ${grant.agent}, ${grant.openId}, ${grant.conversation}, ${grant.operation},
      ${grant.issuedAt}, ${grant.expiresAt})
    on conflict (id) do nothing`
}

/** @returns null when there is none; `ended` when it was revoked before */
export async function revokeGrant(
  sql: SqlLike,
  id: string,
  by: string,
  at: number,
): Promise<'revoked' | 'ended' | null> {
  const revoked = await sql`
    update collab.grants set revoked_at = ${at}, revoked_by = ${by} where id = ${id} and revoked_at is null returning 1`
  if (revoked.length > 0) return 'revoked'
  return (await sql`select 1 from collab.grants where id = ${id}`).length > 0 ? 'ended' : null
}

/** Whether it is not revoked; it cannot be until the transaction that asks has ended. */
export async function grantStands(tx: Tx, id: string): Promise<boolean> {
  return (await tx`select 1 from collab.grants where id = ${id} and revoked_at is null for share`).length > 0
}
