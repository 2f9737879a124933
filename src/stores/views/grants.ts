import type { SqlLike } from '../db.js'
import type { Place } from './cursor.js'

/** One standing permission with its exact words; null where they were erased. */
export interface GrantView {
  readonly id: string
  readonly agent: string
  readonly openId: string
  readonly conversation: string
  readonly operation: string | null
  readonly issuedAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly revokedBy: string | null
  /** Times that it allowed something without a question. */
  readonly used: number
}

/** Newest first. */
export async function listGrants(sql: SqlLike, after: Place, limit: number): Promise<readonly GrantView[]> {
  return await sql<GrantView[]>`
    select g.id, g.agent, g.open_id as "openId", g.conversation, g.issued_at as "issuedAt",
      g.expires_at as "expiresAt", g.revoked_at as "revokedAt", g.revoked_by as "revokedBy",
      (select t.body from collab.texts t where t.digest = g.operation and t.body is not null limit 1) as operation,
      (select count(*)::int from collab.observations o where o.kind = 'approval-settled'
        and o.payload ->> 'grant' = g.id) as used
    from collab.grants g where (g.issued_at, g.id) < (${after.at}, ${after.id})
    order by g.issued_at desc, g.id desc limit ${limit}`
}
