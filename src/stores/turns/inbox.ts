import type { RequestId } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

/** One entry of an inbox with its place in the order. */
export interface InboxPlace {
  readonly request: RequestId
  readonly at: number
}

/**
 * What stands in a lane, in the order in which it was written: waiting, or deferred and still owed. What is held until
 * the owner's word is not offered to anybody.
 */
export async function laneInbox(
  sql: SqlLike,
  lane: string,
  after: { readonly at: number; readonly id: string },
  limit: number,
): Promise<readonly InboxPlace[]> {
  return await sql<InboxPlace[]>`
    select request, position as at from collab.turn_inputs
    where lane = ${lane} and state <> 'settled' and (state = 'waiting' or because in ('attached', 'deferred'))
      and (position, request) > (${after.at}, ${after.id})
    order by position, request limit ${limit}`
}

/** What stands in the inbox of an agent that pulls by itself, over all conversations, oldest request first. */
export async function attachedInbox(
  sql: SqlLike,
  agent: string,
  after: string,
  limit: number,
): Promise<readonly InboxPlace[]> {
  return await sql<InboxPlace[]>`
    select distinct a.request, 0 as at from collab.dispatch_attempts a
    join collab.turn_inputs i on i.request = a.request and i.state <> 'settled'
    where a.target = ${agent} and a.fence_released_at is null and a.request > ${after}
    order by a.request limit ${limit}`
}

/** Turns that run now and inputs that wait, by receiver; an agent without any is missing. */
export async function loadOf(
  sql: SqlLike,
): Promise<ReadonlyMap<string, { readonly running: number; readonly waiting: number }>> {
  const rows = await sql<{ agent: string; running: number; waiting: number }[]>`
    select agent, sum(running)::int as running, sum(waiting)::int as waiting from (
      select a.target as agent, 1 as running, 0 as waiting
      from collab.turns t join collab.dispatch_attempts a on a.id = t.attempt where t.ended_at is null
      union all
      select a.target, 0, 1 from collab.turn_inputs i
      join collab.dispatch_attempts a on a.request = i.request and a.fence_released_at is null
      where i.state <> 'settled'
    ) as each group by agent`
  return new Map(rows.map((row) => [row.agent, { running: row.running, waiting: row.waiting }]))
}
