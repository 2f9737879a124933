import { describe, expect, test } from 'vitest'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideSplit } from '../../src/collab/decide/asks.js'
import { decideAssess } from '../../src/collab/decide/assess.js'
import { decideEdit } from '../../src/collab/decide/edit.js'
import { decideProvide } from '../../src/collab/decide/inbox.js'
import { decideRelate } from '../../src/collab/decide/relate.js'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import { decideRevise } from '../../src/collab/decide/revise.js'
import { unopened } from '../../src/collab/exchange-state.js'
import type { Fact } from '../../src/collab/observation.js'
import { MANAGER, type AskId, type RequestId, type TextDigest, type TurnId } from '../../src/collab/refs.js'
import { ASK, ask, by, inHands, judging, providing } from '../kit/agents.js'
import {
  accepting,
  at,
  concluding,
  contextAt,
  event,
  given,
  host,
  owner,
  R,
  requestAt,
  revising,
  revision,
  running,
} from '../kit/exchange.js'

const putOff = (id: AskId, when: 'answer-from-owner' | 'at') =>
  ({
    ask: id,
    judgment: 'deferred',
    reason: 'which colour?',
    until: { owner: 'ou_owner', condition: { when }, recheckAt: at(9_000) },
  }) as const
const [waits, other] = ['waits' as AskId, 'other' as AskId]

/** Two questions in `anna`'s hands: one waits for an answer, the other for its time. */
const waiting = () =>
  inHands()
    .when(decideSplit, {
      ...by('anna', 'split'),
      kind: 'split-ask',
      onRevision: revision(1),
      of: ASK,
      into: [
        { id: waits, textDigest: 't1' as TextDigest },
        { id: other, textDigest: 't2' as TextDigest },
      ],
    } as const)
    .when(decideAssess, judging('anna', [putOff(waits, 'answer-from-owner'), putOff(other, 'at')]))

const LATER = '00000000-0000-7000-8000-000000000002' as RequestId
const relating = (as: 'addition' | 'context') => {
  const later = given(unopened(LATER)).when(decideAccept, accepting(null, LATER)).state
  const next = { request: { ...requestAt(2), kind: 'addition' as const }, context: contextAt(2) }
  return decideRelate(waiting().state, later, {
    kind: 'relate-requests',
    eventId: event('relate'),
    requestId: R,
    later: LATER,
    at: at(2_000),
    actor: host,
    as,
    onRevision: revision(1),
    next: as === 'context' ? null : next,
  })
}
const due = (facts: readonly Fact[]) =>
  facts.flatMap((fact) => (fact.kind === 'deferral-due' ? [[fact.because, fact.revision, ...fact.asks]] : []))

describe('what was put off until an answer of the owner', () => {
  test('is owed again with the next words of the owner, by a fact of its own; what waits for its time is not', () => {
    const answered = waiting().when(decideRevise, revising(2)).accepts('request-revised', 'deferral-due')
    const { decision, state } = answered
    expect(decision.outcome === 'accepted' ? due(decision.facts) : null).toEqual([['condition', 2, waits]])
    expect([...state.asks].map(([id, { is }]) => [id, is])).toEqual([
      [waits, 'owed'],
      [other, 'deferred'],
      [ask(2), 'owed'],
    ])
    answered.when(decideRevise, revising(3)).accepts('request-revised')
  })

  test('is owed again when a later message is related to it, also as mere context', () => {
    for (const [as, head] of [
      ['addition', 2],
      ['context', 1],
    ] as const) {
      const both = relating(as)
      expect(both.outcome === 'accepted' ? due(both.earlier) : both).toEqual([['condition', head, waits]])
      expect(both.outcome === 'accepted' ? due(both.later) : both).toEqual([])
    }
  })

  test('is owed again when the message itself is edited before a turn was shown it', () => {
    const second = { id: 'edited' as AskId, textDigest: 'new words' as TextDigest }
    const edit = {
      kind: 'edit-request',
      eventId: event('edit'),
      requestId: R,
      at: at(2_000),
      actor: owner,
      onRevision: revision(2),
      request: { ...requestAt(3), asks: [second] },
      context: contextAt(3),
      replaces: ask(2),
      by: second,
    } as const
    waiting()
      .when(decideRevise, revising(2))
      .when(decideProvide, providing('anna', 2))
      .when(decideAssess, judging('anna', [putOff(waits, 'answer-from-owner')], 2))
      .accepts('assessed')
      .when(decideEdit, edit)
      .accepts('request-revised', 'asks-split', 'deferral-due')
  })

  test('and came while the turn ran that had put it off: its last words do not answer it', () => {
    const actor = { kind: 'agent', agent: MANAGER, turn: 't1' as TurnId } as const
    const judged = { ...judging('manager', [putOff(ASK, 'answer-from-owner')]), agent: MANAGER, actor }
    const { state, decision } = running()
      .when(decideAssess, judged)
      .accepts('assessed')
      .when(decideRevise, revising(2))
      .accepts('request-revised', 'deferral-due')
      .when(decideConclude, concluding('t1'))
      .accepts('turn-ended', 'result-committed')
    expect(decision.outcome === 'accepted' ? decision.facts[1] : null).toMatchObject({ result: { kind: 'interim' } })
    expect([...state.asks.values()].map(({ is }) => is)).toEqual(['owed', 'owed'])
    expect(state.closed).toBeNull()
  })
})
