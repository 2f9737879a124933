import type { Language } from '../../collab/delivery.js'
import type { SqlLike } from '../db.js'

export interface Conversation {
  readonly id: string
  readonly bot: string
  readonly chatId: string
  readonly threadKey: string
  readonly chatType: string
  readonly language: Language
}

/** Opens the conversation of a place, or finds it; its language follows the last message that had one. */
export async function ensureConversation(
  sql: SqlLike,
  conversation: Omit<Conversation, 'language'>,
  language: Language | null,
  at: number,
): Promise<Conversation> {
  const [row] = await sql<Conversation[]>`
    insert into collab.conversations as c (id, bot, chat_id, thread_key, chat_type, language, opened_at)
    values (${conversation.id}, ${conversation.bot}, ${conversation.chatId}, ${conversation.threadKey},
      ${conversation.chatType}, ${language ?? 'en'}, ${at})
    on conflict (bot, chat_id, thread_key) do update set language = coalesce(${language}, c.language)
    returning id, bot, chat_id as "chatId", thread_key as "threadKey", chat_type as "chatType", language`
  if (row === undefined) throw new Error('a conversation was neither opened nor found')
  return row
}

export async function conversationOf(sql: SqlLike, id: string): Promise<Conversation | null> {
  const [row] = await sql<Conversation[]>`
    select id, bot, chat_id as "chatId", thread_key as "threadKey", chat_type as "chatType", language
    from collab.conversations where id = ${id}`
  return row ?? null
}

/** The main conversation of a chat; null when nobody has spoken there. */
export async function conversationAt(sql: SqlLike, bot: string, chatId: string): Promise<Conversation | null> {
  const [row] = await sql<Conversation[]>`
    select id, bot, chat_id as "chatId", thread_key as "threadKey", chat_type as "chatType", language
    from collab.conversations where bot = ${bot} and chat_id = ${chatId} order by thread_key limit 1`
  return row ?? null
}
