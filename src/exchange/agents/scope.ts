import type { ToolCaller } from '../../collab/agent-tools.js'
import type { ExchangeState } from '../../collab/exchange-state.js'
import { scopeFor, type Seat } from '../../collab/project/scope.js'
import type { RequestId } from '../../collab/refs.js'
import type { WorkRequest } from '../../collab/request.js'
import { ancestorsOf, everAssigned } from '../../stores/ledger/family.js'
import { stateOfRequest } from '../../stores/ledger/read.js'
import type { Exchange } from '../deps.js'
import { laneOf } from '../ids.js'

/** A request that the caller may see. */
export interface Reached {
  readonly state: ExchangeState
  readonly request: WorkRequest
}

const shape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The request, if it is the caller's to see; null for every other one and for one that does not exist, so that neither
 * can be told from the other.
 *
 * @source ledger invariant 13 (scope is checked before, not after)
 */
export async function reach(x: Exchange, caller: ToolCaller, id: string): Promise<Reached | null> {
  if (!shape.test(id)) return null
  const state = await stateOfRequest(x.db.sql, id as RequestId)
  const { request } = state
  if (request === null || !(await maySee(x, caller, state, request))) return null
  return { state, request }
}

/** Whether the caller may see a request; what came of something that it once had is looked for above it. */
export async function maySee(
  x: Exchange,
  caller: ToolCaller,
  state: ExchangeState,
  request: WorkRequest,
): Promise<boolean> {
  const scope = scopeFor(caller.agent, seatOf(caller, request), state)
  if (scope !== 'if-had-above') return scope === 'sees'
  return await everAssigned(x.db.sql, await ancestorsOf(x.db.sql, request.id), caller.agent)
}

function seatOf(caller: ToolCaller, request: WorkRequest): Seat {
  if (caller.lane === null) return 'none'
  return laneOf(request.conversation, caller.agent) === caller.lane ? 'its-lane' : 'another-lane'
}
