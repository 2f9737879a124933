import type { DispatchAttempt } from '../attempt.js'
import { accept, type Decision } from '../decision.js'
import type { ExchangeState } from '../exchange-state.js'
import type { AgentId, RequestId } from '../refs.js'
import { decideAccept, type AcceptRequest } from './accept.js'

export interface TakeChild extends Omit<AcceptRequest, 'kind' | 'hold'> {
  readonly kind: 'take-child'
  /** The receiver's first attempt. */
  readonly attempt: DispatchAttempt
}

/**
 * The child's side of handing work on: it enters at revision 1, assigned to its receiver and stored in its inbox, all
 * or nothing.
 *
 * @returns accepted with `request-opened`, `attempt-assigned` and `inbox-stored`, or rejected with
 *   `request-exists` | `text-empty`
 * @source RFC §5.6 (delivered to the receiver's inbox), §5.8 — A6
 */
export function decideTakeChild(state: ExchangeState, command: TakeChild): Decision {
  const entered = decideAccept(state, { ...command, kind: 'accept-request', hold: null })
  if (entered.outcome === 'rejected') return entered
  const { attempt } = command
  const base = {
    request: command.requestId,
    revision: command.request.revision,
    attempt: attempt.id,
    actor: { kind: 'host' },
    at: command.at,
  } as const
  return accept(
    ...entered.facts,
    { ...base, kind: 'attempt-assigned', assigned: attempt },
    { ...base, kind: 'inbox-stored', agent: attempt.target },
  )
}

/** One request of a chain, the newest first, and who waits in it for the one before; null: nobody waits any more. */
export interface Waiter {
  readonly request: RequestId
  readonly agent: AgentId | null
}

/**
 * Would asking this agent close a circle? It would when the agent itself waits, over any number of requests, for the
 * one who asks.
 *
 * @param chain the asker's request first, then its ancestors upwards
 * @returns the requests of the circle from the waiting agent's own down to the asker's, or null
 * @source ledger invariant 15
 */
export function waitCircle(chain: readonly Waiter[], target: AgentId): readonly RequestId[] | null {
  const at = chain.findIndex((one) => one.agent === target)
  return at === -1
    ? null
    : chain
        .slice(0, at + 1)
        .map((one) => one.request)
        .reverse()
}
