import { describe, expect, test } from 'vitest'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import { decideHold, decideRecall, decideRelease, decideSkip } from '../../src/collab/decide/control.js'
import { decideIntendEffect } from '../../src/collab/decide/effects.js'
import { decidePresent } from '../../src/collab/decide/present.js'
import { decideEndTurn } from '../../src/collab/decide/record.js'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import { decideRevise } from '../../src/collab/decide/revise.js'
import { decideSettleWithheld, keepIfRecalled, type OnRecall } from '../../src/collab/decide/withheld.js'
import { keptBack, owedAsks, type ExchangeState } from '../../src/collab/exchange-state.js'
import { axesOf, stateOf } from '../../src/collab/project/axes.js'
import { nextStep } from '../../src/collab/project/obligations.js'
import type { AttemptId, EffectId, TextDigest } from '../../src/collab/refs.js'
import {
  accepting,
  assigning,
  cancelling,
  concluding,
  ending,
  given,
  host,
  presenting,
  revising,
  running,
  saying,
} from '../kit/exchange.js'
import { decideCancel } from '../../src/collab/decide/control.js'

const stopping = { ...ending('t1', 'a1'), ending: { ended: 'interrupted', because: 'stop' } } as const

describe('what a stop does to one request', () => {
  test('one that waits is held, and nothing presents it until it is released', () => {
    const waiting = given().when(decideAccept, accepting()).when(decideAssign, assigning('a1', 1))
    const held = waiting.when(decideHold, saying('hold-request')).accepts('request-held')
    held.when(decidePresent, presenting('t1', 'a1', 1)).refuses('request-held')
    held
      .when(decideRelease, saying('release-held'))
      .accepts('request-released')
      .when(decidePresent, presenting('t1', 'a1', 1))
      .accepts('turn-presented')
  })

  test('a running turn is not held beside it; its end holds the request, which covers nothing and stays owed', () => {
    running().when(decideHold, saying('hold-request')).refuses('turn-running')
    const stopped = running().when(decideEndTurn, stopping).accepts('turn-ended', 'request-held')
    expect(stopped.state.held).toBe('stopped')
    expect(owedAsks(stopped.state)).toHaveLength(1)
    expect(nextStep(stopped.state, axesOf(stopped.state, []), null)?.condition).toBe('word-of-owner')
    stopped
      .when(decideRelease, saying('release-held'))
      .accepts('request-released')
      .when(decidePresent, presenting('t2', 'a1', 1))
      .accepts('turn-presented')
  })

  test('what is held already, or closed, is not held once more', () => {
    const held = given().when(decideAccept, accepting('late'))
    held.when(decideHold, saying('hold-request')).refuses('request-held')
    const closed = held.when(decideSkip, saying('skip-held'))
    closed.when(decideHold, saying('hold-request')).refuses('request-closed')
  })

  test('a cancellation that waited wins over the stop', () => {
    const ended = running().when(decideCancel, cancelling(1)).when(decideEndTurn, stopping)
    expect(ended.state.closed).toBe('cancelled')
    expect(ended.state.held).toBeNull()
  })

  test('let go after a stop, its attempt can act no more; with an effect in doubt it keeps the fence', () => {
    const skipped = running().when(decideEndTurn, stopping).when(decideSkip, saying('skip-held'))
    skipped.accepts('request-rejected', 'fence-released')
    expect(skipped.state.fence).toBeNull()
    expect(skipped.state.closed).toBe('rejected')
    const doubtful = running()
      .when(decideIntendEffect, {
        ...saying('intend-effect'),
        actor: host,
        attempt: 'a1' as AttemptId,
        effect: 'e1' as EffectId,
        effectKind: 'mail',
        target: 'somebody',
        providerKey: 'k1',
        doubt: { by: 'none' },
        input: 'input' as TextDigest,
      } as never)
      .accepts('effect-intended')
      .when(decideEndTurn, stopping)
      .when(decideSkip, saying('skip-held'))
      .accepts('request-rejected')
    expect(doubtful.state.fence).toBe('a1')
  })
})

describe('a result whose question was withdrawn', () => {
  const conclude = (policy: OnRecall) => (state: ExchangeState, command: Parameters<typeof decideConclude>[1]) =>
    keepIfRecalled(state, decideConclude(state, command), policy)
  const recalled = () => running().when(decideRecall, saying('recall-trigger')).accepts('trigger-recalled')
  const settle = (as: 'shown' | 'dropped') => ({ ...saying('settle-withheld'), as }) as const

  test('it is committed and kept: the request is open until its owner says what to do', () => {
    const kept = recalled().when(conclude('hold'), concluding('t1'))
    kept.accepts('turn-ended', 'result-committed', 'fence-released', 'result-withheld')
    expect(keptBack(kept.state).map((result) => result.id)).toEqual(['result-t1'])
    const axes = axesOf(kept.state, [])
    expect(axes.delivery).toBe('result-committed')
    expect(stateOf(kept.state, axes)).toBe('open')
    expect(nextStep(kept.state, axes, null)).toMatchObject({ owner: 'owner', condition: 'word-of-owner' })
  })

  test('the first word settles it; a second one changes nothing', () => {
    const kept = recalled().when(conclude('hold'), concluding('t1'))
    const dropped = kept.when(decideSettleWithheld, settle('dropped')).accepts('withheld-settled')
    expect(stateOf(dropped.state, axesOf(dropped.state, []))).toBe('closed')
    dropped.when(decideSettleWithheld, settle('shown')).refuses('not-held')
    const shown = kept.when(decideSettleWithheld, settle('shown'))
    expect(axesOf(shown.state, []).delivery).toBe('result-committed')
  })

  test('by the policies send and drop nobody is asked', () => {
    const sent = recalled().when(conclude('send'), concluding('t1'))
    sent.accepts('turn-ended', 'result-committed', 'fence-released')
    const dropped = recalled().when(conclude('drop'), concluding('t1'))
    dropped.accepts('turn-ended', 'result-committed', 'fence-released', 'result-withheld', 'withheld-settled')
    expect(keptBack(dropped.state)).toEqual([])
  })

  test('without a recall every policy leaves the answer on its way', () => {
    for (const policy of ['hold', 'send', 'drop'] as const) {
      running().when(conclude(policy), concluding('t1')).accepts('turn-ended', 'result-committed', 'fence-released')
    }
  })
})

describe('what becomes of a request whose executor is gone again and again', () => {
  const crash = (turn: string) =>
    ({ ...ending(turn, 'a1'), ending: { ended: 'interrupted', because: 'holder-gone' } }) as const
  const present = (n: number) => presenting(`t${n}`, 'a1', 1)
  const crashedTwice = () =>
    running()
      .when(decideEndTurn, crash('t1'))
      .accepts('turn-ended')
      .when(decidePresent, present(2))
      .accepts('turn-presented')
      .when(decideEndTurn, crash('t2'))
      .accepts('turn-ended')

  test('the third crash in a row hands it to the owner, and it stays owed', () => {
    const { state } = crashedTwice()
      .when(decidePresent, present(3))
      .accepts('turn-presented')
      .when(decideEndTurn, crash('t3'))
      .accepts('turn-ended', 'failure-handed-over')
    expect(state.failure).toBe('repeated-crash')
    expect(owedAsks(state)).toHaveLength(1)
  })

  test('after the word of the owner it runs, and again only the third crash stops it', () => {
    const handed = crashedTwice()
      .when(decidePresent, present(3))
      .accepts('turn-presented')
      .when(decideEndTurn, crash('t3'))
      .accepts('turn-ended', 'failure-handed-over')
    const again = handed.when(decidePresent, present(4)).accepts('turn-presented')
    expect(again.state.failure).toBeNull()
    again.when(decideEndTurn, crash('t4')).accepts('turn-ended')
  })

  test.each([
    ['a stop', { ended: 'interrupted', because: 'shutdown' }],
    ['a failure of the agent', { ended: 'failed', because: 'no-output' }],
  ] as const)('%s between them begins the count anew', (_what, between) => {
    crashedTwice()
      .when(decidePresent, present(3))
      .accepts('turn-presented')
      .when(decideEndTurn, { ...ending('t3', 'a1'), ending: between })
      .accepts('turn-ended')
      .when(decidePresent, present(4))
      .accepts('turn-presented')
      .when(decideEndTurn, crash('t4'))
      .accepts('turn-ended')
  })

  test('a correction begins the count anew', () => {
    const corrected = crashedTwice().when(decideRevise, revising(2)).accepts('request-revised')
    expect(corrected.state.crashedTurns).toBe(0)
  })
})
