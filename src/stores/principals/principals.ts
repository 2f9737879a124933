import type { SqlLike } from '../db.js'

/** Binds an owner once; the direct chat is kept as a second route. */
export async function bindOwner(
  sql: SqlLike,
  owner: { readonly bot: string; readonly openId: string; readonly directChat: string | null },
  at: number,
): Promise<void> {
  await sql`
    insert into collab.principals as p (bot, open_id, role, direct_chat, bound_at)
    values (${owner.bot}, ${owner.openId}, 'owner', ${owner.directChat}, ${at})
    on conflict (bot, open_id) do update set direct_chat = coalesce(excluded.direct_chat, p.direct_chat)`
}

export async function isBoundOwner(sql: SqlLike, bot: string, openId: string): Promise<boolean> {
  const rows = await sql`select 1 from collab.principals where bot = ${bot} and open_id = ${openId} and role = 'owner'`
  return rows.length > 0
}

/** Everyone who is bound as an owner of this bot, the earliest first. */
export async function boundOwners(sql: SqlLike, bot: string): Promise<readonly string[]> {
  const rows = await sql<{ openId: string }[]>`
    select open_id as "openId" from collab.principals
    where bot = ${bot} and role = 'owner' order by bound_at, open_id`
  return rows.map((row) => row.openId)
}

/** The direct chat of an owner; null when it is not known. */
export async function directChatOf(sql: SqlLike, bot: string, openId: string): Promise<string | null> {
  const [row] = await sql<{ chat: string | null }[]>`
    select direct_chat as chat from collab.principals where bot = ${bot} and open_id = ${openId}`
  return row?.chat ?? null
}
