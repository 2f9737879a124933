import type { SqlLike } from '../db.js'

/** One fact of a request, or one thing that a runtime was seen to do. Holds no words of people and no bodies. */
export interface Change {
  /** Names it for ever: whoever sees it twice has seen one thing. */
  readonly id: string
  readonly what: 'fact' | 'activity'
  readonly request: string
  /** The kind of fact, or the activity. */
  readonly kind: string
  /** Of a fact, counted within its request; null for an activity. */
  readonly seq: number | null
  readonly turn: string | null
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface Changes {
  /** Where the next look goes on. */
  readonly cursor: string
  readonly changes: readonly Change[]
}

const cursorShape = /^\d{1,19}:\d{1,19}:(?:\d{1,19}(?:,\d{1,19})*)?$/u

/** Transactions are counted to here: Postgres gives them 64 bits, and we read them as a signed number. */
const LAST = 2n ** 63n - 1n

/** A snapshot as the database writes one itself; whether it is one of this database is seen when it is used. */
export function isCursor(text: string): boolean {
  if (text.length > 4_000 || !cursorShape.test(text)) return false
  const [from, to, running] = text.split(':') as [string, string, string]
  const [oldest, next] = [BigInt(from), BigInt(to)]
  if (oldest < 1n || oldest > next || next > LAST) return false
  // In ascending order and between the two: the database refuses any other list.
  const open = running === '' ? [] : running.split(',').map(BigInt)
  return open.every((one, n) => one >= (n === 0 ? oldest : (open[n - 1] ?? oldest)) && one < next)
}

/** Where everything that is there now has been seen. */
export async function cursorNow(sql: SqlLike): Promise<string> {
  const [row] = await sql<{ cursor: string }[]>`select pg_current_snapshot()::text as cursor`
  return row?.cursor ?? ''
}

/**
 * What was committed since a snapshot was taken, whatever the order in which its transactions began, oldest first. The
 * cursor is that of the very statement, so that nothing falls between two looks and nothing is in both.
 *
 * @param of one exchange: a root request and everything that came of it; null for all
 * @returns null when the cursor is of another database, or more than `limit` changes lie behind it
 */
export async function changesSince(
  sql: SqlLike,
  cursor: string,
  of: string | null,
  limit: number,
): Promise<Changes | null> {
  const [row] = await sql<{ known: boolean; cursor: string; changes: readonly Change[] }[]>`
    with recursive seen as materialized (
      select ${cursor}::pg_snapshot as snapshot, pg_snapshot_xmin(${cursor}::pg_snapshot)::text::bigint as oldest
    ), exchange as (
      select id from collab.work_requests where id = ${of}
      union all
      select w.id from collab.work_requests w join exchange e on w.parent = e.id
    ), fresh as (
      select o.event_id || '-' || o.ordinal as id, 'fact' as what, o.request, o.kind, o.seq,
        coalesce(o.payload ->> 'turn', o.payload ->> 'during') as turn, o.recorded_at as at, o.seq as nth
      from collab.observations o
      where o.written_in >= (select oldest from seen)
        and not pg_visible_in_snapshot(o.written_in::text::xid8, (select snapshot from seen))
      union all
      select a.turn || '-' || a.ordinal, 'activity', a.request, a.activity, null, a.turn, a.at, a.ordinal
      from collab.turn_activity a
      where a.written_in >= (select oldest from seen)
        and not pg_visible_in_snapshot(a.written_in::text::xid8, (select snapshot from seen))
    ), told as (
      select * from fresh
      where ${of}::text is null or request in (select id from exchange)
      order by at, request, what desc, nth limit ${limit + 1}
    )
    select pg_snapshot_xmax(pg_current_snapshot()) >= pg_snapshot_xmax((select snapshot from seen)) as known,
      pg_current_snapshot()::text as cursor,
      coalesce((select jsonb_agg(to_jsonb(told) - 'nth') from told), '[]'::jsonb) as changes`
  if (row === undefined || !row.known || row.changes.length > limit) return null
  return { cursor: row.cursor, changes: row.changes }
}

/** What the agent of a request is seen to do now, and since when; null while no turn of it runs or nothing was seen. */
export async function doingNow(
  sql: SqlLike,
  request: string,
): Promise<{ readonly activity: string; readonly since: number } | null> {
  const [row] = await sql<{ activity: string; since: number }[]>`
    select a.activity, a.at as since from collab.turns t join collab.turn_activity a on a.turn = t.id
    where t.request = ${request} and t.ended_at is null order by a.ordinal desc limit 1`
  return row ?? null
}
