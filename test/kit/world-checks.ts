import { expect } from 'vitest'
import { isOpen, type ExchangeState } from '../../src/collab/exchange-state.js'
import type { Fact } from '../../src/collab/observation.js'
import type { RequestId } from '../../src/collab/refs.js'
import { expectSound } from './sound.js'

/*
 * What holds across requests that come of one another, whoever holds their states: the pure core or Postgres. Numbers
 * are those of the ledger's invariants.
 */

export type States = ReadonlyMap<RequestId, ExchangeState>

export function everyRequestIsSound(states: States): void {
  for (const state of states.values()) expectSound(state)
}

/** The requests above one, its parent first. */
export function above(states: States, id: RequestId): readonly RequestId[] {
  const parent = states.get(id)?.request?.parent ?? null
  return parent === null ? [] : [parent, ...above(states, parent)]
}

/**
 * 15: a cancellation is of whoever was asked to cancel, or of something that came of it.
 *
 * @param asked the requests that somebody asked to cancel
 */
export function cancellationsStayBelow(states: States, asked: ReadonlySet<RequestId>): void {
  for (const [id, { cancel }] of states) {
    if (cancel === 'none' || asked.has(id)) continue
    expect(above(states, id).some((one) => asked.has(one))).toBe(true)
  }
}

/**
 * 15: once every wake has run, nothing that came of a cancelled request goes on by itself: it is over, is being ended,
 * or its tries are used up and only an owner's word could wake it.
 */
export function nothingRunsBelowACancelled(states: States): void {
  for (const state of states.values()) {
    const parent = states.get(state.request?.parent ?? state.id)
    if (parent === undefined || parent === state || parent.cancel === 'none') continue
    if (state.closed !== null || state.failure !== null) continue
    expect([state.id, state.cancel]).toEqual([state.id, 'requested'])
  }
}

/** 15: on the way up from any request nobody who waits is met twice. */
export function nobodyWaitsInACircle(states: States): void {
  for (const state of states.values()) {
    const waiting: string[] = state.closed === null ? [state.request?.target ?? 'nobody'] : []
    for (let below = state; below.request !== null && below.request.parent !== null;) {
      const parent = states.get(below.request.parent)
      const known = parent?.children.get(below.id)
      if (parent === undefined || known === undefined || !isOpen(known)) break
      if (below.request.sender.kind === 'agent') waiting.push(below.request.sender.agent)
      below = parent
    }
    expect(waiting).toEqual([...new Set(waiting)])
  }
}

/** 9: once every wake has run, each child that ended has come back, with its last result, exactly once. */
export function everyEndCameBack(states: States, facts: readonly Fact[]): void {
  for (const parent of states.values()) {
    const returns = facts.flatMap((fact) =>
      fact.kind === 'child-returned' && fact.request === parent.id ? [fact] : [],
    )
    for (const [id, known] of parent.children) {
      const child = states.get(id)
      if (child === undefined || child.closed === null) continue
      const last = child.closed === 'resolved' ? child.results.findLast((one) => one.kind === 'result')?.id : null
      expect(known.returned?.result).toBe(last)
      const same = returns.filter((fact) => fact.child === id && fact.result === last)
      if (last !== null) expect(same.length).toBeLessThanOrEqual(child.head)
      if (child.head === 1) expect(same).toHaveLength(1)
    }
  }
}

/** 9: a parent's ask is answered by its own receiver, or by a child whose standing policy says so. */
export function parentsAnswerThemselves(states: States, facts: readonly Fact[]): void {
  for (const parent of states.values()) {
    const own = new Set<string>(parent.results.map((one) => one.id))
    const direct = new Set<string | null>(
      facts.flatMap((fact) =>
        fact.kind === 'child-returned' && fact.request === parent.id && fact.direct ? [fact.result] : [],
      ),
    )
    for (const ask of parent.asks.values()) {
      if (ask.is === 'covered') expect(own.has(ask.by) || direct.has(ask.by)).toBe(true)
    }
  }
}
