import type { LaneId, RequestId } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

/** Inputs that one look takes in at most. */
const MOST = 500

/** One input that is not settled, with the turn that works on it now. */
export interface OpenInput {
  readonly request: RequestId
  readonly lane: LaneId
  readonly state: 'waiting' | 'held'
  readonly because: string | null
  /** False for work that an agent handed on. */
  readonly own: boolean
  /** A turn that runs now for another request took its words. */
  readonly told: boolean
  readonly turn: {
    readonly startedAt: number
    /** The runtime has said that it began. */
    readonly begun: boolean
    readonly runtime: string
    readonly stopping: boolean
  } | null
}

/** Everything of a conversation that is not settled, in the order in which it was written. */
export async function openInputsOf(sql: SqlLike, conversation: string): Promise<readonly OpenInput[]> {
  return await sql<OpenInput[]>`
    select i.request, i.lane, i.state, i.because, r.parent is null as own,
      exists (select 1 from collab.observations o
        join collab.turns s on s.id = o.payload ->> 'turn' and s.ended_at is null
        where o.request = i.request and o.kind = 'steer-settled' and o.payload ->> 'became' = 'taken') as told,
      case when t.id is null then null else jsonb_build_object('startedAt', t.started_at,
        'begun', t.host_turn is not null, 'runtime', t.runtime, 'stopping', t.stopped_by is not null) end as turn
    from collab.turn_inputs i
    join collab.work_requests r on r.id = i.request
    left join collab.turns t on t.request = i.request and t.ended_at is null
    where i.state <> 'settled' and r.conversation = ${conversation}
    order by i.position, i.request limit ${MOST}`
}
