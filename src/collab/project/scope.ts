import type { ExchangeState } from '../exchange-state.js'
import { MANAGER, type AgentId } from '../refs.js'

/** From where an agent looks at a request: the lane of its conversation, another lane, or none, pulling by itself. */
export type Seat = 'its-lane' | 'another-lane' | 'none'

/**
 * Whether an agent may see a request, as far as the request itself says so. A managed agent sees its lane's conversation
 * only: the manager all of it, a worker what it was asked, what it asked, and what came of that. An attached worker has
 * no lane and sees the same over all conversations.
 *
 * @returns `if-had-above`: only if an attempt on a request above it was ever the agent's
 * @source ledger invariant 13 (scope is checked before, not after)
 */
export function scopeFor(agent: AgentId, seat: Seat, state: ExchangeState): 'sees' | 'sees-not' | 'if-had-above' {
  if (state.request === null || seat === 'another-lane') return 'sees-not'
  if (agent === MANAGER) return seat === 'none' ? 'sees-not' : 'sees'
  if (hadIt(agent, state)) return 'sees'
  const { sender } = state.request
  return sender.kind === 'agent' && sender.agent === agent ? 'sees' : 'if-had-above'
}

/** An attempt on it was assigned to the agent, then or now. */
export function hadIt(agent: AgentId, state: ExchangeState): boolean {
  return [...state.attempts.values()].some((attempt) => attempt.target === agent)
}
