import { expect } from 'vitest'
import { openEffects, type ExchangeState } from '../../src/collab/exchange-state.js'

/** What must hold in every state, however it came about. Numbers are those of the ledger's invariants. */
export function expectSound(state: ExchangeState): void {
  expectOneFence(state)
  expectOneTurn(state)
  expectEveryAskSomewhere(state)
  expectCancelAtSafeBoundary(state)
}

/** 4 */
function expectOneFence(state: ExchangeState): void {
  const holders = [...state.attempts.values()].filter((attempt) => attempt.effectful && attempt.released === null)
  expect(holders.length).toBeLessThanOrEqual(1)
  expect(state.fence).toBe(holders[0]?.id ?? null)
  // An attempt with an effect of unknown outcome is never released.
  for (const id of openEffects(state, null)) {
    const effect = state.effects.get(id)
    expect(effect === undefined ? 'missing' : state.attempts.get(effect.attempt)?.released).toBeNull()
  }
}

function expectOneTurn(state: ExchangeState): void {
  const open = [...state.turns.values()].filter((turn) => turn.ending === null)
  expect(open.map((turn) => turn.id)).toEqual(state.running === null ? [] : [state.running])
  // What runs has an attempt that stands.
  for (const turn of open) expect(state.attempts.get(turn.attempt)?.released).toBeNull()
}

/** 6: an ask is covered by a result that names it and that nothing has replaced, or by a child's direct return. */
function expectEveryAskSomewhere(state: ExchangeState): void {
  const children = [...state.children.values()]
  for (const [id, ask] of state.asks) {
    if (ask.is !== 'covered') continue
    const result = state.results.find((one) => one.id === ask.by)
    const child = children.find((one) => one.asks.includes(id) && one.returned !== null)
    expect(result === undefined ? child !== undefined : result.covers.includes(id)).toBe(true)
    // The newest conclusion of that child is the one that stands.
    const direct = children.filter((one) => one.asks.includes(id) && one.returned?.direct === true)
    if (result === undefined && direct.length === 1) expect(direct[0]?.returned?.result).toBe(ask.by)
    if (result === undefined) continue
    const later = state.results.slice(state.results.indexOf(result) + 1)
    expect(later.some((one) => one.covers.includes(id))).toBe(false)
  }
  // Two results cover one ask only when the later one says that it replaces the earlier one.
  for (const [n, one] of state.results.entries()) {
    for (const earlier of state.results.slice(0, n)) {
      const both = one.covers.filter((ask) => earlier.covers.includes(ask))
      if (both.length > 0) expect(replaces(state, one.supersedes, earlier.id)).toBe(true)
    }
  }
  // Closed says exactly that nothing is owed or deferred.
  const left = [...state.asks.values()].some((ask) => ask.is === 'owed' || ask.is === 'deferred')
  if (state.request !== null) expect(state.closed !== null).toBe(!left)
}

function replaces(state: ExchangeState, id: string | null, earlier: string): boolean {
  if (id === null || id === earlier) return id === earlier
  return replaces(state, state.results.find((one) => one.id === id)?.supersedes ?? null, earlier)
}

/** 8: a cancellation is acknowledged at the first moment when nothing can happen any more, and not before. */
function expectCancelAtSafeBoundary(state: ExchangeState): void {
  const mayHappen = state.running !== null || openEffects(state, null).length > 0
  if (state.cancel === 'acknowledged') {
    expect(mayHappen).toBe(false)
    expect(state.fence).toBeNull()
  }
  if (state.cancel === 'requested') expect(mayHappen).toBe(true)
}
