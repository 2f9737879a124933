import type { BotId, RequestId } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

/**
 * The direct chat of the owner whose request it is, or who answers for the member that asked: the second route of a failure. Nothing of one owner is told to
 * another, so what belongs to no request has that route only while there is one owner. Null when there is none.
 */
export async function ownerChatOf(sql: SqlLike, bot: BotId, request: RequestId | null): Promise<string | null> {
  const rows = await sql<{ chat: string | null }[]>`
    select p.direct_chat as chat from collab.principals p
    where p.bot = ${bot} and p.role = 'owner' and (${request === null} or p.open_id = (
      select coalesce(r.authority_ref ->> 'sponsor', r.authority_ref ->> 'openId') from collab.request_revisions r
      where r.request = ${request} order by r.revision limit 1))
    limit 2`
  return rows.length === 1 ? (rows[0]?.chat ?? null) : null
}
