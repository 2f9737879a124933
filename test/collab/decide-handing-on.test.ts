import { describe, expect, test } from 'vitest'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import { decideOpenChild, decideReturnChild } from '../../src/collab/decide/children.js'
import { decideCancel } from '../../src/collab/decide/control.js'
import { decidePresent } from '../../src/collab/decide/present.js'
import { decideProvide, decideRecordSelection } from '../../src/collab/decide/inbox.js'
import { decideReassign } from '../../src/collab/decide/reassign.js'
import { decideIntendEffect } from '../../src/collab/decide/effects.js'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import { decideRevise } from '../../src/collab/decide/revise.js'
import { decideTakeChild, waitCircle } from '../../src/collab/decide/take-child.js'
import {
  MANAGER,
  type AgentId,
  type AskId,
  type AttemptId,
  type EffectId,
  type RequestId,
  type ResultId,
  type TextDigest,
} from '../../src/collab/refs.js'
import { acceptance } from '../kit/acceptance.js'
import { agent, ASK, assigningTo, by, candidate, inHands, providing, takenOn } from '../kit/agents.js'
import {
  accepting,
  at,
  cancelling,
  concluding,
  event,
  given,
  presenting,
  R,
  revising,
  running,
} from '../kit/exchange.js'

const CHILD = '00000000-0000-7000-8000-0000000000c1' as RequestId

const opening = (name: string, target: string, asks: readonly AskId[] = [ASK]) =>
  ({
    ...by(name, `open-${target}`),
    kind: 'open-child',
    child: CHILD,
    target: agent(target),
    intent: 'consultation',
    asks,
    spec: 'spec' as TextDigest,
  }) as const

const returning = (result: string | null, direct = false) =>
  ({
    kind: 'return-child',
    eventId: event(`return-${result}`),
    requestId: R,
    at: at(3_000),
    child: CHILD,
    ended: result === null ? 'failed' : 'resolved',
    result: result as ResultId | null,
    direct,
  }) as const

describe('the parent hands on', () => {
  test('by its receiver alone; it keeps the duty, and no turn of its own covers the ask meanwhile', () => {
    const handed = running().when(decideOpenChild, opening(MANAGER, 'anna')).accepts('child-opened')
    expect(handed.state.asks.get(ASK)?.is).toBe('owed')
    expect(handed.state.children.get(CHILD)).toMatchObject({ target: 'anna', returned: null })
    expect(handed.decision.outcome === 'accepted' ? handed.decision.facts[0] : null).toMatchObject({ spec: 'spec' })
    running().when(decideOpenChild, opening('ben', 'anna')).refuses('not-receiver')
  })

  test('an ask that it owes, once, and not when it is to end', () => {
    running()
      .when(decideOpenChild, opening(MANAGER, 'anna', ['ask-x' as AskId]))
      .refuses('ask-unknown')
    running()
      .when(decideOpenChild, opening(MANAGER, 'anna'))
      .when(decideOpenChild, opening(MANAGER, 'ben'))
      .refuses('child-known')
    running()
      .when(decideCancel, cancelling(1))
      .when(decideOpenChild, opening(MANAGER, 'anna'))
      .refuses('cancel-pending')
  })

  test('to one that was admitted; the candidates stay with their reasons', () => {
    const choosing = (chosen: AgentId | null) =>
      ({
        ...by(MANAGER, 'select'),
        kind: 'record-selection',
        candidates: [candidate('anna'), candidate('stan', false, ['its goal is stopped'])],
        chosen,
        reason: 'reads sources',
      }) as const
    running()
      .when(decideRecordSelection, choosing(agent('anna')))
      .accepts('receiver-selected')
    running().when(decideRecordSelection, choosing(null)).accepts('receiver-selected')
    const refused = running()
      .when(decideRecordSelection, choosing(agent('stan')))
      .refuses('not-admitted')
    expect(refused.decision).toMatchObject({ refusal: { because: ['its goal is stopped'] } })
    running()
      .when(decideRecordSelection, choosing(agent('x')))
      .refuses('not-admitted')
  })

  test('a result comes back once; a newer one of the same child supersedes it', () => {
    const handed = running().when(decideOpenChild, opening(MANAGER, 'anna'))
    handed
      .when(decideReturnChild, returning('r1'))
      .accepts('child-returned')
      .when(decideReturnChild, returning('r1'))
      .refuses('child-already-returned')
      .when(decideReturnChild, returning('r2'))
      .accepts('child-returned')
    running().when(decideReturnChild, returning('r1')).refuses('child-unknown')
    // Returned directly it answers the parent's ask, visibly.
    const direct = handed.when(decideReturnChild, returning('r1', true))
    expect(direct.state.asks.get(ASK)).toEqual({ is: 'covered', by: 'r1' })
  })
})

describe('a direct return', () => {
  const handed = () => takenOn().when(decideOpenChild, opening('anna', 'ben'))

  test('ends the attempt of the parent when nothing else is left', () => {
    handed().when(decideReturnChild, returning('r1', true)).accepts('child-returned', 'fence-released')
  })

  acceptance('A7', 'keeps the fence of the parent while an effect of it is in doubt', () => {
    const doubtful = handed().when(decideIntendEffect, {
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
    expect(doubtful.when(decideReturnChild, returning('r1', true)).accepts('child-returned').state.fence).toBe('a-anna')
  })
})

describe('the child enters', () => {
  const taking = { ...accepting(), kind: 'take-child', attempt: assigningTo('anna', 'a1').attempt } as const

  test('assigned and stored for its receiver, all or nothing, once', () => {
    const { state } = given()
      .when(decideTakeChild, taking)
      .accepts('request-opened', 'attempt-assigned', 'inbox-stored')
    expect(state).toMatchObject({ head: 1, fence: 'a1' })
    expect([...state.inboxes]).toEqual(['anna'])
    given(state).when(decideTakeChild, taking).refuses('request-exists')
    given()
      .when(decideTakeChild, { ...taking, request: { ...taking.request, asks: [] } })
      .refuses('text-empty')
  })
})

describe('a circle of waiting', () => {
  const chain = [
    { request: 'r3' as RequestId, agent: agent('otto') },
    { request: 'r2' as RequestId, agent: agent('ben') },
    { request: 'r1' as RequestId, agent: null },
    { request: 'r0' as RequestId, agent: MANAGER },
  ]

  test('is told from the waiting agent’s own request down to the asker’s', () => {
    expect(waitCircle(chain, agent('ben'))).toEqual(['r2', 'r3'])
    expect(waitCircle(chain, MANAGER)).toEqual(['r0', 'r1', 'r2', 'r3'])
    expect(waitCircle(chain, agent('otto'))).toEqual(['r3'])
  })

  test('is none with an agent that nobody waits for, or no more', () => {
    expect(waitCircle(chain, agent('anna'))).toBeNull()
    expect(waitCircle([], agent('anna'))).toBeNull()
  })
})

describe('reassigning', () => {
  const moving = (to: string, over: { onRevision?: number; enforced?: readonly string[]; admitted?: boolean } = {}) =>
    ({
      ...by(MANAGER, `move-${to}`),
      kind: 'reassign-request',
      attempt: { ...assigningTo(to, `a-${to}-2`, over.onRevision ?? 1).attempt, supersedes: 'a-anna' as AttemptId },
      candidates: [candidate(to, over.admitted ?? true)],
      reason: 'free',
      enforced: new Set((over.enforced ?? []).map(agent)),
    }) as const

  const unread = () => given().when(decideAccept, accepting()).when(decideAssign, assigningTo('anna', 'a-anna'))

  acceptance('A7', 'needs the proof that the former receiver cannot act', () => {
    unread()
      .when(decideReassign, moving('ben'))
      .accepts('receiver-selected', 'fence-released', 'attempt-assigned', 'inbox-stored')
    inHands().when(decideReassign, moving('ben')).refuses('fence-held')
    inHands()
      .when(decideReassign, moving('ben', { enforced: ['anna'] }))
      .accepts('receiver-selected', 'fence-released', 'attempt-assigned', 'inbox-stored')
  })

  test('waits for a running turn and for the outcome of an effect', () => {
    unread()
      .when(decidePresent, presenting('t1', 'a-anna', 1))
      .when(decideReassign, moving('ben'))
      .refuses('turn-running')
    takenOn()
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
      .when(decideReassign, moving('ben', { enforced: ['anna'] }))
      .refuses('effect-open')
  })

  test('is refused to whoever has it, whoever is not admitted, and on a passed revision', () => {
    unread().when(decideReassign, moving('anna')).refuses('not-admitted')
    unread()
      .when(decideReassign, moving('ben', { admitted: false }))
      .refuses('not-admitted')
    unread().when(decideRevise, revising(2)).when(decideReassign, moving('ben')).refuses('stale-revision')
    unread().when(decideCancel, cancelling(1)).when(decideReassign, moving('ben')).refuses('request-closed')
    given().when(decideReassign, moving('ben')).refuses('request-unknown')
  })

  test('moves the right to act: the old attempt is released and the new one holds the fence', () => {
    const { state } = unread().when(decideReassign, moving('ben'))
    expect(state).toMatchObject({ fence: 'a-ben-2', request: { target: 'ben' } })
    expect(given(state).when(decideRevise, revising(2)).state.request?.target).toBe('ben')
    expect(state.attempts.get('a-anna' as AttemptId)?.released).toBe('quiescent')
    given(state).when(decideProvide, providing('anna')).refuses('not-receiver')
    given(state).when(decideProvide, providing('ben')).accepts('context-provided')
  })
})

test('6: what came back from a child while the turn ran is not answered by its final message', () => {
  const ended = running()
    .when(decideOpenChild, opening(MANAGER, 'builder'))
    .accepts('child-opened')
    .when(decideReturnChild, returning('r1'))
    .accepts('child-returned')
    .when(decideConclude, concluding('t1'))
  expect(ended.state.results[0]).toMatchObject({ kind: 'interim', covers: [] })
  expect(ended.state.closed).toBeNull()
  // The next turn is presented with it and answers.
  const next = ended
    .when(decidePresent, presenting('t2', 'a1', 1))
    .accepts('turn-presented')
    .when(decideConclude, concluding('t2'))
  expect(next.state.results.at(-1)).toMatchObject({ kind: 'result', covers: [ASK] })
})
