import type { SessionProfile } from '../collab/audience.js'
import type { AgentRuntime, Opening } from '../collab/ports.js'
import type { AgentId, LaneId } from '../collab/refs.js'
import { uuidFrom } from '../lib/digest.js'
import { bindSession, lastEnded, sessionOf } from '../stores/bindings/bindings.js'
import type { Exchange } from './deps.js'
import { toolAccess } from './tokens.js'

/** The session in which a lane goes on: each conversation context has its own, and in it each profile. */
export async function openSession(
  x: Exchange,
  of: {
    readonly lane: LaneId
    readonly sessionLane: LaneId
    readonly workspaceLane: LaneId
    readonly profile: SessionProfile
    readonly runtime: AgentRuntime
    readonly agent: AgentId
    readonly signal: AbortSignal
  },
): Promise<Opening> {
  const { lane, sessionLane, profile, runtime, agent, signal } = of
  const bound = await sessionOf(x.db.sql, sessionLane)
  if (bound === null && !(await quiesced(x, sessionLane, runtime))) {
    return { outcome: 'unavailable', because: 'unavailable', detail: NOT_GONE }
  }
  const workspace = await x.workspaces.ensure(of.workspaceLane)
  const resume = bound?.runtime === runtime.name ? bound : null
  const tools = x.toolsUrl === null ? null : () => toolAccess(x, { agent, lane, session: sessionLane })
  const opening = await runtime.open({ lane: sessionLane, workspace, resume, profile, tools }, signal)
  if (opening.outcome !== 'opened') {
    const reason = opening.outcome === 'unavailable' ? opening.because : opening.outcome
    x.log.warn('no session could be opened', { reason, error: opening.detail })
    return opening
  }
  const { session } = opening
  await bindSession(
    x.db.sql,
    {
      id: uuidFrom('binding', sessionLane, session.ref.runtime, session.ref.id),
      lane: sessionLane,
      session: session.ref,
      effective: session.effective,
      because: 'replaced',
    },
    x.clock.now(),
  )
  return opening
}

const NOT_GONE = 'what ran in the session that was replaced could not be ended'

/**
 * Whether the executor of the session that was replaced is gone, as far as this process holds it; its tools are refused
 * since the replacement. One that cannot be proved gone keeps the next one from starting.
 *
 * @source RFC §5.7.3 (quiesce the old instance before another conflicting writer starts)
 */
async function quiesced(x: Exchange, sessionLane: LaneId, runtime: AgentRuntime): Promise<boolean> {
  const former = await lastEnded(x.db.sql, sessionLane)
  if (former === null || former.session.runtime !== runtime.name) return true
  const proof = await runtime.quiesce?.(former.session, sessionLane)
  if (proof === undefined || proof.executor === 'gone') return true
  x.log.warn('the executor of a replaced session is not proved gone', { reason: runtime.name })
  return false
}
