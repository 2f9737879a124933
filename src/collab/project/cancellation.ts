import { openEffects, type ExchangeState } from '../exchange-state.js'

/** Something that a cancellation finds done: it stays. */
export type Happened =
  | { readonly what: 'answered' }
  | { readonly what: 'effect'; readonly effectKind: string; readonly target: string }
  /** In the work owner's objects; the revision is the receipt's. */
  | { readonly what: 'work'; readonly ref: string; readonly revision: string }

/**
 * How a cancellation stands, read off the facts alone: asked for and not in effect yet, in effect, or in effect too late
 * for what had already happened.
 *
 * `waitsFor` is set while it is `asked`. `rest` says whether anything was left that it still kept from happening.
 */
export type Cancellation =
  | { readonly stands: 'asked'; readonly waitsFor: 'turn' | 'effect'; readonly happened: readonly Happened[] }
  | { readonly stands: 'acknowledged' }
  | { readonly stands: 'too-late'; readonly happened: readonly Happened[]; readonly rest: boolean }

/**
 * Null when nobody asked for one.
 *
 * @source RFC §5.12 (pending cancellation versus already-committed effect), ledger invariants 4, 8 — A7
 */
export function cancellationOf(state: ExchangeState): Cancellation | null {
  if (state.cancel === 'none') return null
  const happened = happenedIn(state)
  if (state.cancel === 'requested') {
    const effect = state.running === null && openEffects(state, null).length > 0
    return { stands: 'asked', waitsFor: effect ? 'effect' : 'turn', happened }
  }
  if (happened.length === 0) return { stands: 'acknowledged' }
  return { stands: 'too-late', happened, rest: state.closed === 'cancelled' }
}

/** What a request has brought about that no cancellation takes back. */
export function happenedIn(state: ExchangeState): readonly Happened[] {
  const answered = [...state.asks.values()].some((ask) => ask.is === 'covered')
  const effects = [...state.effects.values()].filter((effect) => effect.became === 'confirmed')
  return [
    ...(answered ? [{ what: 'answered' } as const] : []),
    ...effects.map(({ kind, target }) => ({ what: 'effect', effectKind: kind, target }) as const),
    ...state.work.flatMap(({ refs }) => refs.map(({ ref, revision }) => ({ what: 'work', ref, revision }) as const)),
  ]
}
