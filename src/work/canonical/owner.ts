import type { WorkReceipt } from '../../collab/observation.js'
import type { AgentEndpoint, WorkOutcome } from '../../collab/ports.js'
import { MANAGER, type AgentId, type Instant } from '../../collab/refs.js'
import { digestOf, uuidFrom } from '../../lib/digest.js'
import type { Clock } from '../../lib/time.js'
import type { GoalState } from './decide.js'
import { outcomeOfLoss } from './lost.js'
import { lockGoal, nowOf, priorOperation, recordOperation, type GoalRow } from './operation.js'
import { refOf } from './receipt.js'
import type { WorkSql, WorkTx } from './sql.js'

/** Why the owner of a goal is told no; each door says it in its own words. */
export type OwnerConflict =
  | 'operation-reused'
  | 'goal-exists'
  | 'goal-unknown'
  | 'goal-stopped'
  | 'goal-active'
  /** Another source owns this goal's work state. */
  | 'goal-elsewhere'
  /** An agent has one goal. */
  | 'agent-elsewhere'
  /** The manager exists without registration. */
  | 'agent-reserved'

export type OwnerOutcome =
  | { readonly outcome: 'committed' | 'already'; readonly receipt: WorkReceipt }
  | { readonly outcome: 'conflict'; readonly because: OwnerConflict }
  | Extract<WorkOutcome, { outcome: 'unavailable' | 'ambiguous' }>

export interface CreateGoal {
  readonly operation: string
  /** Null: one that follows from the operation. */
  readonly goal: string | null
  readonly title: string
  readonly direction: string
  readonly acceptance: string
  readonly nonGoals: string
}

export interface RegisterAgent {
  readonly operation: string
  readonly agent: AgentId
  readonly goal: string
  readonly role: string
  readonly responsibility: string
  readonly host: string
  readonly endpoint: AgentEndpoint
  readonly abilities: readonly string[]
  readonly capacity: number
}

export interface GoalView {
  readonly id: string
  readonly title: string
  readonly source: string
  readonly state: GoalState
  readonly revision: number
  readonly vision: {
    readonly direction: string
    readonly acceptance: string
    readonly nonGoals: string
    readonly revision: number
  }
  readonly agents: number
  readonly openTodos: number
  readonly createdAt: number
}

interface OnGoal {
  readonly operation: string
  readonly goal: string
}

/** The operator's side of the canonical work owner. Text lengths are the door's to check. */
export interface GoalOwner {
  createGoal(command: CreateGoal): Promise<OwnerOutcome>
  /** From then on nothing of it changes but by a resume; its agents are not woken (RFC §5.5). */
  stopGoal(command: OnGoal): Promise<OwnerOutcome>
  resumeGoal(command: OnGoal): Promise<OwnerOutcome>
  /** Newest first. */
  listGoals(options: { readonly includeStopped: boolean }): Promise<readonly GoalView[]>
  /** Registers an agent, or says anew what it does and where it is. */
  registerAgent(command: RegisterAgent): Promise<OwnerOutcome>
  /** Records what was seen of an agent; null leaves what is known. False: nobody of that name. */
  touchAgent(
    agent: AgentId,
    seen: { readonly lastEvidenceAt: Instant | null; readonly reachable: boolean | null },
  ): Promise<boolean>
}

type Ref = WorkReceipt['refs'][number]
/** Runs under the goal's lock, after the operation was found to be new. */
type Step = (sql: WorkSql, goal: GoalRow, at: Instant) => Promise<OwnerConflict | readonly Ref[]>

export function createGoalOwner(deps: {
  readonly sql: WorkSql
  readonly tx: WorkTx
  readonly clock: Clock
}): GoalOwner {
  const { sql, tx, clock } = deps

  const onGoal = <C extends OnGoal>(command: C, step: Step): Promise<OwnerOutcome> =>
    orLoss(() =>
      tx(async (inside) => {
        const goal = await lockGoal(inside, command.goal)
        if (goal === null) return conflict('goal-unknown')
        const prior = await priorOperation(inside, goal.id, command.operation, digestOf(command))
        if (prior !== null) return answerOf(prior)
        if (goal.source !== 'canonical') return conflict('goal-elsewhere')
        const at = nowOf(clock)
        const done = await step(inside, goal, at)
        if (typeof done === 'string') return conflict(done)
        const receipt: WorkReceipt = { owner: 'canonical', operation: command.operation, refs: done }
        await recordOperation(inside, goal.id, digestOf(command), receipt, at)
        return { outcome: 'committed', receipt }
      }),
    )

  const turnTo = (command: OnGoal, from: GoalState, to: GoalState): Promise<OwnerOutcome> =>
    onGoal({ ...command, to }, async (inside, goal, at) => {
      if (goal.state !== from) return goal.state === 'active' ? 'goal-active' : 'goal-stopped'
      await inside`update work.goals set state = ${to}, revision = revision + 1, changed_at = ${at} where id = ${goal.id}`
      return [refOf('goal', goal.id, goal.revision + 1)]
    })

  return {
    createGoal: (command) => orLoss(() => tx((inside) => createGoal(inside, command, nowOf(clock)))),
    stopGoal: (command) => turnTo(command, 'active', 'stopped'),
    resumeGoal: (command) => turnTo(command, 'stopped', 'active'),
    listGoals: ({ includeStopped }) => listGoals(sql, includeStopped),
    registerAgent: async (command) => {
      if (command.agent === MANAGER) return conflict('agent-reserved')
      return onGoal(command, async (inside, goal, at) => {
        if (goal.state === 'stopped') return 'goal-stopped'
        const revision = await putAgent(inside, command, at)
        return revision === null ? 'agent-elsewhere' : [refOf('agent', command.agent, revision)]
      })
    },
    async touchAgent(agent, seen) {
      const rows = await sql`
        update work.agents set last_evidence_at = greatest(last_evidence_at, ${seen.lastEvidenceAt}::bigint),
          reachable = coalesce(${seen.reachable}::boolean, reachable)
        where agent = ${agent} returning 1`
      return rows.length > 0
    },
  }
}

async function createGoal(sql: WorkSql, command: CreateGoal, at: Instant): Promise<OwnerOutcome> {
  const { operation } = command
  const id = command.goal ?? uuidFrom('goal', operation)
  const made = await sql`
    insert into work.goals (id, title, source, state, revision, direction, acceptance, non_goals, vision_revision,
      created_at, changed_at, created_by)
    values (${id}, ${command.title}, 'canonical', 'active', 1, ${command.direction}, ${command.acceptance},
      ${command.nonGoals}, 1, ${at}, ${at}, ${operation})
    on conflict do nothing returning 1`
  if (made.length === 0) {
    const [earlier] = await sql<{ id: string }[]>`select id from work.goals where created_by = ${operation}`
    const prior =
      earlier === undefined ? null : await priorOperation(sql, earlier.id, operation, digestOf({ ...command }))
    return prior === null ? conflict('goal-exists') : answerOf(prior)
  }
  const receipt: WorkReceipt = {
    owner: 'canonical',
    operation,
    refs: [refOf('goal', id, 1), refOf('vision', id, 1)],
  }
  await recordOperation(sql, id, digestOf({ ...command }), receipt, at)
  return { outcome: 'committed', receipt }
}

/** The revision of the registration, or null when the agent is registered at another goal. */
async function putAgent(sql: WorkSql, said: RegisterAgent, at: Instant): Promise<number | null> {
  const [row] = await sql<{ revision: number }[]>`
    insert into work.agents as a (agent, goal, role, responsibility, host, endpoint, abilities, capacity, revision,
      registered_at)
    values (${said.agent}, ${said.goal}, ${said.role}, ${said.responsibility}, ${said.host},
      ${JSON.stringify(said.endpoint)}::text::jsonb, ${[...said.abilities]}::text[], ${said.capacity}, 1, ${at})
    on conflict (agent) do update set role = excluded.role, responsibility = excluded.responsibility,
      host = excluded.host, endpoint = excluded.endpoint, abilities = excluded.abilities, capacity = excluded.capacity,
      revision = a.revision + 1,
      reachable = case when a.host = excluded.host and a.endpoint = excluded.endpoint then a.reachable end
      where a.goal = excluded.goal
    returning revision`
  return row?.revision ?? null
}

async function listGoals(sql: WorkSql, includeStopped: boolean): Promise<readonly GoalView[]> {
  const rows = await sql<(GoalRow & { agents: number; openTodos: number; createdAt: number })[]>`
    select g.id, g.title, g.source, g.state, g.revision, g.direction, g.acceptance, g.non_goals as "nonGoals",
      g.vision_revision as "visionRevision", g.created_at as "createdAt",
      (select count(*)::int from work.agents a where a.goal = g.id) as agents,
      (select count(*)::int from work.todos t where t.goal = g.id and t.state = 'open') as "openTodos"
    from work.goals g where ${includeStopped} or g.state = 'active'
    order by g.created_at desc, g.id desc`
  return rows.map(({ direction, acceptance, nonGoals, visionRevision, ...goal }) => ({
    ...goal,
    vision: { direction, acceptance, nonGoals, revision: visionRevision },
  }))
}

const conflict = (because: OwnerConflict): OwnerOutcome => ({ outcome: 'conflict', because })

const answerOf = (prior: WorkReceipt | 'other'): OwnerOutcome =>
  prior === 'other' ? conflict('operation-reused') : { outcome: 'already', receipt: prior }

async function orLoss(work: () => Promise<OwnerOutcome>): Promise<OwnerOutcome> {
  try {
    return await work()
  } catch (error) {
    const outcome = outcomeOfLoss(error)
    if (outcome === null) throw error
    return outcome
  }
}
