import type { LaneId, RequestId } from '../../collab/refs.js'
import type { HeldBecause } from '../../collab/notice.js'
import type { SqlLike } from '../db.js'

/** What a word may reach: everything of a conversation that arrived before it. */
export interface Reach {
  readonly conversation: string
  /** Of the word, in the order of arrival. */
  readonly position: number
  /** Places what did not come in as an event of a chat. Milliseconds since the epoch. */
  readonly at: number
}

/**
 * Asks the turns of a conversation to end: those that a person's message started; only when there are none, those of
 * agents that work was handed to. The holder of a turn looks for it.
 *
 * @param by the mark that asks; the same one again chooses no turn of another kind
 * @returns how many it chose now
 */
export async function askStop(sql: SqlLike, by: string, reach: Reach): Promise<number> {
  const rows = await sql`
    with reached as (
      select t.id, r.parent is null as own from collab.turns t
      join collab.work_requests r on r.id = t.request
      left join collab.ingress_events e on e.bot = r.bot and e.key = r.origin_message
      where t.ended_at is null and r.conversation = ${reach.conversation}
        and coalesce(e.position < ${reach.position}, r.opened_at <= ${reach.at})
    )
    update collab.turns t set stopped_by = ${by}, stop_asked_at = ${reach.at}::bigint
    from reached
    where t.id = reached.id and t.stopped_by is null and (reached.own or not exists (
      select 1 from reached where own union all select 1 from collab.turns where stopped_by = ${by}))
    returning 1`
  return rows.length
}

export interface StoppedTurn {
  readonly id: string
  readonly lane: LaneId
  readonly request: RequestId
  readonly endedAt: number | null
  /** How it ended: completed, interrupted or failed. */
  readonly ended: string | null
}

export async function turnsStoppedBy(sql: SqlLike, by: string): Promise<readonly StoppedTurn[]> {
  return await sql<StoppedTurn[]>`
    select id, lane, request, ended_at as "endedAt", ended from collab.turns where stopped_by = ${by} order by started_at`
}

/**
 * Why a running turn shall end, if it shall: read by its holder, again and again. What was cancelled too late and then
 * corrected runs again.
 */
export async function endAsked(
  sql: SqlLike,
  turn: string,
  request: string,
): Promise<{ readonly cancelled: boolean; readonly stoppedBy: string | null }> {
  const [row] = await sql<{ cancelled: boolean; stoppedBy: string | null }[]>`
    select exists (select 1 from collab.observations where request = ${request} and kind = 'cancel-requested'
        and seq > (select coalesce(max(seq), 0) from collab.observations
          where request = ${request} and kind = 'request-revised')) as cancelled,
      (select stopped_by from collab.turns where id = ${turn}) as "stoppedBy"`
  return row ?? { cancelled: false, stoppedBy: null }
}

/** Messages of a conversation that wait for a turn and came before the word, oldest first. */
export async function waitingBefore(
  sql: SqlLike,
  reach: Reach,
): Promise<readonly { readonly request: RequestId; readonly lane: LaneId; readonly position: number }[]> {
  return await sql<{ request: RequestId; lane: LaneId; position: number }[]>`
    select i.request, i.lane, i.position from collab.turn_inputs i
    join collab.work_requests r on r.id = i.request
    left join collab.ingress_events e on e.bot = r.bot and e.key = r.origin_message
    where i.state = 'waiting' and r.conversation = ${reach.conversation} and r.parent is null
      and coalesce(e.position < ${reach.position}, r.opened_at <= ${reach.at})
    order by i.position, i.request`
}

export interface HeldInput {
  readonly request: RequestId
  readonly lane: LaneId
  readonly position: number
  readonly because: HeldBecause
  /** False for work that an agent handed on. */
  readonly own: boolean
}

/** What waits for the owner's word in a conversation, oldest first. */
export async function heldOf(sql: SqlLike, conversation: string): Promise<readonly HeldInput[]> {
  return await sql<HeldInput[]>`
    select i.request, i.lane, i.position, i.because, r.parent is null as own from collab.turn_inputs i
    join collab.work_requests r on r.id = i.request
    where i.state = 'held' and i.because in ('late', 'stopped', 'backlog', 'failed', 'result-withheld')
      and r.conversation = ${conversation}
    order by i.position, i.request`
}

/** The requests whose inputs a conversation has had, the latest first: read off its own index, however many there are. */
export async function latestOf(sql: SqlLike, conversation: string, limit: number): Promise<readonly RequestId[]> {
  const rows = await sql<{ id: RequestId }[]>`
    select id from collab.work_requests where conversation = ${conversation}
    order by opened_at desc nulls last limit ${limit}`
  return rows.map((row) => row.id)
}

/** Those of some requests that ran in another session than these. */
export async function ranElsewhere(
  sql: SqlLike,
  requests: readonly string[],
  sessions: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ request: string }[]>`
    select distinct request from collab.turns
    where request = any(${[...requests]}) and session is not null and session <> all(${[...sessions]})`
  return new Set(rows.map((row) => row.request))
}

/** The turn that runs in a session now. */
export async function openTurnIn(sql: SqlLike, session: string): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id from collab.turns where session = ${session} and ended_at is null limit 1`
  return row?.id ?? null
}

/** Asks this turn and no other one to end. */
export async function askTurnToEnd(sql: SqlLike, turn: string, by: string, at: number): Promise<void> {
  await sql`update collab.turns set stopped_by = ${by}, stop_asked_at = ${at}
    where id = ${turn} and ended_at is null and stopped_by is null`
}
