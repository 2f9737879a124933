import type { AgentDirectory, WorkAuthority } from '../collab/ports.js'
import type { AgentId, Instant } from '../collab/refs.js'
import { errorLabel, type Logger } from '../lib/log.js'
import type { Clock } from '../lib/time.js'
import type { Db } from '../stores/db.js'
import type { GoalDoor } from '../web/goal-door.js'
import { createCanonicalAuthority } from '../work/canonical/authority.js'
import { createDirectory } from '../work/directory.js'
import { createSelectedWork, WorkSourceUnavailable } from '../work/select.js'

export interface Work {
  readonly directory: AgentDirectory
  readonly authority: WorkAuthority
  readonly door: GoalDoor
  /** Notes that an agent was met, or could not be reached; an agent that nobody registered is nobody's news. */
  readonly saw: (agent: AgentId, reachable: boolean) => void
}

/** The work owner of this gateway, as agents, the exchange and the operator see it. */
export function createWork(db: Db, clock: Clock, log: Logger): Work {
  const { sql } = db
  const canonical = createCanonicalAuthority({ sql, tx: db.tx, clock })
  const authority = createSelectedWork({ sql, sources: { canonical } })
  const directory = createDirectory({ sql })
  return {
    directory,
    authority,
    saw(agent, reachable) {
      // Not being there is no evidence of it.
      const lastEvidenceAt = reachable ? (clock.now() as Instant) : null
      canonical.touchAgent(agent, { lastEvidenceAt, reachable }).catch((error: unknown) => {
        log.warn('what was seen of an agent was not noted', { error: errorLabel(error) })
      })
    },
    door: {
      goals: (options) => canonical.listGoals(options),
      createGoal: (command) => canonical.createGoal(command),
      stopGoal: (command) => canonical.stopGoal(command),
      resumeGoal: (command) => canonical.resumeGoal(command),
      agents: (options) => directory.list(options),
      registerAgent: (command) => canonical.registerAgent(command),
      async todos(goal) {
        try {
          return (await authority.vision(goal)) === null ? null : await authority.todos(goal)
        } catch (error) {
          if (error instanceof WorkSourceUnavailable) return 'unavailable'
          throw error
        }
      },
    },
  }
}
