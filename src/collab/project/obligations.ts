import { keptBack, owedAsks, type ExchangeState } from '../exchange-state.js'
import type { Instant } from '../refs.js'
import type { Axes } from './axes.js'

/** What is still owed, by whom, and on what it waits; null when nothing is owed. */
export interface NextStep {
  readonly owner: 'owner' | 'manager' | 'gateway' | 'operator'
  readonly condition:
    | 'word-of-owner'
    | 'turn-running'
    | 'turn-queued'
    /** The turn that ran before it took its words; what that turn does not take up gets its own. */
    | 'told-to-turn'
    | 'cancellation-at-turn-end'
    | 'delivery-under-way'
    | 'delivery-parked'
    | 'delivery-failed'
    | 'replay-after-failure'
    | 'unreadable-fact'
  readonly at: Instant | null
}

/** Derived from source requests and receipts, never kept as a second checklist (RFC §5.11). */
export function nextStep(state: ExchangeState, axes: Axes, wakeAt: Instant | null): NextStep | null {
  if (state.unreadable) return { owner: 'operator', condition: 'unreadable-fact', at: null }
  if (state.held !== null) return { owner: 'owner', condition: 'word-of-owner', at: null }
  if (keptBack(state).length > 0) return { owner: 'owner', condition: 'word-of-owner', at: null }
  if (state.cancel === 'requested') return { owner: 'manager', condition: 'cancellation-at-turn-end', at: null }
  if (state.running !== null) return { owner: 'manager', condition: 'turn-running', at: null }
  if (state.failure !== null) return { owner: 'operator', condition: 'replay-after-failure', at: null }
  if (owedAsks(state).length > 0) {
    const told = wasTold(state) ? 'told-to-turn' : 'turn-queued'
    return { owner: 'manager', condition: told, at: wakeAt }
  }
  if (axes.delivery === 'failed') return { owner: 'operator', condition: 'delivery-failed', at: null }
  if (axes.delivery === 'ambiguous') return { owner: 'operator', condition: 'delivery-parked', at: null }
  if (axes.delivery === 'send-pending' || axes.delivery === 'sending' || axes.delivery === 'result-committed') {
    return { owner: 'gateway', condition: 'delivery-under-way', at: wakeAt }
  }
  return null
}

/** The last turn that its words were put into took them, and no turn of its own has begun since. */
export function wasTold(state: ExchangeState): boolean {
  return state.turns.size === 0 && [...state.steers.values()].at(-1)?.became === 'taken'
}
