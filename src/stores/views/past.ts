import type { Instant, RequestId } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

/** What an agent said in one earlier request: a result or a saved brief. */
export interface PastText {
  readonly request: RequestId
  readonly source: 'result' | 'brief'
  readonly at: Instant
  readonly body: string
}

/**
 * The newest things that an agent said in other requests of one conversation, newest first, whose words were not
 * erased.
 */
export async function pastTexts(
  sql: SqlLike,
  of: {
    readonly agent: string
    readonly conversation: string
    readonly except: string
    readonly accessScope: string
    readonly most: number
  },
): Promise<readonly PastText[]> {
  return await sql<PastText[]>`
    with mine as (
      select w.id from collab.work_requests w
      where w.conversation = ${of.conversation} and w.id <> ${of.except}
        and exists (select 1 from collab.dispatch_attempts a where a.request = w.id and a.target = ${of.agent})
      order by w.opened_at desc nulls last limit ${of.most}
    )
    select said.request, said.source, said.at, t.body from (
      select r.request, 'result' as source, r.committed_at as at, r.text_digest as digest
      from collab.results r join mine on mine.id = r.request
      join collab.dispatch_attempts a on a.id = r.attempt and a.target = ${of.agent}
      union all
      select o.request, 'brief', o.recorded_at, o.payload ->> 'brief'
      from collab.observations o join mine on mine.id = o.request
      where o.kind = 'brief-saved' and o.payload ->> 'agent' = ${of.agent}
    ) said
    join collab.texts t on t.digest = said.digest and t.access_scope = ${of.accessScope} and t.body is not null
    order by said.at desc limit ${of.most}`
}
