import type { RequestId } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

/** Chains longer than this are cut off: no sane exchange hands on so often. */
const DEPTH = 64

/** The requests above one, its parent first. */
export async function ancestorsOf(sql: SqlLike, request: RequestId): Promise<readonly RequestId[]> {
  const rows = await sql<{ id: RequestId }[]>`
    with recursive up as (
      select parent as id, 1 as depth from collab.work_requests where id = ${request} and parent is not null
      union all
      select w.parent, up.depth + 1 from up join collab.work_requests w on w.id = up.id
      where w.parent is not null and up.depth < ${DEPTH}
    )
    select id from up order by depth`
  return rows.map((row) => row.id)
}

/** Was an attempt on one of these requests ever assigned to the agent? */
export async function everAssigned(sql: SqlLike, requests: readonly string[], agent: string): Promise<boolean> {
  if (requests.length === 0) return false
  const rows = await sql`
    select 1 from collab.dispatch_attempts where target = ${agent} and request = any(${[...requests]}) limit 1`
  return rows.length > 0
}

/** The request from which a child was opened, whether or not the child exists yet. */
export async function parentOfChild(sql: SqlLike, child: RequestId): Promise<RequestId | null> {
  const [row] = await sql<{ request: RequestId }[]>`
    select request from collab.observations where kind = 'child-opened' and payload ->> 'child' = ${child} limit 1`
  return row?.request ?? null
}

/**
 * The requests that an agent was ever assigned and everything that came of them, newest first.
 *
 * @param conversation only those of one conversation; null: of all
 */
export async function familyOf(
  sql: SqlLike,
  agent: string,
  conversation: string | null,
  after: { readonly at: number; readonly id: string },
  limit: number,
): Promise<readonly { readonly id: RequestId; readonly openedAt: number }[]> {
  return await sql<{ id: RequestId; openedAt: number }[]>`
    with recursive mine as (
      select distinct request as id from collab.dispatch_attempts where target = ${agent}
      union
      select w.id from mine join collab.work_requests w on w.parent = mine.id
    )
    select w.id, w.opened_at as "openedAt" from mine join collab.work_requests w on w.id = mine.id
    where (w.opened_at, w.id) < (${after.at}, ${after.id})
      and (${conversation}::text is null or w.conversation = ${conversation})
    order by w.opened_at desc, w.id desc limit ${limit}`
}
