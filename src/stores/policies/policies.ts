import type { SqlLike } from '../db.js'

/** In the place of a chat: what holds for all chats of the bot. */
export const EVERYWHERE = '*'

export interface PolicyRow {
  readonly chatId: string
  readonly revision: number
  /** As stored; nobody has read it yet. */
  readonly settings: unknown
  readonly setBy: string
  readonly setAt: number
  /** Whose own messages the setting of the owner's work is about; null: every owner's. */
  readonly ownerWorkBy: string | null
}

/** The newest row of a chat and the newest for all chats, in one look. */
export async function policyRows(
  sql: SqlLike,
  bot: string,
  chatId: string,
): Promise<{ readonly chat: PolicyRow | null; readonly everywhere: PolicyRow | null }> {
  const rows = await sql<PolicyRow[]>`
    select distinct on (chat_id) chat_id as "chatId", revision, settings, set_by as "setBy", set_at as "setAt",
      owner_work_by as "ownerWorkBy"
    from collab.chat_policies where bot = ${bot} and chat_id in (${chatId}, ${EVERYWHERE})
    order by chat_id, revision desc`
  const of = (id: string) => rows.find((row) => row.chatId === id) ?? null
  return { chat: chatId === EVERYWHERE ? null : of(chatId), everywhere: of(EVERYWHERE) }
}

/** The row that a command made; null when it is not on record. */
export async function policyOfCommand(sql: SqlLike, eventId: string): Promise<(PolicyRow & { bot: string }) | null> {
  const [row] = await sql<(PolicyRow & { bot: string })[]>`
    select bot, chat_id as "chatId", revision, settings, set_by as "setBy", set_at as "setAt",
      owner_work_by as "ownerWorkBy"
    from collab.chat_policies where event_id = ${eventId}`
  return row ?? null
}

/** Adds the next revision of a chat's policy. False: another one came first, or the command is on record. */
export async function putPolicy(
  sql: SqlLike,
  row: PolicyRow & { readonly bot: string; readonly eventId: string },
): Promise<boolean> {
  const rows = await sql`
    insert into collab.chat_policies (bot, chat_id, revision, settings, set_by, set_at, owner_work_by, event_id)
    values (${row.bot}, ${row.chatId}, ${row.revision}, ${JSON.stringify(row.settings)}::text::jsonb, ${row.setBy},
      ${row.setAt}, ${row.ownerWorkBy}, ${row.eventId})
    on conflict do nothing returning 1`
  return rows.length > 0
}
