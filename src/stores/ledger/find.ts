import type { ApprovalEnd } from '../../collab/observation.js'
import type { RequestId, TextDigest, TurnId } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

/** The request that one message opened, if it did. */
export async function requestOfOrigin(
  sql: SqlLike,
  bot: string,
  channel: string,
  messageId: string,
): Promise<RequestId | null> {
  const [row] = await sql<{ id: RequestId }[]>`
    select id from collab.work_requests where bot = ${bot} and origin_channel = ${channel} and origin_message = ${messageId}`
  return row?.id ?? null
}

/** The request that a message of a chat belongs to: it opened one, or it was sent for one. */
export async function requestOfMessage(sql: SqlLike, bot: string, messageId: string): Promise<RequestId | null> {
  const opened = await requestOfOrigin(sql, bot, 'lark', messageId)
  if (opened !== null) return opened
  const [row] = await sql<{ id: RequestId }[]>`
    select d.request as id from collab.delivery_parts p join collab.deliveries d on d.id = p.delivery
    where p.message_id = ${messageId} and d.bot = ${bot} and d.request is not null limit 1`
  return row?.id ?? null
}

/** The agent committed a result of this turn by its tools already. */
export async function hasReported(sql: SqlLike, turn: string): Promise<boolean> {
  const rows = await sql`select 1 from collab.results where turn = ${turn} limit 1`
  return rows.length > 0
}

/** Which of these commands are on record. */
export async function eventsOnRecord(sql: SqlLike, events: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ event: string }[]>`
    select distinct event_id as event from collab.observations where event_id = any(${[...events]})`
  return rows.map((row) => row.event)
}

/** Whether an agent was refused the very same operation in a conversation; `since` bounds the requests that are read. */
export async function wasRefusedSince(
  sql: SqlLike,
  conversation: string,
  operation: string,
  since: number,
): Promise<boolean> {
  const rows = await sql`
    select 1 from collab.work_requests w join collab.observations o on o.request = w.id
    where w.conversation = ${conversation} and w.opened_at > ${since} and o.kind = 'approval-refused'
      and o.payload ->> 'operation' = ${operation}
    limit 1`
  return rows.length > 0
}

/** What an agent asked to do, by the event of its asking; null when nothing is on record. */
export async function approvalAsked(
  sql: SqlLike,
  event: string,
): Promise<{
  readonly request: RequestId
  readonly turn: TurnId
  readonly operation: TextDigest
  readonly agent: string
} | null> {
  const [row] = await sql<{ request: RequestId; turn: TurnId; operation: TextDigest; agent: string }[]>`
    select request, payload ->> 'turn' as turn, payload ->> 'operation' as operation, actor ->> 'agent' as agent
    from collab.observations where event_id = ${event} and kind = 'approval-asked'`
  return row ?? null
}

/** What became of it, by the event that settled it; null while nobody has. */
export async function approvalEndOf(sql: SqlLike, event: string): Promise<ApprovalEnd | null> {
  const [row] = await sql<{ as: ApprovalEnd }[]>`
    select payload ->> 'as' as as from collab.observations where event_id = ${event} and kind = 'approval-settled'`
  return row?.as ?? null
}

/** The running turns in which one of these standing grants has allowed something. */
export async function turnsUsing(sql: SqlLike, grants: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct t.id from collab.observations o join collab.turns t on t.id = o.payload ->> 'turn'
    where o.kind = 'approval-settled' and o.payload ->> 'grant' = any(${[...grants]}) and t.ended_at is null`
  return rows.map((row) => row.id)
}
