import type { SqlLike } from '../db.js'

/** A chat of a bot with the newest revision of its own policy; 0 when it has none. `*` stands for all chats. */
export interface ChatView {
  readonly bot: string
  readonly chat: string
  readonly revision: number
}

const MOST = 200

/** Chats where somebody was answered, and those that have a policy. */
export async function listChats(sql: SqlLike): Promise<readonly ChatView[]> {
  return await sql<ChatView[]>`
    with known as (
      select bot, chat_id from collab.conversations union select bot, chat_id from collab.chat_policies
    )
    select k.bot, k.chat_id as chat, coalesce(max(p.revision), 0)::int as revision
    from known k left join collab.chat_policies p on p.bot = k.bot and p.chat_id = k.chat_id
    group by k.bot, k.chat_id order by k.bot, k.chat_id limit ${MOST}`
}
