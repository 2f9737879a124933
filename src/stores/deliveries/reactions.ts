import type { ReceiptEnd } from '../../collab/delivery.js'
import type { BotId } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

export type ReactionPurpose = 'received' | 'done' | 'failed'
export type ReactionState =
  'prepared' | 'placed' | 'refused' | 'skipped' | 'removing' | 'removed' | 'kept' | 'cleanup-failed'

export interface ReactionRow {
  readonly id: string
  readonly bot: BotId
  readonly messageId: string
  readonly chatId: string
  readonly purpose: ReactionPurpose
  readonly emoji: string
  readonly state: ReactionState
  readonly because: string | null
  readonly reactionId: string | null
  readonly attempts: number
  readonly preparedAt: number
  readonly nextTryAt: number | null
}

export async function reactionOf(sql: SqlLike, id: string): Promise<ReactionRow | null> {
  const [row] = await sql<ReactionRow[]>`
    select id, bot, message_id as "messageId", chat_id as "chatId", purpose, emoji, state, because,
      reaction_id as "reactionId", attempts, prepared_at as "preparedAt", next_try_at as "nextTryAt"
    from collab.reactions where id = ${id}`
  return row ?? null
}

/**
 * Records that a reaction stands. When its end was asked for meanwhile, or a look had not found it yet, it is to be
 * removed: nothing that we placed is forgotten.
 *
 * @returns the state that it has now; null when the row does not exist
 */
export async function reactionStands(
  sql: SqlLike,
  id: string,
  reactionId: string,
  now: number,
): Promise<ReactionState | null> {
  const [row] = await sql<{ state: ReactionState }[]>`
    update collab.reactions
    set reaction_id = ${reactionId}, placed_at = coalesce(placed_at, ${now}),
      state = case when state in ('removing', 'removed', 'cleanup-failed') then 'removing'
        when state = 'kept' then 'kept' else 'placed' end,
      settled_at = case when state = 'kept' then settled_at end,
      next_try_at = case when state in ('removing', 'removed', 'cleanup-failed') then ${now}::bigint end
    where id = ${id} returning state`
  return row?.state ?? null
}

/** Moves a reaction on from the state it was decided in; false when it has another one now. */
export async function moveReaction(
  sql: SqlLike,
  row: Pick<ReactionRow, 'id' | 'state'>,
  to: {
    readonly state: ReactionState
    readonly because: string | null
    readonly nextTryAt: number | null
    readonly settledAt: number | null
    readonly tried: 0 | 1
  },
): Promise<boolean> {
  const rows = await sql`
    update collab.reactions
    set state = ${to.state}, because = ${to.because}, next_try_at = ${to.nextTryAt}, settled_at = ${to.settledAt},
      attempts = attempts + ${to.tried}
    where id = ${row.id} and state = ${row.state} returning 1`
  return rows.length > 0
}

/**
 * Asks for the end of a receipt. With `clear` the receipt is to be removed; with `retain` it stays for good. A mark of
 * an earlier failure is removed when the message ends as done after all.
 *
 * @returns the rows that are now to be removed
 */
export async function askEnd(
  sql: SqlLike,
  ask: {
    readonly bot: BotId
    readonly messageId: string
    readonly end: ReceiptEnd
    readonly policy: 'clear' | 'retain'
    readonly now: number
  },
): Promise<readonly string[]> {
  const { bot, messageId, end, now } = ask
  const clear = ask.policy === 'clear'
  const rows = await sql<{ id: string; state: ReactionState }[]>`
    update collab.reactions
    set state = case when purpose = 'received' and not ${clear} then 'kept' else 'removing' end,
      because = ${end}, attempts = 0, next_try_at = case when purpose = 'received' and not ${clear} then null else ${now}::bigint end,
      settled_at = case when purpose = 'received' and not ${clear} then ${now}::bigint end
    where bot = ${bot} and message_id = ${messageId} and state in ('prepared', 'placed')
      and ((purpose = 'received' and (${clear} or state = 'placed')) or (purpose = 'failed' and ${end === 'done'}))
    returning id, state`
  return rows.filter((row) => row.state === 'removing').map((row) => row.id)
}

/** Prepares a reaction before its call; null when that message has one for that purpose. */
export async function prepareReaction(
  sql: SqlLike,
  row: Pick<ReactionRow, 'id' | 'bot' | 'messageId' | 'chatId' | 'purpose' | 'emoji' | 'preparedAt'>,
): Promise<string | null> {
  const rows = await sql`
    insert into collab.reactions (id, bot, message_id, chat_id, purpose, emoji, state, prepared_at)
    values (${row.id}, ${row.bot}, ${row.messageId}, ${row.chatId}, ${row.purpose}, ${row.emoji}, 'prepared',
      ${row.preparedAt})
    on conflict do nothing returning 1`
  return rows.length > 0 ? row.id : null
}

/**
 * Reactions that are owed and have no wake of their own: prepared without an outcome for `graceMs`, or to be removed.
 * The caller puts a wake of kind `reaction` for each. Oldest first.
 */
export async function owedReactions(
  sql: SqlLike,
  now: number,
  graceMs: number,
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select r.id from collab.reactions r
    where ((r.state = 'prepared' and r.prepared_at <= ${now - graceMs}) or r.state = 'removing')
      and coalesce(r.next_try_at, 0) <= ${now}
      and not exists (
        select 1 from collab.wakes w where w.kind = 'reaction' and w.subject = r.id and w.state <> 'done')
    order by r.prepared_at limit ${limit}`
  return rows.map((row) => row.id)
}
