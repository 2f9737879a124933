import type { SqlLike } from '../db.js'

/** A chat, or a topic of one, whose history can be read. */
export interface HistoryPlace {
  readonly id: string
  readonly bot: string
  readonly chatId: string
  /** The thread's id, or '' for the chat itself. */
  readonly threadId: string
  readonly chatType: 'p2p' | 'group'
  readonly heardAt: number
  /** Everything that was written before it was seen; null where nobody knows. */
  readonly readUntil: number | null
}

/** A place is written again at most so often. */
const HEARD_EVERY_MS = 60_000

/**
 * Something was heard in this place: its history will be read, of a new place from `readUntil` on. What a chat held
 * before the bot heard anything in it was never on its way here.
 */
export async function hear(
  sql: SqlLike,
  place: Omit<HistoryPlace, 'heardAt' | 'readUntil'>,
  at: { readonly heardAt: number; readonly readUntil: number },
): Promise<void> {
  await sql`
    insert into collab.history_places as p (id, bot, chat_id, thread_id, chat_type, heard_at, read_until)
    values (${place.id}, ${place.bot}, ${place.chatId}, ${place.threadId}, ${place.chatType}, ${at.heardAt}, ${at.readUntil})
    on conflict (id) do update set heard_at = excluded.heard_at
      where p.heard_at < excluded.heard_at - ${HEARD_EVERY_MS}::bigint`
}

/** The bot left this chat: there is nothing to read any more. */
export async function forgetPlace(sql: SqlLike, bot: string, chatId: string): Promise<void> {
  await sql`delete from collab.history_places where bot = ${bot} and chat_id = ${chatId}`
}

/** The places that were not read since `asked`, those heard last first; what nobody used for long is left alone. */
export async function unreadPlaces(
  sql: SqlLike,
  bot: string,
  asked: number,
  heardSince: number,
): Promise<readonly HistoryPlace[]> {
  return await sql<HistoryPlace[]>`
    select id, bot, chat_id as "chatId", thread_id as "threadId", chat_type as "chatType", heard_at as "heardAt",
      read_until as "readUntil"
    from collab.history_places
    where bot = ${bot} and heard_at >= ${heardSince} and (read_at is null or read_at < ${asked})
    order by heard_at desc, id`
}

/** What was seen of a place's history; `readAt` is null while more pages follow. */
export async function notePlaceRead(
  sql: SqlLike,
  id: string,
  read: { readonly readUntil: number | null; readonly readAt: number | null; readonly refused: string | null },
): Promise<void> {
  await sql`
    update collab.history_places set read_until = greatest(read_until, ${read.readUntil}::bigint),
      read_at = coalesce(${read.readAt}::bigint, read_at), refused = ${read.refused}
    where id = ${id}`
}

/** How many places could not be read at their last reading. */
export async function refusedPlaces(sql: SqlLike, bot: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from collab.history_places where bot = ${bot} and refused is not null`
  return row?.count ?? 0
}
