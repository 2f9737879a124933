import type { EffectiveProfile } from '../../collab/ports.js'
import type { SqlLike } from '../db.js'
import type { Place } from './cursor.js'

/** One runtime session that continues, or continued, a lane: of one agent in one conversation. */
export interface SessionView {
  readonly id: string
  /** Null while no turn has run in it. */
  readonly agent: string | null
  readonly conversation: string | null
  readonly runtime: string
  /** As the runtime names it; it opens nothing. */
  readonly session: string
  /** What the runtime said is in force. */
  readonly effective: EffectiveProfile
  readonly boundAt: number
  readonly endedAt: number | null
  readonly because: string | null
  /** Of the newest executor; tool calls of older ones are refused. Null: it was given no tools. */
  readonly epoch: number | null
  readonly turns: number
  /** The turn that runs in it now. */
  readonly running: string | null
}

/** Newest first. `live`: only those that would go on. */
export async function listSessions(
  sql: SqlLike,
  after: Place,
  limit: number,
  live: boolean,
): Promise<readonly SessionView[]> {
  return await views(
    sql,
    sql`(b.bound_at, b.id) < (${after.at}, ${after.id}) and (${!live} or b.ended_at is null)
      order by b.bound_at desc, b.id desc limit ${limit}`,
  )
}

export async function findSession(sql: SqlLike, id: string): Promise<SessionView | null> {
  const [view] = await views(sql, sql`b.id = ${id}`)
  return view ?? null
}

async function views(sql: SqlLike, which: ReturnType<SqlLike>): Promise<readonly SessionView[]> {
  return await sql<SessionView[]>`
    select b.id, last.target as agent, last.conversation, b.runtime, b.session, b.effective, b.bound_at as "boundAt",
      b.ended_at as "endedAt", b.because,
      (select max(k.epoch) from collab.tokens k where k.seat = 'lane ' || b.lane) as epoch,
      (select count(*)::int from collab.turns t where t.session = b.lane
        and t.started_at >= b.bound_at and (b.ended_at is null or t.started_at < b.ended_at)) as turns,
      case when b.ended_at is null then
        (select t.id from collab.turns t where t.session = b.lane and t.ended_at is null limit 1) end as running
    from collab.session_bindings b
    left join lateral (
      select a.target, r.conversation from collab.turns t
      join collab.work_requests r on r.id = t.request join collab.dispatch_attempts a on a.id = t.attempt
      where t.session = b.lane order by t.started_at desc limit 1
    ) last on true
    where ${which}`
}
