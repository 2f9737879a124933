import type { WorkReceipt } from '../collab/observation.js'
import type { AgentEndpoint, RegisteredAgent, TodoView } from '../collab/ports.js'
import type { AgentId } from '../collab/refs.js'

/** Why the work owner tells the operator no. */
export type GoalRefusal =
  | 'goal-exists'
  | 'goal-unknown'
  | 'goal-stopped'
  | 'goal-active'
  | 'goal-elsewhere'
  | 'agent-elsewhere'
  | 'agent-reserved'

export type GoalAnswer =
  | { readonly outcome: 'committed' | 'already'; readonly receipt: WorkReceipt }
  | { readonly outcome: 'conflict'; readonly because: GoalRefusal | 'operation-reused' }
  | { readonly outcome: 'unavailable' | 'ambiguous'; readonly because: string }

export interface ShownGoal {
  readonly id: string
  readonly title: string
  readonly source: string
  readonly state: 'active' | 'stopped'
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

/** The operator's way to goals, agents and todos; `app` binds it to the work owner. */
export interface GoalDoor {
  goals(options: { readonly includeStopped: boolean }): Promise<readonly ShownGoal[]>
  createGoal(command: {
    readonly operation: string
    readonly goal: string | null
    readonly title: string
    readonly direction: string
    readonly acceptance: string
    readonly nonGoals: string
  }): Promise<GoalAnswer>
  stopGoal(command: OnGoal): Promise<GoalAnswer>
  resumeGoal(command: OnGoal): Promise<GoalAnswer>
  agents(options: { readonly includeStopped: boolean }): Promise<readonly RegisteredAgent[]>
  registerAgent(
    command: OnGoal & {
      readonly agent: AgentId
      readonly role: string
      readonly responsibility: string
      readonly host: string
      readonly endpoint: AgentEndpoint
      readonly abilities: readonly string[]
      readonly capacity: number
    },
  ): Promise<GoalAnswer>
  /** Null: no such goal. `unavailable`: its owner cannot be asked now, which is not the same as having none. */
  todos(goal: string): Promise<readonly TodoView[] | null | 'unavailable'>
}
