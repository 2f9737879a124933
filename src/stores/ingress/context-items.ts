import type { SqlLike } from '../db.js'

export interface ContextItem {
  readonly id: string
  readonly bot: string
  readonly chatId: string
  readonly threadKey: string
  readonly messageId: string
  readonly senderOpenId: string
  readonly senderType: string
  readonly textDigest: string
  readonly body: string
  readonly writtenAt: number
}

/** At most so many are kept per (chat, thread), for so long; every discard says why. */
export const CONTEXT_KEPT = 32
export const CONTEXT_DAYS = 7

/** Remembers a message that starts no turn, and discards what is beyond the limits of its place. */
export async function putContextItem(sql: SqlLike, item: ContextItem, now: number): Promise<void> {
  await sql`
    insert into collab.context_items
      (id, bot, chat_id, thread_key, message_id, sender_open_id, sender_type, text_digest, body, written_at)
    values (${item.id}, ${item.bot}, ${item.chatId}, ${item.threadKey}, ${item.messageId}, ${item.senderOpenId},
      ${item.senderType}, ${item.textDigest}, ${item.body}, ${item.writtenAt})
    on conflict do nothing`
  await sql`
    update collab.context_items set discarded_at = ${now}, discarded_because = 'too-many', body = null
    where discarded_at is null and id in (
      select id from collab.context_items
      where bot = ${item.bot} and chat_id = ${item.chatId} and thread_key = ${item.threadKey} and discarded_at is null
      order by written_at desc offset ${CONTEXT_KEPT})`
}

/** Bodies older than the limit go; the mark stays. */
export async function discardOldContext(sql: SqlLike, olderThan: number, now: number): Promise<void> {
  await sql`
    update collab.context_items set discarded_at = ${now}, discarded_because = 'too-old', body = null
    where discarded_at is null and written_at < ${olderThan}`
}

/** The newest items of one place that were written after `since`, newest first. */
export async function freshContext(
  sql: SqlLike,
  place: { readonly bot: string; readonly chatId: string; readonly threadKey: string },
  limit: number,
  since: number | null = null,
): Promise<readonly ContextItem[]> {
  return await sql<ContextItem[]>`
    select id, bot, chat_id as "chatId", thread_key as "threadKey", message_id as "messageId",
      sender_open_id as "senderOpenId", sender_type as "senderType", text_digest as "textDigest", body,
      written_at as "writtenAt"
    from collab.context_items
    where bot = ${place.bot} and chat_id = ${place.chatId} and thread_key = ${place.threadKey} and discarded_at is null
      and written_at > ${since ?? 0}
    order by written_at desc limit ${limit}`
}

/** Exactly these, whatever came since: a retry shows what the first try showed. */
export async function contextItems(sql: SqlLike, ids: readonly string[]): Promise<readonly ContextItem[]> {
  if (ids.length === 0) return []
  return await sql<ContextItem[]>`
    select id, bot, chat_id as "chatId", thread_key as "threadKey", message_id as "messageId",
      sender_open_id as "senderOpenId", sender_type as "senderType", text_digest as "textDigest",
      coalesce(body, '') as body, written_at as "writtenAt"
    from collab.context_items where id = any(${[...ids]}) order by written_at desc`
}
