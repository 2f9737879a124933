import type { Effect, Scope } from '../../collab/grant-scope.js'
import type { SqlLike } from '../db.js'
import { GRANT_USE } from '../grants/grants.js'
import type { Place } from './cursor.js'

/** One standing permission as it is written. */
export interface GrantView {
  readonly id: string
  readonly agent: string
  readonly openId: string
  /** Null: every direct conversation of its owner. */
  readonly conversation: string | null
  /** The exact words of one operation; null where there is a scope, or the words were erased. */
  readonly operation: string | null
  /** Null: exactly one operation. */
  readonly scope: Exclude<Scope, { kind: 'operation' }> | null
  readonly effects: readonly Effect[]
  readonly parent: string | null
  readonly reason: string | null
  readonly issuedBy: string | null
  readonly issuedAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly revokedBy: string | null
  readonly revision: number
  /** Times that it allowed something without a question. */
  readonly used: number
  /** The last turns in which it did, newest first. */
  readonly lastUses: readonly { readonly turn: string; readonly request: string; readonly at: number }[]
}

const LAST = 3

/** Newest first. */
export async function listGrants(sql: SqlLike, after: Place, limit: number): Promise<readonly GrantView[]> {
  return await sql<GrantView[]>`
    select g.id, g.agent, g.open_id as "openId", g.conversation, g.scope, g.effects, g.parent, g.reason,
      g.issued_by as "issuedBy", g.issued_at as "issuedAt", g.expires_at as "expiresAt", g.revoked_at as "revokedAt",
      g.revoked_by as "revokedBy", g.revision,
      (select t.body from collab.texts t where t.digest = g.operation and t.body is not null limit 1) as operation,
      (select count(*)::int from collab.observations o where o.kind = 'approval-settled'
        and o.payload ->> 'grant' = g.id)
      + (select count(*)::int from collab.audit_lines a where a.subject = g.id and a.act like ${`${GRANT_USE}:%`}) as used,
      coalesce((select jsonb_agg(jsonb_build_object('turn', u.turn, 'request', u.request, 'at', u.at) order by u.at desc, u.turn)
        from (select o.payload ->> 'turn' as turn, o.request, max(o.recorded_at) as at from collab.observations o
          where o.kind = 'approval-settled' and o.payload ->> 'grant' = g.id
          group by 1, 2 order by at desc, turn limit ${LAST}) u), '[]'::jsonb) as "lastUses"
    from collab.grants g where (g.issued_at, g.id) < (${after.at}, ${after.id})
    order by g.issued_at desc, g.id desc limit ${limit}`
}
