import type { SqlLike } from '../db.js'

/** A person whose identity is bound, as the envelope that bound them said it. */
export interface BoundOwner {
  readonly openId: string
  readonly tenantKey: string | null
  readonly unionId: string | null
}

/**
 * Binds an owner once; the direct chat is kept as a second route. The identity is that of the first message: what it did
 * not say stays missing, and no later one replaces it.
 */
export async function bindOwner(
  sql: SqlLike,
  owner: Pick<BoundOwner, 'openId'> &
    Partial<BoundOwner> & { readonly bot: string; readonly directChat: string | null },
  at: number,
): Promise<void> {
  await sql`
    insert into collab.principals as p (bot, open_id, tenant_key, union_id, role, direct_chat, bound_at)
    values (${owner.bot}, ${owner.openId}, ${owner.tenantKey ?? null}, ${owner.unionId ?? null}, 'owner', ${owner.directChat}, ${at})
    on conflict (bot, open_id) do update set direct_chat = coalesce(excluded.direct_chat, p.direct_chat)
      where p.tenant_key is null or excluded.tenant_key is null or p.tenant_key = excluded.tenant_key`
}

/** Everyone who is bound as an owner of this bot, the earliest first. */
export async function boundOwners(sql: SqlLike, bot: string): Promise<readonly BoundOwner[]> {
  return await sql<BoundOwner[]>`
    select open_id as "openId", tenant_key as "tenantKey", union_id as "unionId" from collab.principals
    where bot = ${bot} and role = 'owner' order by bound_at, open_id`
}

/** The direct chat of an owner; null when it is not known. */
export async function directChatOf(sql: SqlLike, bot: string, openId: string): Promise<string | null> {
  const [row] = await sql<{ chat: string | null }[]>`
    select direct_chat as chat from collab.principals where bot = ${bot} and open_id = ${openId}`
  return row?.chat ?? null
}
