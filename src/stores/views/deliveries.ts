import type { CauseKind, DeliveryOutcome, PartState } from '../../collab/delivery.js'
import type { DeliveryView } from '../../collab/project/request-view.js'
import type { ReturnRef } from '../../collab/refs.js'
import type { Db } from '../db.js'
import { cursorOf, newest, type Place } from './cursor.js'

export const deliveryStates = ['planned', 'sending', 'verified', 'accepted', 'failed', 'parked'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** A delivery with the request that it answers; null for a notice that belongs to none. */
export interface DeliveryRow extends DeliveryView {
  readonly request: string | null
}

export interface DeliveryPage {
  readonly items: readonly DeliveryRow[]
  readonly nextCursor: string | null
}

interface Stored {
  readonly id: string
  readonly cause: CauseKind
  readonly causeId: string
  readonly request: string | null
  readonly route: ReturnRef
  readonly createdAt: number
  readonly settledAt: number | null
  readonly plannedAt: number | null
  readonly outcome: DeliveryOutcome | null
  readonly parts: readonly {
    index: number
    subIndex: number
    state: PartState
    msgType: string
    because: string | null
    messageId: string | null
    attempts: number
  }[]
}

const columns = `d.id, d.cause_kind as cause, d.cause_id as "causeId", d.request, d.route, d.created_at as "createdAt",
  d.settled_at as "settledAt", d.planned_at as "plannedAt", d.outcome,
  coalesce((select jsonb_agg(jsonb_build_object('index', p.index, 'subIndex', p.sub_index, 'state', p.state,
      'msgType', p.msg_type, 'because', p.because, 'messageId', p.message_id, 'attempts', p.attempts)
      order by p.index, p.sub_index)
    from collab.delivery_parts p where p.delivery = d.id), '[]'::jsonb) as parts`

/** The deliveries of several requests, oldest first. */
export async function deliveriesOfMany(
  sql: Db['sql'],
  requests: readonly string[],
): Promise<ReadonlyMap<string, readonly DeliveryView[]>> {
  if (requests.length === 0) return new Map()
  const rows = await sql<Stored[]>`
    select ${sql.unsafe(columns)} from collab.deliveries d
    where d.request in ${sql([...requests])} order by d.created_at, d.id`
  const grouped = new Map<string, DeliveryView[]>()
  const acts = await actsOf(sql, rows)
  for (const row of rows) {
    const list = grouped.get(row.request ?? '') ?? []
    list.push(viewOf(row, acts))
    grouped.set(row.request ?? '', list)
  }
  return grouped
}

/** Newest first, by (created at, id). */
export async function listDeliveries(
  sql: Db['sql'],
  filter: { readonly state: DeliveryState | null; readonly after: Place | null; readonly limit: number },
): Promise<DeliveryPage> {
  const after = filter.after ?? newest
  const rows = await sql<Stored[]>`
    select ${sql.unsafe(columns)} from collab.deliveries d
    where (d.created_at, d.id) < (${after.at}, ${after.id}) ${whereState(sql, filter.state)}
    order by d.created_at desc nulls last, d.id desc nulls last limit ${filter.limit + 1}`
  const acts = await actsOf(sql, rows)
  const items = rows.slice(0, filter.limit).map((row) => ({ ...viewOf(row, acts), request: row.request }))
  const last = items.at(-1)
  const more = rows.length > filter.limit && last !== undefined
  return { items, nextCursor: more ? cursorOf({ at: last.createdAt, id: last.id }) : null }
}

export async function findDelivery(sql: Db['sql'], id: string): Promise<DeliveryRow | null> {
  const [row] = await sql<Stored[]>`select ${sql.unsafe(columns)} from collab.deliveries d where d.id = ${id}`
  return row === undefined ? null : { ...viewOf(row, await actsOf(sql, [row])), request: row.request }
}

type Acts = ReadonlyMap<string, DeliveryView['acts']>

/** What was decided about deliveries, from the lines that every act at a door leaves. */
async function actsOf(sql: Db['sql'], rows: readonly Stored[]): Promise<Acts> {
  if (rows.length === 0) return new Map()
  const lines = await sql<{ subject: string; at: number; who: string; act: string }[]>`
    select subject, at, who, act from collab.audit_lines
    where subject in ${sql(rows.map((row) => row.id))} order by at, id`
  const grouped = new Map<string, { at: number; who: string; act: string }[]>()
  for (const { subject, at, who, act } of lines)
    grouped.set(subject, [...(grouped.get(subject) ?? []), { at, who, act }])
  return grouped
}

function whereState(sql: Db['sql'], state: DeliveryState | null) {
  const begun = sql`exists (select 1 from collab.delivery_parts b where b.delivery = d.id
    and b.state not in ('planned', 'superseded'))`
  if (state === null) return sql``
  if (state === 'planned') return sql`and d.settled_at is null and not ${begun}`
  if (state === 'sending') return sql`and d.settled_at is null and ${begun}`
  // The second condition is what the index of stopped ones is made for.
  if (state === 'failed' || state === 'parked')
    return sql`and d.outcome = ${state} and d.outcome in ('failed', 'parked')`
  return sql`and d.outcome = ${state}`
}

function viewOf(row: Stored, acts: Acts): DeliveryView {
  const begun = row.parts.some((part) => part.state !== 'planned' && part.state !== 'superseded')
  return {
    id: row.id,
    cause: row.cause,
    result: row.cause === 'result' || row.cause === 'interim' ? row.causeId : null,
    state: row.outcome ?? (begun ? 'sending' : 'planned'),
    createdAt: row.createdAt,
    settledAt: row.settledAt,
    route: row.route,
    parts: row.parts,
    acts: acts.get(row.id) ?? [],
  }
}
