import { describe, expect, test } from 'vitest'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import { decideCancel, decideRecall, decideRelease, decideSkip } from '../../src/collab/decide/control.js'
import { decideQuiesce } from '../../src/collab/decide/fence.js'
import { decidePresent } from '../../src/collab/decide/present.js'
import { decideEndTurn } from '../../src/collab/decide/record.js'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import { decideRevise } from '../../src/collab/decide/revise.js'
import { owedAsks } from '../../src/collab/exchange-state.js'
import { axesOf, stateOf } from '../../src/collab/project/axes.js'
import { nextStep } from '../../src/collab/project/obligations.js'
import type { AttemptId } from '../../src/collab/refs.js'
import { acceptance } from '../kit/acceptance.js'
import {
  accepting,
  assigning,
  at,
  cancelling,
  concluding,
  ending,
  event,
  given,
  presenting,
  R,
  revising,
  running,
  saying,
} from '../kit/exchange.js'

const quiesce = (attempt: string) =>
  ({
    kind: 'quiesce-attempt',
    eventId: event(`q-${attempt}`),
    requestId: R,
    at: at(2_000),
    attempt: attempt as AttemptId,
  }) as const

describe('a request enters', () => {
  test('at revision 1, with one ask owed', () => {
    const { state } = given().when(decideAccept, accepting()).accepts('request-opened')
    expect(state.head).toBe(1)
    expect(owedAsks(state)).toHaveLength(1)
  })

  test('once: the same request is refused a second opening', () => {
    given().when(decideAccept, accepting()).when(decideAccept, accepting()).refuses('request-exists')
  })

  test('a late one is held, owed, and starts nothing until the owner says so', () => {
    given()
      .when(decideAccept, accepting('late'))
      .accepts('request-opened', 'request-held')
      .when(decideAssign, assigning('a1', 1))
      .when(decidePresent, presenting('t1', 'a1', 1))
      .refuses('request-held')
      .when(decideRelease, saying('release-held'))
      .accepts('request-released')
      .when(decidePresent, presenting('t1', 'a1', 1))
      .accepts('turn-presented')
  })

  test('a skipped one is rejected with the reason, never dropped', () => {
    const { state } = given()
      .when(decideAccept, accepting('late'))
      .when(decideSkip, saying('skip-held'))
      .accepts('request-rejected')
    expect([...state.asks.values()]).toEqual([{ is: 'rejected', because: 'skipped-by-owner' }])
    given(state).when(decideAssign, assigning('a1', 1)).refuses('request-closed')
  })
})

describe('one effectful attempt across all revisions', () => {
  acceptance('A7', 'a second effectful attempt is refused while the first holds the fence', () => {
    running().when(decideAssign, assigning('a2', 1)).refuses('fence-held')
  })

  acceptance('A7', 'a correction does not free the execution fence', () => {
    running()
      .when(decideRevise, revising(2))
      .accepts('request-revised')
      .when(decideAssign, assigning('a2', 2))
      .refuses('fence-held')
  })

  test('a consultation may run beside it', () => {
    running()
      .when(decideAssign, assigning('a2', 1, false))
      .accepts('attempt-assigned')
  })

  test('the fence is free after the terminal result', () => {
    running()
      .when(decideRevise, revising(2))
      .when(decideConclude, concluding('t1'))
      .accepts('turn-ended', 'result-committed', 'fence-released')
      .when(decideAssign, assigning('a2', 2))
      .accepts('attempt-assigned')
  })

  test('it is free after proved quiescence, and not while a turn runs', () => {
    running().when(decideQuiesce, quiesce('a1')).refuses('turn-running')
    running().when(decideEndTurn, ending('t1', 'a1')).when(decideQuiesce, quiesce('a1')).accepts('fence-released')
  })

  test('an attempt on a passed revision is refused', () => {
    given()
      .when(decideAccept, accepting())
      .when(decideRevise, revising(2))
      .when(decideAssign, assigning('a1', 1))
      .refuses('stale-revision')
  })
})

describe('a turn', () => {
  test('runs alone', () => {
    running()
      .when(decidePresent, presenting('t2', 'a1', 1))
      .refuses('turn-running')
  })

  test('covers exactly the asks presented in it: a correction that came meanwhile stays owed', () => {
    const { state } = running().when(decideRevise, revising(2)).when(decideConclude, concluding('t1'))
    expect(owedAsks(state)).toEqual([`ask-${R}-2`])
    expect(state.results[0]).toMatchObject({ kind: 'result', covers: [`ask-${R}-1`], remainder: [`ask-${R}-2`] })
    expect(state.closed).toBeNull()
  })

  acceptance('A7', 'a late result lands on the revision of its own attempt', () => {
    const outcome = running().when(decideRevise, revising(2)).when(decideConclude, concluding('t1'))
    const facts = outcome.decision.outcome === 'accepted' ? outcome.decision.facts : []
    expect(facts.map((fact) => fact.revision)).toEqual([1, 1, 1])
  })

  test('that the ledger has ended commits nothing: a stale executor cannot answer twice', () => {
    running()
      .when(decideEndTurn, ending('t1', 'a1', 'shutdown'))
      .when(decidePresent, presenting('t2', 'a1', 1))
      .when(decideConclude, concluding('t1'))
      .refuses('turn-not-running')
      .when(decideConclude, concluding('t2'))
      .accepts('turn-ended', 'result-committed', 'fence-released')
  })

  test('that failed leaves the request owed; after the last try the owner is told', () => {
    const { state } = running()
      .when(decideEndTurn, ending('t1', 'a1'))
      .accepts('turn-ended')
      .when(decidePresent, presenting('t2', 'a1', 1))
      .when(decideEndTurn, ending('t2', 'a1'))
      .accepts('turn-ended', 'failure-handed-over')
    expect(state.failure).toBe('exited')
    expect(owedAsks(state)).toHaveLength(1)
    expect(
      given(state)
        .when(decidePresent, presenting('t3', 'a1', 1))
        .accepts('turn-presented').state.failure,
    ).toBeNull()
  })

  test('that failed before it was presented counts as a try', () => {
    const { state } = given()
      .when(decideAccept, accepting())
      .when(decideAssign, assigning('a1', 1))
      .when(decideEndTurn, ending('t1', 'a1'))
      .accepts('turn-ended')
    expect(state.failedTurns).toBe(1)
    expect(state.turns.size).toBe(0)
  })

  test('interrupted by a stop of the process is no failure', () => {
    const { state } = running()
      .when(decideEndTurn, ending('t1', 'a1', 'shutdown'))
      .accepts('turn-ended')
    expect(state.failedTurns).toBe(0)
  })
})

describe('cancellation', () => {
  test('takes effect at once when nothing runs', () => {
    const { state } = given()
      .when(decideAccept, accepting())
      .when(decideCancel, cancelling(1))
      .accepts('cancel-requested', 'cancel-acknowledged')
    expect(state.closed).toBe('cancelled')
  })

  test('waits for the end of a running turn, and then frees the fence', () => {
    const asked = running().when(decideCancel, cancelling(1)).accepts('cancel-requested')
    expect(asked.state.closed).toBeNull()
    asked.when(decideAssign, assigning('a2', 1, false)).refuses('cancel-pending')
    const ended = asked
      .when(decideEndTurn, ending('t1', 'a1', 'shutdown'))
      .accepts('turn-ended', 'fence-released', 'cancel-acknowledged')
    expect(ended.state).toMatchObject({ closed: 'cancelled', fence: null })
  })

  acceptance('A7', 'a result that was already on its way is kept when a cancellation races it', () => {
    const { state } = running()
      .when(decideCancel, cancelling(1))
      .when(decideConclude, concluding('t1'))
      .accepts('turn-ended', 'result-committed', 'fence-released', 'cancel-acknowledged')
    expect(state.results).toHaveLength(1)
    expect(state.closed).toBe('resolved')
  })

  test('of a revision that is no longer the head is refused', () => {
    given()
      .when(decideAccept, accepting())
      .when(decideRevise, revising(2))
      .when(decideCancel, cancelling(1))
      .refuses('stale-revision')
  })

  test('a recalled trigger cancels before the first turn, and only leaves a mark after it', () => {
    const recall = saying('recall-trigger')
    given()
      .when(decideAccept, accepting())
      .when(decideRecall, recall)
      .accepts('cancel-requested', 'cancel-acknowledged')
    running().when(decideRecall, recall).accepts('trigger-recalled')
  })
})

describe('a correction', () => {
  test('of an answered request is owed again', () => {
    const { state } = running()
      .when(decideConclude, concluding('t1'))
      .when(decideRevise, revising(2))
      .accepts('request-revised')
    expect(state.closed).toBeNull()
    expect(owedAsks(state)).toEqual([`ask-${R}-2`])
  })

  test('of a cancelled request is refused', () => {
    given()
      .when(decideAccept, accepting())
      .when(decideCancel, cancelling(1))
      .when(decideRevise, revising(2))
      .refuses('request-closed')
  })
})

describe('what is shown', () => {
  test('receipt, presentation, resolution and delivery never stand in for one another', () => {
    const opened = given().when(decideAccept, accepting())
    expect(axesOf(opened.state, [])).toEqual({
      assignment: 'unassigned',
      judgment: 'pending',
      control: 'open',
      delivery: 'none',
    })
    const turn = running()
    expect(axesOf(turn.state, [])).toMatchObject({ assignment: 'presented', judgment: 'pending' })
    const answered = turn.when(decideConclude, concluding('t1')).state
    expect(axesOf(answered, [])).toMatchObject({ judgment: 'resolved', delivery: 'result-committed' })
    const sending = axesOf(answered, [{ planned: true, outcome: null, parts: ['verified', 'planned'] }])
    expect(sending.delivery).toBe('sending')
    expect(stateOf(answered, sending)).toBe('open')
    const arrived = axesOf(answered, [{ planned: true, outcome: 'verified', parts: ['verified'] }])
    expect(stateOf(answered, arrived)).toBe('closed')
  })

  test('an ambiguous part is shown before everything but a failure', () => {
    const { state } = running().when(decideConclude, concluding('t1'))
    expect(axesOf(state, [{ planned: true, outcome: null, parts: ['verified', 'ambiguous'] }]).delivery).toBe(
      'ambiguous',
    )
    expect(axesOf(state, [{ planned: true, outcome: 'failed', parts: ['failed', 'ambiguous'] }]).delivery).toBe(
      'failed',
    )
  })

  test('somebody owes the next step as long as anything is owed', () => {
    const held = given().when(decideAccept, accepting('late')).state
    expect(nextStep(held, axesOf(held, []), null)).toMatchObject({ owner: 'owner', condition: 'word-of-owner' })
    const busy = running().state
    expect(nextStep(busy, axesOf(busy, []), null)).toMatchObject({ owner: 'manager', condition: 'turn-running' })
  })

  test('a fact of an unknown kind blocks decisions and is shown', () => {
    const state = { ...given().when(decideAccept, accepting()).state, unreadable: true }
    given(state).when(decideAssign, assigning('a1', 1)).refuses('request-unreadable')
    expect(nextStep(state, axesOf(state, []), null)).toMatchObject({ owner: 'operator', condition: 'unreadable-fact' })
  })
})
