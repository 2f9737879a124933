import type { WorkReceipt } from '../../collab/observation.js'
import type { Instant } from '../../collab/refs.js'
import { canonicalJson } from '../../lib/digest.js'
import type { WorkSql } from './sql.js'

export interface GoalRow {
  readonly id: string
  readonly title: string
  readonly source: string
  readonly state: 'active' | 'stopped'
  readonly revision: number
  readonly direction: string
  readonly acceptance: string
  readonly nonGoals: string
  readonly visionRevision: number
}

/** Every command on a goal takes this lock first: what it then reads stays true until it commits. */
export async function lockGoal(sql: WorkSql, goal: string): Promise<GoalRow | null> {
  const [row] = await sql<GoalRow[]>`
    select id, title, source, state, revision, direction, acceptance, non_goals as "nonGoals",
      vision_revision as "visionRevision"
    from work.goals where id = ${goal} for update`
  return row ?? null
}

/** What became of this operation before: its receipt, `other` when it said something else, null when it is new. */
export async function priorOperation(
  sql: WorkSql,
  goal: string,
  operation: string,
  digest: string,
): Promise<WorkReceipt | 'other' | null> {
  const [row] = await sql<{ digest: string; receipt: WorkReceipt }[]>`
    select digest, receipt from work.operations where goal = ${goal} and operation = ${operation}`
  if (row === undefined) return null
  return row.digest === digest ? row.receipt : 'other'
}

export async function recordOperation(
  sql: WorkSql,
  goal: string,
  digest: string,
  receipt: WorkReceipt,
  at: Instant,
): Promise<void> {
  await sql`insert into work.operations (goal, operation, digest, receipt, at)
    values (${goal}, ${receipt.operation}, ${digest}, ${canonicalJson(receipt)}::text::jsonb, ${at})`
}

export const nowOf = (clock: { now(): number }): Instant => clock.now() as Instant
