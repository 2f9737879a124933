import { describe, expect, test } from 'vitest'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideAssess } from '../../src/collab/decide/assess.js'
import { decideCancel, decideHold } from '../../src/collab/decide/control.js'
import { decideRelate } from '../../src/collab/decide/relate.js'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import { decideRevise } from '../../src/collab/decide/revise.js'
import { decideSettleSteer, decideSteer, startedByPerson } from '../../src/collab/decide/steer.js'
import { type ExchangeState, unopened } from '../../src/collab/exchange-state.js'
import type { Fact, Observation, Steered } from '../../src/collab/observation.js'
import { axesOf } from '../../src/collab/project/axes.js'
import { nextStep } from '../../src/collab/project/obligations.js'
import { progressOf } from '../../src/collab/project/progress.js'
import { MANAGER, type RequestId, type TurnId } from '../../src/collab/refs.js'
import { acceptance } from '../kit/acceptance.js'
import {
  accepting,
  applied,
  at,
  cancelling,
  concluding,
  contextAt,
  event,
  given,
  R,
  requestAt,
  revising,
  revision,
  running,
  saying,
} from '../kit/exchange.js'

const LATER = '00000000-0000-7000-8000-000000000002' as RequestId
const t1 = 't1' as TurnId
const ASK = accepting().request.asks[0]?.id
const NEW = requestAt(2).asks[0]?.id

const steering = (turn = 't1', into = R) =>
  ({
    kind: 'steer-turn',
    eventId: event(`steer-${turn}`),
    requestId: LATER,
    at: at(2_000),
    turn: turn as TurnId,
    into,
  }) as const
const settling = (became: Steered, turn = 't1') =>
  ({
    kind: 'settle-steer',
    eventId: event(`settle-${turn}`),
    requestId: LATER,
    at: at(2_000),
    turn: turn as TurnId,
    became,
  }) as const
const waiting = () => given(unopened(LATER)).when(decideAccept, accepting(null, LATER))
const told = (became: Steered) => waiting().when(decideSteer, steering()).when(decideSettleSteer, settling(became))

function related(earlier: ExchangeState, later: ExchangeState, as: 'addition' | 'correction' | 'context' = 'addition') {
  const n = earlier.head + 1
  const decision = decideRelate(earlier, later, {
    kind: 'relate-requests',
    eventId: event('relate'),
    requestId: R,
    later: LATER,
    at: at(2_000),
    actor: { kind: 'agent', agent: MANAGER, turn: t1 },
    as,
    onRevision: earlier.head,
    next: as === 'context' ? null : { request: { ...requestAt(n), kind: as }, context: contextAt(n) },
  })
  if (decision.outcome === 'rejected') throw new Error(decision.refusal.reason)
  return { facts: decision.earlier, state: applied(earlier, decision.earlier) }
}
const kinds = (facts: readonly Fact[]) => facts.map((fact) => fact.kind)

describe('putting a waiting follow-up into the turn that runs before it', () => {
  test('is intended once for one turn, and settled once', () => {
    const intended = waiting().when(decideSteer, steering()).accepts('steer-intended')
    expect(intended.state.steers.get(t1)).toEqual({ into: R, became: 'intended' })
    intended.when(decideSteer, steering()).refuses('not-related')
    const taken = intended.when(decideSettleSteer, settling('taken')).accepts('steer-settled')
    expect(taken.state.steers.get(t1)).toEqual({ into: R, became: 'taken' })
    taken.when(decideSettleSteer, settling('too-late')).refuses('effect-settled')
    taken.when(decideSettleSteer, settling('taken', 't9')).refuses('effect-unknown')
    taken.when(decideSteer, steering('t2')).accepts('steer-intended')
  })

  test('is refused for what is held, cancelled, in its own turn, or unknown', () => {
    waiting()
      .when(decideHold, { ...saying('hold-request'), requestId: LATER })
      .when(decideSteer, steering())
      .refuses('request-held')
    waiting().when(decideCancel, cancelling(1, LATER)).when(decideSteer, steering()).refuses('request-closed')
    running().when(decideSteer, steering('t9')).refuses('turn-running')
    given(unopened(LATER)).when(decideSteer, steering()).refuses('request-unknown')
    waiting().when(decideSteer, steering('t1', LATER)).refuses('not-related')
  })

  test('leaves it queued where it is: what its page and card say tells told from queued', () => {
    const stands = (state: ExchangeState) => [
      nextStep(state, axesOf(state, []), null)?.condition,
      progressOf(state, new Map()).told ?? false,
    ]
    expect(stands(waiting().state)).toEqual(['turn-queued', false])
    expect(stands(told('taken').state)).toEqual(['told-to-turn', true])
    expect(stands(told('too-late').state)).toEqual(['turn-queued', false])
    expect(stands(told('unknown').state)).toEqual(['turn-queued', false])
    expect(told('taken').state).toMatchObject({ closed: null, turns: new Map(), running: null })
  })
})

describe('relating a follow-up in the turn that was told of it', () => {
  acceptance('A23', 'lets the last words of that turn answer it, at the revision that it was told', () => {
    const both = related(running().state, told('taken').state, 'correction')
    expect(kinds(both.facts)).toEqual(['request-revised', 'turn-steered'])
    expect(both.state.turns.get(t1)).toMatchObject({ revision: 2, asks: [ASK, NEW] })
    const ended = given(both.state).when(decideConclude, concluding('t1'))
    ended.accepts('turn-ended', 'result-committed', 'fence-released')
    const result = ended.decision.outcome === 'accepted' ? ended.decision.facts[1] : undefined
    expect(result).toMatchObject({ revision: 2, result: { covers: [ASK, NEW], remainder: [], kind: 'result' } })
    expect(ended.state).toMatchObject({ closed: 'resolved', fence: null })
  })

  acceptance('A23', 'counts no words that the turn was not shown', () => {
    const quiet = [waiting().state, waiting().when(decideSteer, steering()).state]
    const settled = (['too-late', 'unsupported', 'unknown'] as const).map((became) => told(became).state)
    // Another turn took them, or this turn for another request.
    const elsewhere = waiting().when(decideSteer, steering('t0')).when(decideSettleSteer, settling('taken', 't0')).state
    const other = waiting()
      .when(decideSteer, steering('t1', 'another' as RequestId))
      .when(decideSettleSteer, settling('taken')).state
    for (const later of [...quiet, ...settled, elsewhere, other]) {
      const both = related(running().state, later)
      expect(kinds(both.facts)).toEqual(['request-revised'])
      const after = given(both.state).when(decideConclude, concluding('t1')).state
      expect([...after.asks.values()].map((ask) => ask.is)).toEqual(['covered', 'owed'])
    }
  })

  test('keeps the turn at its revision when a correction came in between that it was not shown', () => {
    const corrected = running().when(decideRevise, revising(2)).state
    const both = related(corrected, told('taken').state)
    expect(both.state.turns.get(t1)).toMatchObject({ revision: 1, asks: [ASK, requestAt(3).asks[0]?.id] })
    const after = given(both.state).when(decideConclude, concluding('t1')).state
    expect([...after.asks].map(([id, ask]) => [id, ask.is])).toEqual([
      [ASK, 'covered'],
      [NEW, 'owed'],
      [requestAt(3).asks[0]?.id, 'covered'],
    ])
  })

  test('lets it answer what it had put off until that answer, also as mere context', () => {
    const until = { owner: 'ou_owner', condition: { when: 'answer-from-owner' as const }, recheckAt: at(9_000) }
    const deferring = {
      ...saying('assess-request'),
      agent: MANAGER,
      onRevision: revision(1),
      asks: [{ ask: ASK, judgment: 'deferred', reason: 'which?', until }],
    }
    const put = running()
      .when(decideAssess, deferring as never)
      .accepts('assessed').state
    for (const as of ['addition', 'context'] as const) {
      const both = related(put, told('taken').state, as)
      expect(kinds(both.facts).slice(-2)).toEqual(['deferral-due', 'turn-steered'])
      const after = given(both.state).when(decideConclude, concluding('t1')).state
      expect([...after.asks.values()].map((ask) => ask.is)).toEqual(
        as === 'context' ? ['covered'] : ['covered', 'covered'],
      )
    }
    // Not told: what it had put off is for the next turn.
    const alone = related(put, waiting().state, 'context')
    expect(alone.state.turns.get(t1)?.asks).toEqual([])
  })
})

describe('which turns a follow-up may be put into', () => {
  const factsOf = (...facts: readonly Partial<Fact>[]) => facts as readonly Observation[]
  const opened = { kind: 'request-opened', request: R, opened: requestAt(1), context: contextAt(1) } as const
  const due = (condition: object): readonly Partial<Fact>[] => [
    {
      kind: 'assessed',
      request: R,
      agent: MANAGER,
      verdict: 'deferred',
      asks: [{ ask: ASK, judgment: 'deferred', reason: 'r', until: { owner: 'o', condition, recheckAt: at(9) } }],
    } as never,
    { kind: 'deferral-due', request: R, asks: [ASK], because: 'condition' } as never,
  ]
  const agent = { kind: 'agent', agent: MANAGER, turn: t1 } as const

  test.each([
    ['that a message started', factsOf(opened), true],
    ['that an answer of the owner started', factsOf(opened, ...due({ when: 'answer-from-owner' })), true],
    ['that a correction started', factsOf(opened, { ...opened, kind: 'request-revised', revised: requestAt(2) }), true],
    ['that the owner let run', factsOf(opened, { kind: 'request-released', request: R }), true],
    ['that a time started', factsOf(opened, ...due({ when: 'at' })), false],
    ['that a child started', factsOf(opened, { kind: 'child-returned', request: R } as never), false],
    ['for an agent', factsOf({ ...opened, opened: { ...requestAt(1), sender: agent } }), false],
  ])('a turn %s', (_what, facts, may) => {
    expect(startedByPerson(facts)).toBe(may)
  })
})
