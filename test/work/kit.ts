import type { WorkAuthority } from '../../src/collab/ports.js'
import type { AgentId } from '../../src/collab/refs.js'
import type { Db } from '../../src/stores/db.js'
import { createCanonicalAuthority } from '../../src/work/canonical/authority.js'
import type { GoalOwner, RegisterAgent } from '../../src/work/canonical/owner.js'
import type { WorkUnderTest } from '../contracts/work-authority.js'

let names = 0
export const newName = (what: string): string => `${what}-${++names}`

export const registering = (agent: string, goal: string, over: Partial<RegisterAgent> = {}): RegisterAgent => ({
  operation: newName('register'),
  agent: agent as AgentId,
  goal,
  role: 'engineer',
  responsibility: 'memory',
  host: 'here',
  endpoint: { kind: 'attached' },
  abilities: [],
  capacity: 1,
  ...over,
})

/** The canonical owner on a real database, with a clock that a test moves. */
export function canonicalOn(db: Db): WorkUnderTest & { readonly authority: WorkAuthority & GoalOwner } {
  let now = 1_764_500_000_000
  const authority = createCanonicalAuthority({ sql: db.sql, tx: db.tx, clock: { now: () => now } })
  const committed = async (work: ReturnType<GoalOwner['createGoal']>): Promise<void> => {
    const outcome = await work
    if (outcome.outcome !== 'committed') throw new Error(JSON.stringify(outcome))
  }
  return {
    authority,
    async goal(acceptance = '') {
      const goal = newName('goal')
      const operation = newName('create')
      await committed(
        authority.createGoal({ operation, goal, title: 'a goal', direction: '', acceptance, nonGoals: '' }),
      )
      return goal
    },
    async agentAt(goal) {
      const agent = newName('agent') as AgentId
      await committed(authority.registerAgent(registering(agent, goal)))
      return agent
    },
    stop: (goal) => committed(authority.stopGoal({ operation: newName('stop'), goal })),
    resume: (goal) => committed(authority.resumeGoal({ operation: newName('resume'), goal })),
    now: () => now,
    advance: (ms) => void (now += ms),
  }
}
