import type { AttemptOutcome, PartNow } from '../../collab/decide/send.js'
import { inReadingOrder, type RowPlace } from '../../collab/decide/restate.js'
import type { PartState } from '../../collab/delivery.js'
import type { MessageType, OutgoingFile, PartSource, PlannedPart } from '../../collab/channel.js'
import type { DeliveryId } from '../../collab/refs.js'
import { digestOf } from '../../lib/digest.js'
import { storable } from '../../lib/storable.js'
import type { SqlLike } from '../db.js'

export interface PartId {
  readonly delivery: DeliveryId
  readonly index: number
  readonly subIndex: number
}

export interface PartRow extends PartId, PartNow, RowPlace {
  readonly msgType: MessageType
  readonly content: string
  readonly bytes: number
  readonly plain: string | null
  readonly file: OutgoingFile | null
  readonly renderer: string
  readonly source: PartSource | null
  /** Sent as a new message: what it answers cannot be replied to. */
  readonly detached: boolean
}

/** All parts of a delivery in the order in which a reader gets them, each with its calls. */
export async function partsOf(sql: SqlLike, delivery: DeliveryId): Promise<readonly PartRow[]> {
  const rows = await sql<PartRow[]>`
    select p.delivery, p.index, p.sub_index as "subIndex", p.replaces, p.key, p.msg_type as "msgType", p.content,
      p.bytes, p.plain, p.file, p.file is not null as "isFile", p.renderer, p.source, p.detached, p.state, p.because, p.upload_key as "uploadKey",
      p.message_id as "messageId", p.attempts, p.failed_looks as "failedLooks", p.first_call_at as "firstCallAt", p.not_before as "notBefore",
      p.settled_at as "settledAt", h.history
    from collab.delivery_parts p
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('startedAt', a.started_at, 'endedAt', a.ended_at,
        'outcome', a.outcome) order by a.started_at, a.id), '[]'::jsonb) as history
      from collab.send_attempts a
      where a.delivery = p.delivery and a.index = p.index and a.sub_index = p.sub_index
    ) h
    where p.delivery = ${delivery}`
  return inReadingOrder(rows)
}

/** A form that stands for a refused part. */
export interface OtherRow {
  readonly part: PlannedPart
  /** Kept from the refused part when only the call changes; null: its own. */
  readonly key: string | null
  readonly uploadKey: string | null
  readonly detached: boolean
}

/** Puts rows into the place of a part that was just superseded, in the same transaction. */
export async function putForms(sql: SqlLike, part: PartId, rows: readonly OtherRow[]): Promise<void> {
  const [last] = await sql<[{ subIndex: number }]>`
    select max(sub_index) as "subIndex" from collab.delivery_parts
    where delivery = ${part.delivery} and index = ${part.index}`
  const json = JSON.stringify(
    rows.map((row, n) => {
      const subIndex = last.subIndex + 1 + n
      return {
        sub_index: subIndex,
        key: row.key ?? partKey({ ...part, subIndex }, row.part),
        upload_key: row.uploadKey,
        detached: row.detached,
        ...columnsOf(row.part),
      }
    }),
  )
  await sql`
    insert into collab.delivery_parts (delivery, index, sub_index, replaces, key, msg_type, content, bytes, plain, file,
      renderer, source, upload_key, detached, state)
    select ${part.delivery}, ${part.index}::int, p.sub_index, ${part.subIndex}::int, p.key, p.msg_type, p.content,
      p.bytes, p.plain, p.file, p.renderer, p.source, p.upload_key, p.detached, 'planned'
    from jsonb_to_recordset(${json}::text::jsonb) as p(
      sub_index int, key text, msg_type text, content text, bytes int, plain text, file jsonb, renderer text,
      source jsonb, upload_key text, detached boolean)`
}

/** A planned part as the columns of its row. */
function columnsOf(part: PlannedPart) {
  return {
    msg_type: part.msgType,
    content: part.content,
    bytes: part.bytes,
    plain: part.plain,
    file: part.file,
    renderer: part.renderer,
    source: storable(part.source ?? null) ?? null,
  }
}

/**
 * The key of a part: never the target or the text alone, so two equal answers are two keys, and the same part sent by
 * another call keeps its key. The sub-index counts only where there is one: equal pieces of one part are two.
 */
export function partKey(place: PartId, part: PlannedPart): string {
  return digestOf({
    delivery: place.delivery,
    index: place.index,
    ...(place.subIndex === 0 ? {} : { subIndex: place.subIndex }),
    msgType: part.msgType,
    content: digestOf(part.content),
    file: part.file?.digest ?? null,
  })
}

/** Stores all parts with their exact bodies, once. False: another run planned it. */
export async function commitPlan(
  sql: SqlLike,
  delivery: DeliveryId,
  parts: readonly PlannedPart[],
  now: number,
): Promise<boolean> {
  const json = JSON.stringify(
    parts.map((part, index) => ({
      index,
      key: partKey({ delivery, index, subIndex: 0 }, part),
      ...columnsOf(part),
    })),
  )
  const rows = await sql`
    with planned as (
      update collab.deliveries set planned_at = ${now} where id = ${delivery} and planned_at is null returning id
    ), parts as (
      insert into collab.delivery_parts
        (delivery, index, sub_index, key, msg_type, content, bytes, plain, file, renderer, source, state)
      select planned.id, p.index, 0, p.key, p.msg_type, p.content, p.bytes, p.plain, p.file, p.renderer, p.source,
        'planned'
      from planned, jsonb_to_recordset(${json}::text::jsonb) as p(
        index int, key text, msg_type text, content text, bytes int, plain text, file jsonb, renderer text,
        source jsonb)
    )
    select 1 from planned`
  return rows.length > 0
}

/**
 * Closes what an earlier run left open: a call without a recorded answer is doubtful, and its answer is refused from
 * now on. Only the holder of the delivery calls this.
 */
export async function closeLost(sql: SqlLike, delivery: DeliveryId, now: number): Promise<number> {
  const rows = await sql`
    with lost as (
      update collab.send_attempts set ended_at = ${now}, outcome = 'ambiguous', detail = 'no answer was recorded'
      where delivery = ${delivery} and ended_at is null returning 1
    ), parts as (
      update collab.delivery_parts set state = 'ambiguous', because = 'no-answer', attempts = attempts + 1
      where delivery = ${delivery} and state = 'sending'
    )
    select 1 from lost`
  return rows.length
}

/** Writes the call down before it is made. False: the part is no longer waiting for one. */
export async function beginAttempt(
  sql: SqlLike,
  part: PartId,
  attempt: { readonly id: string; readonly by: string; readonly now: number },
): Promise<boolean> {
  const rows = await sql`
    with part as (
      update collab.delivery_parts
      set state = 'sending', because = null, not_before = null, first_call_at = coalesce(first_call_at, ${attempt.now})
      where delivery = ${part.delivery} and index = ${part.index} and sub_index = ${part.subIndex}
        and state in ('planned', 'ambiguous')
      returning delivery, index, sub_index
    )
    insert into collab.send_attempts (id, delivery, index, sub_index, started_at, by)
    select ${attempt.id}, delivery, index, sub_index, ${attempt.now}::bigint, ${attempt.by} from part
    returning 1`
  return rows.length > 0
}

export interface AttemptEnd {
  readonly id: string
  readonly outcome: AttemptOutcome
  readonly code: number | null
  readonly detail: string | null
  readonly now: number
}

export interface PartChange {
  readonly state: PartState
  readonly because: string | null
  readonly notBefore: number | null
  readonly messageId: string | null
  readonly settledAt: number | null
  /** False for a call that the platform did not take up: it costs no attempt. */
  readonly counts: boolean
  /** Nothing of this part can be in the chat: the window of its uuid has not begun. */
  readonly windowOpen: boolean
}

/** Records the answer and what the part is now. False: another run has taken the part over, and this answer is refused. */
export async function endAttempt(sql: SqlLike, part: PartId, end: AttemptEnd, change: PartChange): Promise<boolean> {
  const rows = await sql`
    with ended as (
      update collab.send_attempts
      set ended_at = ${end.now}, outcome = ${end.outcome}, code = ${end.code}, detail = ${end.detail}
      where id = ${end.id} and ended_at is null returning 1
    )
    update collab.delivery_parts
    set state = ${change.state}, because = ${change.because}, not_before = ${change.notBefore},
      message_id = ${change.messageId}, settled_at = ${change.settledAt},
      attempts = attempts + ${change.counts ? 1 : 0},
      first_call_at = case when ${change.windowOpen} then first_call_at end
    where delivery = ${part.delivery} and index = ${part.index} and sub_index = ${part.subIndex}
      and state = 'sending' and exists (select 1 from ended)
    returning 1`
  return rows.length > 0
}

/** Moves a part that has no call open. `from` is the state it was decided in; false when it has another one now. */
export async function movePart(
  sql: SqlLike,
  part: PartId,
  from: PartState,
  to: { readonly state: PartState; readonly because: string | null; readonly notBefore: number | null } & {
    readonly messageId?: string
    readonly settledAt?: number
    readonly uploadKey?: string
    /** Added to the counter of tries. */
    readonly tried?: 1
    /** A look at the chat failed, or said something; absent: there was none. */
    readonly looked?: 'in-vain' | 'well'
  },
): Promise<boolean> {
  const rows = await sql`
    update collab.delivery_parts
    set state = ${to.state}, because = ${to.because}, not_before = ${to.notBefore},
      message_id = coalesce(${to.messageId ?? null}, message_id), settled_at = ${to.settledAt ?? null},
      upload_key = coalesce(upload_key, ${to.uploadKey ?? null}), attempts = attempts + ${to.tried ?? 0},
      failed_looks = case ${to.looked ?? ''} when 'in-vain' then failed_looks + 1 when 'well' then 0 else failed_looks end
    where delivery = ${part.delivery} and index = ${part.index} and sub_index = ${part.subIndex} and state = ${from}
    returning 1`
  return rows.length > 0
}

/** What a look at the chat, or the operator, said about all doubtful calls of a part. */
export async function settleDoubts(
  sql: SqlLike,
  part: PartId,
  outcome: 'absent' | 'found',
  detail: string,
): Promise<void> {
  await sql`
    with doubts as (
      update collab.send_attempts set outcome = ${outcome}, detail = ${detail}
      where delivery = ${part.delivery} and index = ${part.index} and sub_index = ${part.subIndex}
        and ended_at is not null and outcome = 'ambiguous'
    )
    update collab.delivery_parts set first_call_at = null
    where delivery = ${part.delivery} and index = ${part.index} and sub_index = ${part.subIndex}
      and ${outcome === 'absent'}`
}

/** Whether a message is known as another part: equal texts must not stand for one another. */
export async function isOtherPart(sql: SqlLike, part: PartId, messageId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from collab.delivery_parts
    where message_id = ${messageId} and (delivery, index, sub_index) <> (${part.delivery}, ${part.index}::int, ${part.subIndex}::int)`
  return rows.length > 0
}

/** Those of some messages that no part knows as its own. */
export async function unsentOf(sql: SqlLike, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (messageIds.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    select message_id as id from collab.delivery_parts where message_id = any(${[...messageIds]})`
  const known = new Set(rows.map((row) => row.id))
  return new Set(messageIds.filter((id) => !known.has(id)))
}

/** Whether any call into a chat has an outcome that is not known yet. */
export async function isAnyOpenIn(sql: SqlLike, bot: string, chatId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from collab.deliveries d join collab.delivery_parts p on p.delivery = d.id
    where d.bot = ${bot} and d.route ->> 'chatId' = ${chatId} and (d.settled_at is null or d.outcome = 'parked')
      and p.state in ('sending', 'ambiguous', 'parked')
    limit 1`
  return rows.length > 0
}
