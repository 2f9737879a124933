import type { SqlLike } from '../db.js'

/** How many permissions an agent may use now in one conversation, in the name of one owner. */
export async function countStanding(
  sql: SqlLike,
  of: {
    readonly agent: string
    readonly openId: string
    readonly conversation: string
    /** The conversation is the owner's own direct one. */
    readonly ownerPrivate: boolean
    readonly at: number
  },
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from collab.grants
    where agent = ${of.agent} and open_id = ${of.openId}
      and (conversation = ${of.conversation} or (${of.ownerPrivate} and conversation is null))
      and revoked_at is null and (expires_at is null or expires_at > ${of.at})`
  return row?.count ?? 0
}
