import type { Bearing } from './delivery.js'
import type { ExchangeState } from './exchange-state.js'
import type { ResultRecord } from './observation.js'
import type { AskId, ResultId, Revision } from './refs.js'

/**
 * The conclusion that a new one renews: the last one, when a correction or a later return of a child came between.
 * What merely answers the rest of the asks renews nothing.
 *
 * @source ledger, "Objects" (a fresh conclusion links the one it replaces)
 */
export function renewedBy(state: ExchangeState, covers: readonly AskId[]): ResultId | null {
  const corrected = covers.some((ask) => state.corrections.has(ask))
  if (!corrected && state.closed !== 'resolved') return null
  return state.results.findLast((one) => one.kind === 'result')?.id ?? null
}

/**
 * How an answer bears on what its reader was told before, or will be told; null: it stands alone.
 *
 * @param before the state without it
 * @param revision what it was written for
 */
export function bearingOf(before: ExchangeState, result: ResultRecord, revision: Revision): Bearing | null {
  const former = before.results.find((one) => one.id === result.supersedes)
  if (former?.covers.some((ask) => result.covers.includes(ask)) === true) return 'replaces'
  if (result.kind === 'result' && correctedSince(before, result.covers, revision)) return 'before-correction'
  return former === undefined ? null : 'updates'
}

function correctedSince(state: ExchangeState, covers: readonly AskId[], revision: Revision): boolean {
  return [...state.corrections].some(([ask, since]) => {
    const open = state.asks.get(ask)?.is === 'owed' || state.asks.get(ask)?.is === 'deferred'
    return open && since > revision && !covers.includes(ask)
  })
}
