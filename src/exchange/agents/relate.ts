import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import type { Receipt } from '../../collab/decision.js'
import type { Exchange } from '../deps.js'
import { relateRequests } from '../relate.js'
import { standing } from '../tokens.js'
import { actorOf, refuse, told, toolEventOf } from './act.js'
import { checkName } from './check.js'
import { refuseForOthers } from './on-behalf.js'
import { reach } from './scope.js'

/**
 * The receiver of two owner messages says that the later one belongs to the earlier one; both keep their words.
 *
 * @returns refusals are those of `decideRelate`, `request-unknown` for what the caller may not see, `not-receiver`,
 *   and `not-related` for requests that agents made: each of those returns to its own asker
 * @source RFC §5.6 — A5
 */
export async function relate(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['relate']>[1],
): Promise<Receipt> {
  const wrong = checkName('eventId', said.eventId)
  if (wrong !== null) return refuse(wrong)
  // Its words may have reached the agent before it is written that they did.
  if (caller.turn !== null) await x.running.told(caller.turn, said.later)
  const earlier = await reach(x, caller, said.earlier)
  const later = await reach(x, caller, said.later)
  if (earlier === null || later === null) return refuse({ reason: 'request-unknown' })
  const others = await refuseForOthers(x, caller, earlier.request)
  if (others !== null) return refuse(others)
  const { target } = earlier.request
  if (target !== caller.agent || later.request.target !== target) {
    return refuse({ reason: 'not-receiver', receiver: target })
  }
  if (earlier.request.parent !== null || later.request.parent !== null) {
    return refuse({ reason: 'not-related', because: 'other-sender' })
  }
  const { onRevision, as } = said
  const receipt = await relateRequests(x, {
    eventId: toolEventOf(caller, said.eventId),
    earlier: earlier.state.id,
    later: later.state.id,
    onRevision,
    as,
    actor: actorOf(caller),
    said: { tool: 'relate', agent: caller.agent, said },
    stands: standing(caller),
  })
  return told(receipt, said.eventId)
}
