import type { ToolCaller } from '../../collab/agent-tools.js'
import type { Decision, Receipt, Refusal } from '../../collab/decision.js'
import type { ExchangeState } from '../../collab/exchange-state.js'
import type { Fact } from '../../collab/observation.js'
import type { ActorRef, EventId, Instant, RequestId, TurnId } from '../../collab/refs.js'
import { uuidFrom } from '../../lib/digest.js'
import type { Also } from '../../stores/ledger/commit.js'
import type { Exchange } from '../deps.js'
import { decideAndCommit, type Stands } from '../exchange.js'
import { eventIdOf } from '../ids.js'
import { standing } from '../tokens.js'
import { checkName, firstOf } from './check.js'
import { refuseForOthers } from './on-behalf.js'
import { reach, type Reached } from './scope.js'

/** What every command of a tool carries. */
export interface Base {
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
}

export const refuse = (refusal: Refusal): Extract<Receipt, { outcome: 'rejected' }> => ({
  outcome: 'rejected',
  refusal,
})

/** Event ids of agents live in a space of their own: none can be taken for, or block, an id that the host derives. */
export const toolEventOf = (caller: ToolCaller, eventId: EventId): EventId => eventIdOf('tool', caller.agent, eventId)

/** An agent without a turn of ours acts in the name of its session. */
export const actorOf = (caller: ToolCaller): ActorRef => ({
  kind: 'agent',
  agent: caller.agent,
  turn: caller.turn ?? (uuidFrom('no-turn', caller.agent, caller.session) as TurnId),
})

/**
 * One act of an agent on one request: scope and on whose word first, then the words, then the loop. What an earlier run of the same call
 * left is answered before anything is decided again, whatever has changed since.
 *
 * @param tool names the act; with the agent and what it said it is what a repeated call must say again
 * @param check what is refused without looking at the request
 */
export async function act(
  x: Exchange,
  caller: ToolCaller,
  tool: string,
  said: { readonly eventId: EventId; readonly request: RequestId },
  check: Refusal | null,
  prepare: (reached: Reached, base: Base) => Prepared | Promise<Prepared>,
): Promise<Receipt> {
  const wrong = firstOf(checkName('eventId', said.eventId), check)
  if (wrong !== null) return refuse(wrong)
  const reached = await reach(x, caller, said.request)
  if (reached === null) return refuse({ reason: 'request-unknown' })
  const others = await refuseForOthers(x, caller, reached.request)
  if (others !== null) return refuse(others)
  const base: Base = {
    eventId: toolEventOf(caller, said.eventId),
    requestId: said.request,
    at: x.clock.now() as Instant,
    actor: actorOf(caller),
  }
  const { decide, also, stands } = await prepare(reached, base)
  const words = { tool, agent: caller.agent, said }
  const both: Stands = async (tx) => (await standing(caller)(tx)) ?? (await stands?.(tx)) ?? null
  const receipt = await decideAndCommit(x, { kind: tool, ...base }, decide, also, words, both)
  return told(receipt, said.eventId)
}

export interface Prepared {
  readonly decide: (state: ExchangeState) => Decision
  readonly also?: (facts: readonly Fact[], state: ExchangeState) => Also
  /** What else is looked at inside the transaction. */
  readonly stands?: Stands
}

/** The receipt under the caller's own event id. */
export function told(receipt: Receipt, eventId: EventId): Receipt {
  return receipt.outcome === 'rejected' ? receipt : { ...receipt, eventId }
}
