import { DAY, MINUTE } from '../../lib/time.js'
import type { Db } from '../db.js'

/** What stands still and needs a look; each is a count, the rows are found in the lists. */
export interface StuckCounts {
  /** Jobs that used up their tries. */
  readonly wakesDead: number
  /** Due for more than five minutes and taken by nobody. */
  readonly wakesOverdue: number
  readonly deliveriesParked: number
  readonly deliveriesFailed: number
  /** Neither placed nor given up after ten minutes. */
  readonly receiptsUnsettled: number
  readonly receiptsNotRemoved: number
  /** Stored events that nothing has acted on for five minutes. */
  readonly eventsOwed: number
  /** Held until their owner says run or skip. */
  readonly inputsHeld: number
}

export async function stuckCounts(sql: Db['sql'], now: number): Promise<StuckCounts> {
  const [row] = await sql<[StuckCounts]>`
    select
      (select count(*) from collab.wakes where state = 'dead') as "wakesDead",
      (select count(*) from collab.wakes where state = 'pending'
        and due_at < ${now - 5 * MINUTE}) as "wakesOverdue",
      (select count(*) from collab.deliveries where outcome = 'parked') as "deliveriesParked",
      (select count(*) from collab.deliveries where outcome = 'failed') as "deliveriesFailed",
      (select count(*) from collab.reactions where state in ('prepared', 'removing')
        and prepared_at < ${now - 10 * MINUTE}) as "receiptsUnsettled",
      (select count(*) from collab.reactions where state = 'cleanup-failed') as "receiptsNotRemoved",
      (select count(*) from collab.ingress_events where disposition is null
        and received_at < ${now - 5 * MINUTE}) as "eventsOwed",
      (select count(*) from collab.turn_inputs where state = 'held' and because in ('late', 'stopped', 'backlog')) as "inputsHeld"`
  return row
}

/** How many requests stand unresolved, and where, for the metrics: each count is answered by a partial index. */
export interface Unresolved {
  readonly axis: 'assignment' | 'delivery'
  readonly value: 'waiting' | 'presented' | 'held' | 'send-pending' | 'ambiguous' | 'failed'
  readonly count: number
}

export async function unresolvedCounts(sql: Db['sql']): Promise<readonly Unresolved[]> {
  return await sql<Unresolved[]>`
    with running as (select lane, request from collab.turns where ended_at is null),
    inputs as (
      select state, request in (select request from running) as runs from collab.turn_inputs where state <> 'settled'
    )
    select 'assignment' as axis, 'presented' as value, count(*)::int as count from running
    union all select 'assignment', 'waiting', count(*)::int from inputs where state = 'waiting' and not runs
    union all select 'assignment', 'held', count(*)::int from inputs where state = 'held'
    union all select 'delivery', 'send-pending', count(*)::int from collab.deliveries
      where settled_at is null and cause_kind in ('result', 'interim')
    union all select 'delivery', case outcome when 'parked' then 'ambiguous' else 'failed' end, count(*)::int
      from collab.deliveries where outcome in ('failed', 'parked') and cause_kind in ('result', 'interim')
      group by outcome`
}

/** Provider events of the last day by what became of them; `owed` has no disposition yet. */
export async function ingressCounts(sql: Db['sql'], now: number): Promise<Readonly<Record<string, number>>> {
  const rows = await sql<{ disposition: string; count: number }[]>`
    select coalesce(disposition, 'owed') as disposition, count(*) as count from collab.ingress_events
    where received_at > ${now - DAY} group by 1 order by 1`
  return Object.fromEntries(rows.map((row) => [row.disposition, row.count]))
}
