import type { RequestId } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

/** A person's message that waits in a lane and that no turn of its own has begun with. */
export interface FollowUp {
  readonly request: RequestId
  /** When its sender wrote it, and when it arrived. */
  readonly position: number
  readonly openedAt: number
  /** The turn that runs in the lane took its words. */
  readonly told: boolean
}

/** What waits in a lane behind the turn that runs, in its order. */
export async function followUpsBehind(
  sql: SqlLike,
  lane: string,
  turn: string,
  running: string,
  limit: number,
): Promise<readonly FollowUp[]> {
  return await sql<FollowUp[]>`
    select i.request, i.position, r.opened_at as "openedAt", exists (
        select 1 from collab.observations o where o.request = i.request and o.kind = 'steer-settled'
          and o.payload ->> 'turn' = ${turn} and o.payload ->> 'became' = 'taken') as told
    from collab.turn_inputs i join collab.work_requests r on r.id = i.request
    where i.lane = ${lane} and i.state = 'waiting' and i.request <> ${running} and r.parent is null
      and not exists (select 1 from collab.turns t where t.request = i.request)
    order by i.position, i.request limit ${limit}`
}
