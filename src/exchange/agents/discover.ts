import type { AgentTools, Discovered, ToolCaller } from '../../collab/agent-tools.js'
import type { Waiter } from '../../collab/decide/take-child.js'
import { isOpen, type ExchangeState } from '../../collab/exchange-state.js'
import { select } from '../../collab/project/select.js'
import type { RegisteredAgent } from '../../collab/ports.js'
import { MANAGER, type AgentId } from '../../collab/refs.js'
import { ancestorsOf } from '../../stores/ledger/family.js'
import { stateOfRequest } from '../../stores/ledger/read.js'
import { loadOf } from '../../stores/turns/inbox.js'
import { requestOfTurn } from '../../stores/turns/turns.js'
import type { Exchange } from '../deps.js'
import { goalScopeFor, type GoalScope } from '../goal-scope.js'
import { isolates } from '../isolated.js'
import { BRIEF_BYTES } from '../../collab/project/brief.js'
import { checkText } from './check.js'

/**
 * Everybody registered with what is known of them, in an order with its reasons; the caller chooses.
 *
 * @returns nothing for a need that cannot be read
 * @source RFC §5.5 — A4, A24
 */
export async function discover(
  x: Exchange,
  caller: ToolCaller,
  query: Parameters<AgentTools['discover']>[1],
): Promise<readonly Discovered[]> {
  if (checkText('need', query.need, BRIEF_BYTES, 'be-empty') !== null) return []
  const request = caller.turn === null ? null : await requestOfTurn(x.db.sql, caller.turn)
  const state = request === null ? null : await stateOfRequest(x.db.sql, request)
  return await found(x, caller, state, query)
}

/** The candidates of one choice, the named receiver among them when it is registered. */
export async function candidatesFor(
  x: Exchange,
  caller: ToolCaller,
  state: ExchangeState,
  named: AgentId,
  need: string,
): Promise<readonly Discovered[]> {
  return await found(x, caller, state, { need, named, includeStopped: false })
}

async function found(
  x: Exchange,
  caller: ToolCaller,
  state: ExchangeState | null,
  query: Parameters<AgentTools['discover']>[1],
): Promise<readonly Discovered[]> {
  const listed = await x.directory.list({ includeStopped: query.includeStopped })
  const { named } = query
  const missing = named !== null && !listed.some((one) => one.agent === named)
  const alone = missing && named !== null ? await x.directory.find(named) : null
  const own = await x.directory.find(caller.agent)
  const chain = state === null ? [] : await waitersOf(x, caller, state)
  const order = select({
    agents: await whoMayTake(x, state, alone === null ? listed : [...listed, alone]),
    caller: caller.agent,
    waiting: new Set(chain.flatMap((one) => one.agent ?? [])),
    need: query.need,
    named,
    includeStopped: query.includeStopped,
    load: await loadOf(x.db.sql),
    reads: await readsOf(x, caller, state, own?.goal ?? null),
    now: x.clock.now(),
  })
  return order.map(withoutCommand)
}

/** A member's request is handed to nobody who would work on it as an owner's own agent. */
async function whoMayTake(
  x: Exchange,
  state: ExchangeState | null,
  agents: readonly RegisteredAgent[],
): Promise<readonly RegisteredAgent[]> {
  const authority = state?.request?.authority
  if (authority === undefined || authority.principal === 'owner') return agents
  const may = await Promise.all(agents.map(async ({ agent }) => await isolates(await x.runtimeFor(agent))))
  return agents.filter((_, n) => may[n])
}

/** The goals whose state the caller may read for the audience of its turn. */
async function readsOf(
  x: Exchange,
  caller: ToolCaller,
  state: ExchangeState | null,
  own: string | null,
): Promise<GoalScope> {
  const registered: GoalScope = caller.agent === MANAGER ? 'all' : new Set(own === null ? [] : [own])
  if (caller.lane === null) return registered
  const request = state?.request ?? null
  const audience: GoalScope = request === null ? new Set() : await goalScopeFor(x, request, caller.agent)
  if (registered === 'all') return audience
  return audience === 'all' ? registered : new Set([...registered].filter((goal) => audience.has(goal)))
}

/** How the host starts an agent is nobody's business but the host's: it holds paths. */
function withoutCommand(one: Discovered): Discovered {
  const { endpoint } = one.registered
  if (endpoint.kind === 'attached') return one
  return { ...one, registered: { ...one.registered, endpoint: { ...endpoint, command: null } } }
}

/** Who waits for whom, from the caller's request upwards: the attempt that handed on, until its child is back. */
export async function waitersOf(x: Exchange, caller: ToolCaller, state: ExchangeState): Promise<readonly Waiter[]> {
  const chain: Waiter[] = [{ request: state.id, agent: caller.agent }]
  let below = state
  for (const id of await ancestorsOf(x.db.sql, state.id)) {
    const above = await stateOfRequest(x.db.sql, id)
    const child = above.children.get(below.id)
    const asker = below.request?.sender
    const waits = child !== undefined && isOpen(child) && asker?.kind === 'agent'
    chain.push({ request: id, agent: waits ? asker.agent : null })
    below = above
  }
  return chain
}
