import { describe, expect, test } from 'vitest'
import { decideAssess } from '../../src/collab/decide/assess.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import { decideCancel } from '../../src/collab/decide/control.js'
import { decideIntendEffect } from '../../src/collab/decide/effects.js'
import { decideQuiesce } from '../../src/collab/decide/fence.js'
import { decideProvide } from '../../src/collab/decide/inbox.js'
import { decideReport } from '../../src/collab/decide/report.js'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import { decideRevise } from '../../src/collab/decide/revise.js'
import {
  MANAGER,
  type AskId,
  type AttemptId,
  type EffectId,
  type ResultId,
  type TextDigest,
  type TurnId,
} from '../../src/collab/refs.js'
import { acceptance } from '../kit/acceptance.js'
import {
  ASK,
  accepts,
  ask,
  assigningTo,
  by,
  defers,
  inHands,
  judging,
  providing,
  reporting,
  takenOn,
} from '../kit/agents.js'
import { at, cancelling, concluding, event, given, R, revising, running, type Given } from '../kit/exchange.js'

const resultOf = (outcome: Given) => outcome.state.results.at(-1)

describe('a reported result', () => {
  test('covers what the receiver has taken on, ends the attempt and closes the request', () => {
    const done = takenOn().when(decideReport, reporting('anna')).accepts('result-committed', 'fence-released')
    expect(done.state).toMatchObject({ closed: 'resolved', fence: null })
    expect(resultOf(done)).toMatchObject({ kind: 'result', covers: [ASK], remainder: [], supersedes: null })
    const [fact] = done.decision.outcome === 'accepted' ? done.decision.facts : []
    expect(fact).toMatchObject({ attempt: 'a-anna', revision: 1, turn: null })
  })

  acceptance('A6', 'without the own assessment is refused: acceptance comes before a result', () => {
    inHands().when(decideReport, reporting('anna')).refuses('not-assessed')
    inHands()
      .when(decideAssess, judging('anna', [defers()]))
      .when(decideReport, reporting('anna'))
      .refuses('ask-not-owed')
  })

  test('is not assessed by somebody else: each receiver judges for itself, and none undoes another’s judgment', () => {
    const both = takenOn()
      .when(decideAssign, assigningTo('ben', 'a-ben', 1, false))
      .when(decideProvide, providing('ben'))
    both.when(decideReport, reporting('ben')).refuses('not-assessed')
    both
      .when(decideAssess, judging('ben', [accepts()]))
      .when(decideReport, reporting('anna'))
      .accepts('result-committed', 'fence-released')
  })

  acceptance('A24', 'of two receivers the second finds the ask covered', () => {
    takenOn()
      .when(decideAssign, assigningTo('ben', 'a-ben', 1, false))
      .when(decideProvide, providing('ben'))
      .when(decideAssess, judging('ben', [accepts()]))
      .when(decideReport, reporting('anna'))
      .when(decideReport, reporting('ben'))
      .refuses('ask-not-owed')
  })

  test('that leaves something owed names the remainder and keeps the attempt', () => {
    const half = takenOn()
      .when(decideRevise, revising(2))
      .when(decideReport, reporting('anna'))
      .accepts('result-committed')
    expect(resultOf(half)).toMatchObject({ covers: [ASK], remainder: [ask(2)] })
    expect(half.state).toMatchObject({ closed: null, fence: 'a-anna' })
  })

  acceptance('A7', 'lands on the revision that was judged, also after the head moved on', () => {
    const early = takenOn().when(decideRevise, revising(2)).when(decideReport, reporting('anna'))
    const facts = early.decision.outcome === 'accepted' ? early.decision.facts : []
    expect(facts[0]?.revision).toBe(1)
    const later = takenOn()
      .when(decideRevise, revising(2))
      .when(decideProvide, providing('anna', 2))
      .when(decideAssess, judging('anna', [accepts(ask(2))], 2))
      .when(decideReport, reporting('anna', [ask(2)]))
    expect(later.decision.outcome === 'accepted' ? later.decision.facts[0]?.revision : null).toBe(2)
  })

  test('covers nothing twice, nothing unknown, and not nothing', () => {
    takenOn().when(decideReport, reporting('anna', [])).refuses('nothing-owed')
    takenOn()
      .when(decideReport, reporting('anna', ['ask-x' as AskId]))
      .refuses('ask-unknown')
    const done = takenOn().when(decideReport, reporting('anna', [ASK, ASK]))
    expect(resultOf(done)?.covers).toEqual([ASK])
    done.when(decideReport, reporting('anna')).refuses('attempt-released')
  })

  test('comes only from a receiver whose attempt lives', () => {
    takenOn().when(decideReport, reporting('ben')).refuses('not-receiver')
    takenOn()
      .when(decideQuiesce, {
        kind: 'quiesce-attempt',
        eventId: event('q'),
        requestId: R,
        at: at(2_000),
        attempt: 'a-anna' as AttemptId,
      })
      .when(decideReport, reporting('anna'))
      .refuses('attempt-released')
    given().when(decideReport, reporting('anna')).refuses('request-unknown')
  })

  test('of a cancelled request is refused', () => {
    takenOn().when(decideCancel, cancelling(1)).when(decideReport, reporting('anna')).refuses('request-closed')
  })

  test('that replaces a former one links it; what does not belong together is refused', () => {
    const done = takenOn().when(decideReport, reporting('anna'))
    const again = { ...reporting('anna'), result: 'result-2' as ResultId, supersedes: 'result-anna' as ResultId }
    const replaced = done.when(decideReport, again).accepts('result-committed')
    expect(resultOf(replaced)).toMatchObject({ id: 'result-2', supersedes: 'result-anna' })
    expect(replaced.state.asks.get(ASK)).toEqual({ is: 'covered', by: 'result-2' })
    done.when(decideReport, { ...again, supersedes: 'result-x' as ResultId }).refuses('result-unknown')
    done.when(decideReport, { ...reporting('ben'), supersedes: 'result-anna' as ResultId }).refuses('not-receiver')
  })

  acceptance('A7', 'keeps the fence while an effect of the attempt is in doubt', () => {
    const done = takenOn()
      .when(decideIntendEffect, {
        ...by('anna', 'intend'),
        kind: 'intend-effect',
        attempt: 'a-anna' as AttemptId,
        effect: 'e1' as EffectId,
        effectKind: 'http',
        target: 'x',
        providerKey: 'k',
        doubt: { by: 'none' },
        input: 'd' as TextDigest,
      })
      .when(decideReport, reporting('anna'))
      .accepts('result-committed')
    expect(done.state).toMatchObject({ closed: 'resolved', fence: 'a-anna' })
  })
})

describe('a result reported inside a turn', () => {
  const T1 = 't1' as TurnId
  const inTurn = () => running().when(decideAssess, judging(MANAGER, [accepts()]))

  test('belongs to that turn, and the turn’s end releases the fence', () => {
    const told = inTurn()
      .when(decideReport, { ...reporting(MANAGER), turn: T1 })
      .accepts('result-committed')
    const [fact] = told.decision.outcome === 'accepted' ? told.decision.facts : []
    expect(fact).toMatchObject({ turn: 't1', attempt: 'a1' })
    expect(told.state.fence).toBe('a1')
    const ended = told
      .when(decideConclude, concluding('t1'))
      .accepts('turn-ended', 'result-committed', 'fence-released')
    // What the turn says last covers nothing a second time.
    expect(resultOf(ended)).toMatchObject({ kind: 'interim', covers: [] })
    expect(ended.state.fence).toBeNull()
  })

  test('of an ended turn is refused: a stale executor cannot answer', () => {
    inTurn()
      .when(decideConclude, concluding('t1'))
      .when(decideReport, { ...reporting(MANAGER), turn: T1 })
      .refuses('turn-not-running')
  })

  test('of another request’s turn is recorded without a turn', () => {
    const told = takenOn().when(decideReport, { ...reporting('anna'), turn: 'elsewhere' as TurnId })
    const [fact] = told.decision.outcome === 'accepted' ? told.decision.facts : []
    expect(fact).toMatchObject({ kind: 'result-committed', turn: null })
  })
})
