import { handedAsks, owedAsks, toIntegrate, type ExchangeState, type TurnState } from '../exchange-state.js'

/**
 * The last turns of a request that were cut off with their executor, newest first, as far as they were given exactly
 * what is owed now: what one of them has of an answer answers this, and its words need not be said again.
 *
 * @source RFC §5.7.3 (reconcile already committed results before planning)
 */
export function cutOffTurns(state: ExchangeState): readonly TurnState[] {
  const handed = handedAsks(state)
  const owed = owedAsks(state).filter((ask) => !handed.has(ask))
  const back = toIntegrate(state)
  const found: TurnState[] = []
  for (const turn of [...state.turns.values()].toReversed()) {
    const { ending } = turn
    if (ending?.ended !== 'interrupted' || ending.because === 'stop') break
    const same =
      turn.revision === state.head &&
      owed.every((ask) => turn.asks.includes(ask)) &&
      back.every((child) => turn.takenUp.includes(child))
    if (!same) break
    found.push(turn)
  }
  return found
}
