import { digestOf } from '../../lib/digest.js'
import type { CauseKind, DeliveryOutcome, DeliverySource, NewDelivery } from '../../collab/delivery.js'
import type { WakeRef } from '../../collab/ports.js'
import type { BotId, DeliveryId, RequestId, ReturnRef } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

export interface DeliveryRow {
  readonly id: DeliveryId
  readonly causeKind: CauseKind
  readonly causeId: string
  readonly route: ReturnRef
  readonly bot: BotId
  readonly request: RequestId | null
  /** Place among the answers of its request; null for what is no answer. */
  readonly ordinal: number | null
  readonly source: DeliverySource
  readonly createdAt: number
  readonly plannedAt: number | null
  readonly settledAt: number | null
  readonly outcome: DeliveryOutcome | null
}

/** The rows of `deliveries`, for a statement that puts them together with other facts (see `putDeliveries`). */
export function deliveryRows(deliveries: readonly NewDelivery[]): readonly object[] {
  return deliveries.map((delivery, n) => ({
    n,
    id: delivery.id,
    cause_kind: delivery.causeKind,
    cause_id: delivery.causeId,
    route_key: digestOf(delivery.route),
    route: delivery.route,
    bot: delivery.bot,
    request: delivery.request,
    source: delivery.source,
    created_at: delivery.createdAt,
  }))
}

/**
 * Inserts `deliveryRows`, to be followed by what to do about conflicts. An answer gets the next place among those of its
 * request; the head of the request is locked where answers are committed, so two never get the same one.
 *
 * @param rows the expression that gives them as jsonb
 */
export const deliveriesInto = (rows: string): string => `
    insert into collab.deliveries
      (id, cause_kind, cause_id, route_key, route, bot, request, ordinal, source, created_at)
    select id, cause_kind, cause_id, route_key, route, bot, request,
      case when cause_kind in ('result', 'interim') and request is not null then d.n + 1 + (
        select coalesce(max(e.ordinal), 0) from collab.deliveries e where e.request = d.request) end,
      source, created_at
    from jsonb_to_recordset(${rows}) as d(
      n int, id text, cause_kind text, cause_id text, route_key text, route jsonb, bot text, request text, source jsonb,
      created_at bigint)`

/** Puts deliveries; of several for one cause and route the first stays. Returns the ids that are new. */
export async function putDeliveries(
  sql: SqlLike,
  deliveries: readonly NewDelivery[],
): Promise<ReadonlySet<DeliveryId>> {
  if (deliveries.length === 0) return new Set()
  const statement = `${deliveriesInto('$1::text::jsonb')} on conflict do nothing returning id`
  const rows = await sql.unsafe<{ id: DeliveryId }[]>(statement, [JSON.stringify(deliveryRows(deliveries))], {
    prepare: true,
  })
  return new Set(rows.map((row) => row.id))
}

export async function deliveryOf(sql: SqlLike, id: DeliveryId): Promise<DeliveryRow | null> {
  const [row] = await sql<DeliveryRow[]>`
    select id, cause_kind as "causeKind", cause_id as "causeId", route, bot, request, ordinal, source,
      created_at as "createdAt", planned_at as "plannedAt", settled_at as "settledAt", outcome
    from collab.deliveries where id = ${id}`
  return row ?? null
}

/**
 * The nearest earlier answer of the same request on the same route of which something is still to be sent; null: none.
 * One that waits only for its read-back is in the chat, and holds nobody.
 */
export async function answerBefore(sql: SqlLike, delivery: DeliveryRow): Promise<DeliveryId | null> {
  if (delivery.ordinal === null) return null
  const [row] = await sql<{ id: DeliveryId }[]>`
    select id from collab.deliveries
    where request = ${delivery.request} and route_key = ${digestOf(delivery.route)} and ordinal < ${delivery.ordinal}
      and settled_at is null
      and (planned_at is null or exists (
        select 1 from collab.delivery_parts p where p.delivery = deliveries.id
          and p.state in ('planned', 'sending', 'ambiguous')))
    order by ordinal desc limit 1`
  return row?.id ?? null
}

/** The next answer of the same request on the same route that waits for this one. */
export async function answerBehind(sql: SqlLike, delivery: DeliveryRow): Promise<DeliveryId | null> {
  if (delivery.ordinal === null) return null
  const [row] = await sql<{ id: DeliveryId }[]>`
    select id from collab.deliveries
    where request = ${delivery.request} and route_key = ${digestOf(delivery.route)} and ordinal > ${delivery.ordinal}
      and settled_at is null
    order by ordinal limit 1`
  return row?.id ?? null
}

/** Locks a delivery until the transaction ends. */
export async function lockDelivery(
  sql: SqlLike,
  id: DeliveryId,
): Promise<{ readonly outcome: DeliveryOutcome | null } | null> {
  const [row] = await sql<{ outcome: DeliveryOutcome | null }[]>`
    select outcome from collab.deliveries where id = ${id} for update`
  return row ?? null
}

/** The wake of a delivery as it stands. */
export async function wakeOf(sql: SqlLike, id: DeliveryId): Promise<WakeRef | null> {
  const [row] = await sql<{ generation: number }[]>`
    select generation from collab.wakes where kind = 'deliver' and subject = ${id}`
  return row === undefined ? null : { kind: 'deliver', subject: id, generation: row.generation }
}

/** A text body that this scope may read; null when it is unknown or was erased. */
export async function bodyOf(sql: SqlLike, digest: string, accessScope: string): Promise<string | null> {
  const [row] = await sql<{ body: string | null }[]>`
    select body from collab.texts where digest = ${digest} and access_scope = ${accessScope}`
  return row?.body ?? null
}

/** Ends a delivery, once: false when it has ended already. */
export async function settleDelivery(
  sql: SqlLike,
  id: DeliveryId,
  outcome: DeliveryOutcome,
  now: number,
): Promise<boolean> {
  const rows = await sql`
    update collab.deliveries set settled_at = ${now}, outcome = ${outcome}
    where id = ${id} and settled_at is null returning 1`
  return rows.length > 0
}

/** Opens an ended delivery again, on demand. */
export async function reopenDelivery(sql: SqlLike, id: DeliveryId): Promise<void> {
  await sql`
    update collab.deliveries set settled_at = null, outcome = null
    where id = ${id} and outcome in ('failed', 'parked')`
}

/** Was this cause told already, wherever? */
export async function isTold(sql: SqlLike, bot: BotId, causeKind: CauseKind, causeId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from collab.deliveries where bot = ${bot} and cause_kind = ${causeKind} and cause_id = ${causeId} limit 1`
  return rows.length > 0
}
