import { grantsFor, type Grant, type Use } from '../collab/grant.js'
import type { AgentId, Instant, TextDigest } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { grantsOf } from '../stores/grants/grants.js'
import type { Exchange } from './deps.js'
import { profileFor } from './profile.js'

/** The goals whose state may be read: every one of this installation, or exactly these. */
export type GoalScope = 'all' | ReadonlySet<string>

/** No grant of one exact operation is ever about a goal. */
const NO_OPERATION = '' as TextDigest

/**
 * What of the goals the audience of a request may learn at this moment: an owner in private all of them, everybody else
 * none but those that were granted to an agent in this conversation, by exact id. What a session had before is no grant,
 * and neither is permission to send something to an agent.
 *
 * @source RFC §5.3; evidence and continuity ("authorized Goal set")
 */
export async function goalScopeFor(x: Exchange, request: WorkRequest, agent: AgentId): Promise<GoalScope> {
  if ((await profileFor(x, x.db.sql, request)).kind === 'owner') return 'all'
  const grants = await goalGrants(x, request, agent)
  const goals = new Set(grants.flatMap(({ scope }) => (scope.kind === 'goal' ? [scope.goal] : [])))
  return new Set([...goals].filter((goal) => isCovered(x, grants, request, agent, goal, 'read')))
}

/** Whether an agent may read or change the state of a goal for the audience of a request, at this moment. */
export async function mayUseGoal(
  x: Exchange,
  request: WorkRequest,
  agent: AgentId,
  goal: string,
  effect: 'read' | 'write',
): Promise<boolean> {
  if ((await profileFor(x, x.db.sql, request)).kind === 'owner') return true
  return isCovered(x, await goalGrants(x, request, agent), request, agent, goal, effect)
}

/** Nothing stands in the name of somebody who is no listed owner any more. */
async function goalGrants(x: Exchange, request: WorkRequest, agent: AgentId): Promise<readonly Grant[]> {
  const { openId } = request.authority
  if (!x.settings.ownerOpenIds.has(openId)) return []
  return await grantsOf(x.db.sql, { agent, openId, operation: NO_OPERATION, since: x.clock.now() })
}

function isCovered(
  x: Exchange,
  grants: readonly Grant[],
  request: WorkRequest,
  agent: AgentId,
  goal: string,
  effect: 'read' | 'write',
): boolean {
  const use: Use = {
    agent,
    openId: request.authority.openId,
    conversation: request.conversation,
    ownerPrivate: false,
    operation: NO_OPERATION,
    does: [{ effect, resource: { kind: 'goal', goal } }],
    at: x.clock.now() as Instant,
  }
  return grantsFor(grants, use) !== null
}

/** Names a set of goals: sessions of different sets never continue one another. Empty for none and for all. */
export const goalKey = (scope: GoalScope): string => (scope === 'all' ? '' : [...scope].toSorted().join('\n'))
