import type { SqlLike } from '../db.js'

/** A person wrote: the turns that other bots started before it no longer count. */
export async function personWrote(sql: SqlLike, bot: string, chatId: string, position: number): Promise<void> {
  await sql`delete from collab.bot_turns where bot = ${bot} and chat_id = ${chatId} and position < ${position}`
}

/**
 * Counts one more turn that another bot starts, unless `most` stand before it already.
 *
 * Repeatable: the same message is counted once, at its own place in the order of arrival.
 *
 * @returns the first of the messages that were counted before it when there is no room, else null
 */
export async function countBotTurn(
  sql: SqlLike,
  message: { readonly ingress: string; readonly bot: string; readonly chatId: string; readonly position: number },
  most: number,
): Promise<string | null> {
  const before = await sql<{ ingress: string }[]>`
    select ingress from collab.bot_turns
    where bot = ${message.bot} and chat_id = ${message.chatId} and position < ${message.position}
    order by position`
  const [first] = before
  if (first !== undefined && before.length >= most) return first.ingress
  await sql`
    insert into collab.bot_turns (ingress, bot, chat_id, position)
    values (${message.ingress}, ${message.bot}, ${message.chatId}, ${message.position}) on conflict do nothing`
  return null
}
