import type { TodoView, WorkAuthority, WorkCommand, WorkOutcome } from '../../src/collab/ports.js'
import type { AgentId, Instant } from '../../src/collab/refs.js'
import { decideWork, type ClaimRow, type TodoRow, type WorkChange } from '../../src/work/canonical/decide.js'
import { receiptOf } from '../../src/work/canonical/receipt.js'
import { digestOf } from '../../src/lib/digest.js'
import type { WorkUnderTest } from '../contracts/work-authority.js'
import { newName } from './kit.js'

interface Goal {
  readonly id: string
  state: 'active' | 'stopped'
  direction: string
  acceptance: string
  visionRevision: number
  readonly todos: Map<string, TodoRow>
  readonly operations: Map<string, { readonly digest: string; readonly outcome: WorkOutcome }>
}

export interface Model extends WorkUnderTest {
  /** Every claim that ever was, in the order of their beginning. */
  readonly claims: ClaimRow[]
  readonly changes: WorkChange[]
}

/** The decisions over plain maps: what the owner on Postgres is compared with. */
export function modelOfWork(): Model {
  const goals = new Map<string, Goal>()
  const agents = new Map<AgentId, string>()
  const claims: ClaimRow[] = []
  const changes: WorkChange[] = []
  let now = 1_764_500_000_000

  const put = (todo: string, epoch: number, over: Partial<ClaimRow>): void => {
    const index = claims.findIndex((claim) => claim.todo === todo && claim.epoch === epoch)
    const claim = claims[index]
    if (claim !== undefined) claims[index] = { ...claim, ...over }
  }
  const applyTo = (goal: Goal, change: WorkChange): void => {
    changes.push(change)
    switch (change.kind) {
      case 'todo-put':
        goal.todos.set(change.todo.id, { ...change.todo, epoch: goal.todos.get(change.todo.id)?.epoch ?? 0 })
        return
      case 'claim-begun': {
        const todo = goal.todos.get(change.claim.todo)
        if (todo !== undefined) goal.todos.set(todo.id, { ...todo, epoch: change.claim.epoch })
        claims.push(change.claim)
        return
      }
      case 'claim-renewed':
        return put(change.todo, change.epoch, { until: change.until })
      case 'claim-ended':
        return put(change.todo, change.epoch, { ended: change.ended })
      case 'vision-put':
        goal.direction = change.direction
        goal.acceptance = change.acceptance
        goal.visionRevision = change.revision
    }
  }
  const apply = (command: WorkCommand): WorkOutcome => {
    const goal = goals.get(command.goal) ?? null
    const prior = goal?.operations.get(command.operation)
    if (prior !== undefined && 'receipt' in prior.outcome)
      return prior.digest === digestOf(command)
        ? { outcome: 'already', receipt: prior.outcome.receipt }
        : { outcome: 'conflict', because: 'this operation was already carried out with other content' }
    const named = 'todo' in command.change ? command.change.todo : null
    const known = [...goals.values()].flatMap((one) => [...one.todos.values()])
    const decision = decideWork(
      {
        now: now as Instant,
        goal,
        registeredAt: agents.get(command.agent) ?? null,
        todo: known.find((todo) => todo.id === named) ?? null,
        claim: claims.find((claim) => claim.todo === named && claim.ended === null) ?? null,
        ownClaim: claims.findLast((claim) => claim.todo === named && claim.agent === command.agent) ?? null,
      },
      command,
    )
    if (decision.outcome === 'conflict' || goal === null) return decision as WorkOutcome
    for (const change of decision.changes) applyTo(goal, change)
    const outcome: WorkOutcome = { outcome: 'committed', receipt: receiptOf(command.operation, decision.changes) }
    goal.operations.set(command.operation, { digest: digestOf(command), outcome })
    return outcome
  }
  const viewOf = (todo: TodoRow): TodoView => {
    const live = claims.find((claim) => claim.todo === todo.id && claim.ended === null && claim.until > now)
    const { id, goal, title, state, revision } = todo
    const claim = live === undefined ? null : { agent: live.agent, epoch: live.epoch, until: live.until }
    return { id, goal, title, state, revision, claim }
  }
  const authority: WorkAuthority = {
    apply: async (command) => apply(command),
    todos: async (goal) => [...(goals.get(goal)?.todos.values() ?? [])].map(viewOf),
    async vision(id) {
      const goal = goals.get(id)
      if (goal === undefined) return null
      return { goal: id, direction: goal.direction, acceptance: goal.acceptance, revision: goal.visionRevision }
    },
  }
  const turn = (id: string, state: Goal['state']): void => {
    const goal = goals.get(id)
    if (goal !== undefined) goal.state = state
  }
  return {
    authority,
    claims,
    changes,
    async goal(acceptance = '') {
      const id = newName('goal')
      const empty = { todos: new Map(), operations: new Map() }
      goals.set(id, { id, state: 'active', direction: '', acceptance, visionRevision: 1, ...empty })
      return id
    },
    async agentAt(goal) {
      const agent = newName('agent') as AgentId
      agents.set(agent, goal)
      return agent
    },
    stop: async (goal) => turn(goal, 'stopped'),
    resume: async (goal) => turn(goal, 'active'),
    now: () => now,
    advance: (ms) => void (now += ms),
  }
}
