import type { IncomingEvent } from '../../collab/message.js'
import type { WakeRef } from '../../collab/ports.js'
import type { SqlLike } from '../db.js'

/** What decides, inside the statement, whether a message gets a receipt. */
export interface ReceiptDue {
  readonly id: string
  readonly emoji: string
  /** Starts a turn by itself; false with parents: only when one of them is a message of ours. */
  readonly addressed: boolean
  readonly parents: readonly string[]
  readonly sender: string
  /** A listed owner in a direct chat binds with this message. */
  readonly binds: boolean
}

export interface Remember {
  readonly id: string
  readonly event: IncomingEvent
  readonly door: string
  readonly receivedAt: number
  readonly receipt: ReceiptDue | null
  /** False while our own identity is unknown: stored, and judged later. */
  readonly judged: boolean
}

export interface Remembered {
  readonly outcome: 'stored' | 'duplicate'
  readonly wake: WakeRef | null
  /** The prepared reaction row is ours to place. */
  readonly receipt: boolean
}

/**
 * Stores provider events once each, puts their wakes and the receipts' `prepared` rows: one statement for all of them,
 * no NOTIFY. The first write wins, also under concurrency and with a new event id; later sightings leave one row each.
 *
 * All or none. The answers stand in the order of `all`, whose ids must differ.
 */
export async function remember(sql: SqlLike, all: readonly Remember[]): Promise<readonly Remembered[]> {
  // One parameter whatever the count: the same prepared statement, planned once, and one pass over the text.
  const rows = JSON.stringify(all.map(rowOf))
  const found = await sql<{ id: string; stored: boolean; woken: number | null; placed: boolean }[]>`
    with r as (
      select * from json_to_recordset(${rows}::text::json) as r(n int, id text, bot text, key text, "eventId" text,
        kind text, "eventType" text, "chatId" text, event jsonb, door text, at bigint, disposition text, wakes boolean,
        receipt text, "messageId" text, emoji text, addressed boolean, parents text[], sender text, binds boolean)
    ), ins as (
      insert into collab.ingress_events
        (id, bot, key, event_id, kind, event_type, chat_id, event, door, received_at, disposition, disposed_at)
      select id, bot, key, "eventId", kind, "eventType", "chatId", event, door, at, disposition,
        case when disposition is not null then at end
      from r order by n
      on conflict (bot, key) do nothing returning id
    ), again as (
      insert into collab.ingress_duplicates (ingress, event_id, door, received_at)
      select id, "eventId", door, at from r where not exists (select 1 from ins where ins.id = r.id)
    ), woken as (
      insert into collab.wakes (kind, subject, generation, due_at, state)
      select 'accept', r.id, 1, r.at, 'pending' from ins join r using (id) where r.wakes
      on conflict do nothing returning subject, generation
    ), receipt as (
      insert into collab.reactions (id, bot, message_id, chat_id, purpose, emoji, state, prepared_at)
      select r.receipt, r.bot, r."messageId", r."chatId", 'received', r.emoji, 'prepared', r.at
      from ins join r using (id)
      where r.receipt is not null
        and (r.addressed or exists (select 1 from collab.delivery_parts where message_id = any(r.parents)))
        and (r.binds or exists (select 1 from collab.principals where bot = r.bot and open_id = r.sender))
      on conflict do nothing returning id
    )
    select r.id, ins.id is not null as stored, woken.generation as woken, receipt.id is not null as placed
    from r left join ins using (id) left join woken on woken.subject = r.id left join receipt on receipt.id = r.receipt`
  const byId = new Map(found.map((row) => [row.id, row]))
  return all.map((one) => {
    const row = byId.get(one.id)
    return {
      outcome: row?.stored === true ? 'stored' : 'duplicate',
      wake: typeof row?.woken === 'number' ? { kind: 'accept', subject: one.id, generation: row.woken } : null,
      receipt: row?.placed === true,
    }
  })
}

function rowOf(one: Remember, n: number) {
  const { event, receipt } = one
  const message = event.kind === 'message' ? event.message : null
  // Nobody acts on what we do not know: it is kept, and costs no job.
  const acted = event.kind !== 'other'
  return {
    n,
    id: one.id,
    bot: event.bot,
    key: event.key,
    eventId: event.eventId,
    kind: event.kind,
    eventType: event.eventType,
    chatId: message?.chatId ?? ('chatId' in event ? event.chatId : null),
    event,
    door: one.door,
    at: one.receivedAt,
    disposition: acted ? null : 'noted',
    wakes: acted && one.judged,
    ...(receipt === null
      ? {}
      : {
          receipt: receipt.id,
          messageId: message?.messageId,
          emoji: receipt.emoji,
          addressed: receipt.addressed,
          parents: receipt.parents,
          sender: receipt.sender,
          binds: receipt.binds,
        }),
  }
}

export interface IngressRow {
  readonly id: string
  readonly event: IncomingEvent
  readonly receivedAt: number
  readonly disposition: string | null
  /** How it came: `webhook`, `websocket`, or `gap-fill` for what was found in a history. */
  readonly door: string
  /** In the order in which events were stored. */
  readonly position: number
}

export async function ingressRow(sql: SqlLike, id: string): Promise<IngressRow | null> {
  const [row] = await sql<IngressRow[]>`
    select id, event, received_at as "receivedAt", disposition, door, position from collab.ingress_events where id = ${id}`
  return row ?? null
}

/** What is still owed in the chat of this event, up to it, in the order of arrival. */
export async function owedUpTo(sql: SqlLike, id: string): Promise<readonly IngressRow[]> {
  return await sql<IngressRow[]>`
    select e.id, e.event, e.received_at as "receivedAt", e.disposition, e.door, e.position
    from collab.ingress_events e, collab.ingress_events mine
    where mine.id = ${id} and e.disposition is null and e.position <= mine.position
      and e.bot = mine.bot and e.chat_id is not distinct from mine.chat_id
    order by e.position`
}

export async function dispose(sql: SqlLike, id: string, disposition: string, at: number): Promise<void> {
  await sql`update collab.ingress_events set disposition = ${disposition}, disposed_at = ${at}
    where id = ${id} and disposition is null`
}

/** The stored message of one provider id, for what a turn needs beyond its text. */
export async function messageEvent(sql: SqlLike, bot: string, messageId: string): Promise<IncomingEvent | null> {
  const [row] = await sql<{ event: IncomingEvent }[]>`
    select event from collab.ingress_events where bot = ${bot} and key = ${messageId}`
  return row?.event ?? null
}

/** Its sender edited it and the new words are owed: the stored content is what it says now; the old words stand in the ledger. */
export async function rewriteMessage(sql: SqlLike, bot: string, event: IncomingEvent): Promise<void> {
  await sql`
    update collab.ingress_events set event = ${JSON.stringify(event)}::text::jsonb where bot = ${bot} and key = ${event.key}`
}

/** Did a person write anything in this place after `after`? Milliseconds since the epoch. */
export async function writtenSince(
  sql: SqlLike,
  place: { readonly bot: string; readonly chatId: string; readonly threadKey: string },
  after: number,
): Promise<boolean> {
  const rows = await sql`
    select 1 from collab.ingress_events
    where received_at >= ${after} and bot = ${place.bot} and chat_id = ${place.chatId} and kind = 'message'
      and coalesce(event -> 'message' ->> 'threadId', '') = ${place.threadKey}
      and event -> 'message' -> 'sender' ->> 'type' = 'user'
      and (event -> 'message' ->> 'createTime')::bigint > ${after} limit 1`
  return rows.length > 0
}

/** Group messages that came before our own identity was known, in order. */
export async function unjudged(sql: SqlLike, bot: string, limit: number): Promise<readonly IngressRow[]> {
  return await sql<IngressRow[]>`
    select id, event, received_at as "receivedAt", disposition, door, position from collab.ingress_events
    where bot = ${bot} and disposition is null and event -> 'turnAuthority' ->> 'verdict' = 'unjudged'
    order by position limit ${limit}`
}

/** Writes the verdict of a waiting event and puts what `remember` would have put with it. */
export async function judge(
  sql: SqlLike,
  id: string,
  event: IncomingEvent,
  receipt: ReceiptDue | null,
  at: number,
): Promise<{ readonly wake: WakeRef | null; readonly receipt: boolean }> {
  const [row] = await sql<{ woken: number | null; placed: boolean }[]>`
    with ins as (
      update collab.ingress_events set event = ${JSON.stringify(event)}::text::jsonb
      where id = ${id} and disposition is null returning id
    ), woken as (
      insert into collab.wakes (kind, subject, generation, due_at, state)
      select 'accept', id, 1, ${at}::bigint, 'pending' from ins
      on conflict do nothing returning generation
    ), receipt as (${receiptRow(sql, event, receipt, at)}
    )
    select (select generation from woken) as woken, exists (select 1 from receipt) as placed`
  return {
    wake: typeof row?.woken === 'number' ? { kind: 'accept', subject: id, generation: row.woken } : null,
    receipt: row?.placed === true,
  }
}

/** The receipt's `prepared` row, for an event that `ins` has just written; only a bound owner's message gets one. */
function receiptRow(sql: SqlLike, event: IncomingEvent, receipt: ReceiptDue | null, at: number) {
  const message = event.kind === 'message' ? event.message : null
  return sql`
      insert into collab.reactions (id, bot, message_id, chat_id, purpose, emoji, state, prepared_at)
      select ${receipt?.id ?? ''}, ${event.bot}, ${message?.messageId ?? ''}, ${message?.chatId ?? ''}, 'received',
        ${receipt?.emoji ?? ''}, 'prepared', ${at}::bigint
      from ins
      where ${receipt !== null}
        and (${receipt?.addressed ?? false} or exists (
          select 1 from collab.delivery_parts where message_id = any(${[...(receipt?.parents ?? [])]}::text[])))
        and (${receipt?.binds ?? false} or exists (
          select 1 from collab.principals where bot = ${event.bot} and open_id = ${receipt?.sender ?? ''}))
      on conflict do nothing returning id`
}

/** Is one of these a message that we sent? */
export async function anyOurs(sql: SqlLike, messageIds: readonly string[]): Promise<boolean> {
  if (messageIds.length === 0) return false
  const rows = await sql`select 1 from collab.delivery_parts where message_id = any(${[...messageIds]}) limit 1`
  return rows.length > 0
}

/** Events that nobody acted on (reactions, read marks, ignored messages) go; those of requests stay with them. */
export async function forgetOldEvents(sql: SqlLike, before: number): Promise<void> {
  await sql`
    delete from collab.ingress_events
    where received_at < ${before} and disposition in ('noted', 'ignored', 'context-item', 'refused', 'control', 'late-control')`
}
