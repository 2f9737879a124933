import type { DeliveryOutcome, PartState } from '../delivery.js'
import type { ExchangeState } from '../exchange-state.js'
import type { Verdict } from '../observation.js'

export type AssignmentAxis = 'unassigned' | 'assigned' | 'presented'
/** The receiver's word while something is open; `resolved` also when it is owed by another request now. */
export type JudgmentAxis = 'pending' | Verdict | 'resolved'
export type ControlAxis = 'open' | 'correction-pending' | 'cancel-requested' | 'cancel-acknowledged'
export type DeliveryAxis =
  'none' | 'result-committed' | 'send-pending' | 'sending' | 'accepted' | 'verified' | 'ambiguous' | 'failed'

/** Four independent facts of one request; none ever stands in for another (RFC §5.10). */
export interface Axes {
  readonly assignment: AssignmentAxis
  readonly judgment: JudgmentAxis
  readonly control: ControlAxis
  readonly delivery: DeliveryAxis
}

/** What a projection needs to know of one delivery of the request's results. */
export interface DeliveryFacts {
  readonly planned: boolean
  readonly outcome: DeliveryOutcome | null
  readonly parts: readonly PartState[]
}

/** Reads the axes off the facts; `deliveries` are the current ones of the request's results and interim answers. */
export function axesOf(state: ExchangeState, deliveries: readonly DeliveryFacts[]): Axes {
  return {
    assignment: state.turns.size > 0 ? 'presented' : state.attempts.size > 0 ? 'assigned' : 'unassigned',
    judgment: judgmentOf(state),
    control: controlOf(state),
    delivery: deliveryOf(state, deliveries),
  }
}

function judgmentOf(state: ExchangeState): JudgmentAxis {
  const asks = [...state.asks.values()]
  const open = asks.length === 0 || asks.some((ask) => ask.is === 'owed' || ask.is === 'deferred')
  if (open) {
    const said = state.assessment?.revision === state.head ? state.assessment.verdict : 'pending'
    // Refusing a part leaves the rest to be judged.
    return said === 'rejected' ? 'pending' : said
  }
  return asks.some((ask) => ask.is === 'covered' || ask.is === 'continued') ? 'resolved' : 'rejected'
}

function controlOf(state: ExchangeState): ControlAxis {
  if (state.cancel === 'acknowledged') return 'cancel-acknowledged'
  if (state.cancel === 'requested') return 'cancel-requested'
  const shown = Math.max(0, ...[...state.turns.values()].map((turn) => turn.revision))
  return shown > 0 && shown < state.head && state.closed === null ? 'correction-pending' : 'open'
}

const worstFirst: readonly DeliveryAxis[] = ['failed', 'ambiguous', 'sending', 'send-pending', 'accepted', 'verified']

function deliveryOf(state: ExchangeState, deliveries: readonly DeliveryFacts[]): DeliveryAxis {
  if (deliveries.length === 0) {
    // What the owner dropped has no place to go to.
    return state.results.some((result) => state.withheld.get(result.id) !== 'dropped') ? 'result-committed' : 'none'
  }
  const seen = deliveries.map(axisOfOne)
  return worstFirst.find((axis) => seen.includes(axis)) ?? 'send-pending'
}

function axisOfOne(delivery: DeliveryFacts): DeliveryAxis {
  if (delivery.outcome === 'failed') return 'failed'
  if (delivery.outcome === 'parked' || delivery.parts.some((part) => part === 'ambiguous' || part === 'parked')) {
    return 'ambiguous'
  }
  if (delivery.outcome === 'verified' || delivery.outcome === 'accepted') return delivery.outcome
  const begun = delivery.parts.some((part) => part !== 'planned' && part !== 'superseded')
  return begun ? 'sending' : 'send-pending'
}

/**
 * `closed`: every ask covered, rejected or cancelled and every current delivery verified or accepted. What returns to
 * the request that asked has no delivery of its own.
 */
export function stateOf(state: ExchangeState, axes: Axes): 'open' | 'closed' | 'failed' {
  if (state.failure !== null || axes.delivery === 'failed') return 'failed'
  if (axes.judgment !== 'resolved' && axes.judgment !== 'rejected') return 'open'
  if (axes.delivery === 'result-committed' && state.request?.returnTo.channel === 'request') return 'closed'
  return axes.delivery === 'verified' || axes.delivery === 'accepted' || axes.delivery === 'none' ? 'closed' : 'open'
}
