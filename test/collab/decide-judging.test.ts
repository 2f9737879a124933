import { describe, expect, test } from 'vitest'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideDue, decideExpire, decideSplit } from '../../src/collab/decide/asks.js'
import { decideAssess } from '../../src/collab/decide/assess.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import { decideCancel } from '../../src/collab/decide/control.js'
import { decideIntendEffect, decideSettleEffect } from '../../src/collab/decide/effects.js'
import { decideLinkWork, decideObserveWait, decideProvide, decideStoreInbox } from '../../src/collab/decide/inbox.js'
import { decideRelate } from '../../src/collab/decide/relate.js'
import { decideEndTurn } from '../../src/collab/decide/record.js'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import { decideRevise } from '../../src/collab/decide/revise.js'
import {
  MANAGER,
  type AskId,
  type AttemptId,
  type EffectId,
  type RequestId,
  type TextDigest,
} from '../../src/collab/refs.js'
import { acceptance } from '../kit/acceptance.js'
import {
  accepts,
  ASK,
  ask,
  assigningTo,
  by,
  defers,
  inHands,
  judging,
  providing,
  rejects,
  takenOn,
} from '../kit/agents.js'
import {
  accepting,
  applied,
  at,
  cancelling,
  concluding,
  contextAt,
  ending,
  event,
  given,
  host,
  owner,
  presenting,
  R,
  requestAt,
  revising,
  revision,
  running,
} from '../kit/exchange.js'
import { decidePresent } from '../../src/collab/decide/present.js'

const assigned = () => given().when(decideAccept, accepting()).when(decideAssign, assigningTo('anna', 'a-anna'))
const splitting = (of: AskId = ASK, onRevision = 1) =>
  ({
    ...by('anna', 'split'),
    kind: 'split-ask',
    onRevision: revision(onRevision),
    of,
    into: [
      { id: 'p1' as AskId, textDigest: 't1' as TextDigest },
      { id: 'p2' as AskId, textDigest: 't2' as TextDigest },
    ],
  }) as const

describe('an assessment', () => {
  acceptance('A6', 'needs the revision to have been presented or provided to the same agent', () => {
    assigned()
      .when(decideAssess, judging('anna', [accepts()]))
      .refuses('not-presented')
    const { decision } = inHands()
      .when(decideAssess, judging('anna', [accepts()]))
      .accepts('assessed')
    expect(decision.outcome === 'accepted' ? decision.facts[0] : null).toMatchObject({ basis: 'context-provided' })
    const turn = assigned()
      .when(decidePresent, presenting('t1', 'a-anna', 1))
      .when(decideAssess, judging('anna', [accepts()]))
    expect(turn.decision.outcome === 'accepted' ? turn.decision.facts[0] : null).toMatchObject({ basis: 'presented' })
    inHands()
      .when(decideAssess, judging('ben', [accepts()]))
      .refuses('not-receiver')
  })

  test('looks at the head: a correction must be read before it is judged', () => {
    const corrected = inHands().when(decideRevise, revising(2))
    corrected.when(decideAssess, judging('anna', [accepts()])).refuses('stale-revision')
    corrected.when(decideAssess, judging('anna', [accepts()], 2)).refuses('not-presented')
    corrected
      .when(decideProvide, providing('anna', 2))
      .when(decideAssess, judging('anna', [accepts(), rejects(ask(2))], 2))
      .accepts('assessed')
  })

  test('accepting is not completing; refusing everything ends the attempt', () => {
    const taken = takenOn()
    expect(taken.state).toMatchObject({ closed: null, fence: 'a-anna' })
    const refused = inHands()
      .when(decideAssess, judging('anna', [rejects()]))
      .accepts('assessed', 'fence-released')
    expect(refused.state).toMatchObject({ closed: 'rejected', fence: null })
  })

  test('mixed judgments are a partial acceptance, and each ask keeps its own', () => {
    const { state } = inHands()
      .when(decideSplit, splitting())
      .when(decideAssess, judging('anna', [accepts('p1' as AskId), defers('p2' as AskId)]))
    expect(state.assessment?.verdict).toBe('partially-accepted')
    expect([...state.asks.values()].map((one) => one.is)).toEqual(['owed', 'deferred'])
    expect(state.closed).toBeNull()
  })

  test('of an ask that is unknown or no longer owed is refused', () => {
    inHands()
      .when(decideAssess, judging('anna', [accepts('x' as AskId)]))
      .refuses('ask-unknown')
    inHands()
      .when(decideSplit, splitting())
      .when(decideAssess, judging('anna', [rejects('p1' as AskId)]))
      .when(decideAssess, judging('anna', [accepts('p1' as AskId)]))
      .refuses('ask-not-owed')
  })

  test('deferred asks are owed again once, when they are due', () => {
    const due = {
      kind: 'due-deferral',
      eventId: event('due'),
      requestId: R,
      at: at(9_000),
      actor: host,
      because: 'recheck',
      asks: [ASK],
    } as const
    const later = inHands().when(decideAssess, judging('anna', [defers()]))
    expect(later.state.closed).toBeNull()
    later.when(decideDue, due).accepts('deferral-due').when(decideDue, due).refuses('nothing-owed')
  })
})

describe('the inbox', () => {
  const storing = { ...by('anna', 'store'), kind: 'store-inbox' } as const

  test('holds it for its receiver; provided once per revision', () => {
    assigned().when(decideStoreInbox, storing).accepts('inbox-stored')
    given().when(decideAccept, accepting()).when(decideStoreInbox, storing).refuses('not-receiver')
    const read = assigned().when(decideProvide, providing('anna')).accepts('context-provided')
    read.when(decideProvide, providing('anna')).refuses('nothing-owed')
    read.when(decideProvide, providing('anna', 2)).refuses('stale-revision')
    expect(read.state.turns.size).toBe(0)
  })

  test('says once why its receiver has not begun', () => {
    const waiting = (because: 'offline' | 'busy') =>
      ({ ...by('anna', because), kind: 'observe-wait', because }) as const
    assigned()
      .when(decideObserveWait, waiting('offline'))
      .accepts('receiver-waits')
      .when(decideObserveWait, waiting('offline'))
      .refuses('nothing-owed')
      .when(decideObserveWait, waiting('busy'))
      .accepts('receiver-waits')
  })

  acceptance('A7', 'a receipt of the work owner lands on its attempt’s own revision, however late', () => {
    const receipt = { owner: 'canonical', operation: 'o1', refs: [] } as const
    const linked = takenOn()
      .when(decideRevise, revising(2))
      .when(decideLinkWork, { ...by('anna', 'link'), kind: 'link-work', receipt })
      .accepts('work-linked')
    expect(linked.decision.outcome === 'accepted' ? linked.decision.facts[0]?.revision : null).toBe(1)
    takenOn()
      .when(decideLinkWork, { ...by('ben', 'link'), kind: 'link-work', receipt })
      .refuses('attempt-unknown')
  })
})

describe('splitting and expiry', () => {
  test('the parts are owed in place of the whole, on the revision that was seen', () => {
    const { state } = running().when(decideSplit, splitting()).accepts('asks-split')
    expect([...state.asks.keys()]).toEqual(['p1', 'p2'])
    running().when(decideSplit, splitting(ASK, 2)).refuses('stale-revision')
    running()
      .when(decideSplit, splitting('x' as AskId))
      .refuses('ask-unknown')
  })

  test('expiry blocks what is new and lets go on what runs', () => {
    const expiring = { kind: 'expire-request', eventId: event('x'), requestId: R, at: at(5_000), actor: host } as const
    const expired = takenOn().when(decideExpire, expiring).accepts('request-expired')
    expired.when(decideExpire, expiring).refuses('request-expired')
    expired.when(decideAssign, assigningTo('ben', 'a-ben', 1, false)).refuses('request-expired')
    expired.when(decideAssess, judging('anna', [accepts()])).accepts('assessed')
  })
})

describe('an outside effect', () => {
  const intending = (effect: string, attempt = 'a-anna') =>
    ({
      ...by('anna', `intend-${effect}`),
      kind: 'intend-effect',
      attempt: attempt as AttemptId,
      effect: effect as EffectId,
      effectKind: 'http',
      target: 'x',
      providerKey: `k-${effect}`,
      doubt: { by: 'look-up' },
      input: 'd' as TextDigest,
    }) as const
  const settling = (effect: string, became: 'submitted' | 'confirmed' | 'failed' | 'outcome-unknown') =>
    ({
      ...by('anna', `${became}-${effect}`),
      kind: 'settle-effect',
      effect: effect as EffectId,
      became,
      evidence: 'e',
    }) as const

  acceptance('A7', 'whose outcome is unknown is reconciled before the next one', () => {
    takenOn()
      .when(decideIntendEffect, intending('e1'))
      .accepts('effect-intended')
      .when(decideSettleEffect, settling('e1', 'submitted'))
      .when(decideSettleEffect, settling('e1', 'outcome-unknown'))
      .when(decideIntendEffect, intending('e2'))
      .refuses('effect-open')
      .when(decideSettleEffect, settling('e1', 'confirmed'))
      .accepts('effect-settled')
      .when(decideIntendEffect, intending('e2'))
      .accepts('effect-intended')
      .when(decideSettleEffect, settling('e1', 'failed'))
      .refuses('effect-settled')
  })

  acceptance('A7', 'is refused while a correction stands that its receiver has not assessed', () => {
    const corrected = takenOn().when(decideRevise, revising(2))
    corrected.when(decideIntendEffect, intending('e1')).refuses('basis-unresolved')
    corrected
      .when(decideProvide, providing('anna', 2))
      .when(decideAssess, judging('anna', [accepts(ask(2))], 2))
      .when(decideIntendEffect, intending('e1'))
      .accepts('effect-intended')
  })

  test('comes only from the holder of the fence', () => {
    takenOn().when(decideIntendEffect, intending('e1', 'a-x')).refuses('attempt-unknown')
    takenOn()
      .when(decideAssign, assigningTo('ben', 'a-ben', 1, false))
      .when(decideIntendEffect, intending('e1', 'a-ben'))
      .refuses('fence-held')
  })

  acceptance('A7', 'holds a cancellation until its outcome is known', () => {
    const asked = takenOn()
      .when(decideIntendEffect, intending('e1'))
      .when(decideCancel, cancelling(1))
      .accepts('cancel-requested')
    asked
      .when(decideSettleEffect, settling('e1', 'confirmed'))
      .accepts('effect-settled', 'fence-released', 'cancel-acknowledged')
  })
})

describe('relating two messages', () => {
  const LATER = '00000000-0000-7000-8000-000000000002' as RequestId
  const relating = (as: 'addition' | 'correction' | 'context', onRevision = 1) =>
    ({
      kind: 'relate-requests',
      eventId: event(`relate-${as}`),
      requestId: R,
      later: LATER,
      at: at(2_000),
      actor: owner,
      as,
      onRevision: revision(onRevision),
      next: as === 'context' ? null : { request: { ...requestAt(2), kind: as }, context: contextAt(2) },
    }) as const
  const earlier = () => given().when(decideAccept, accepting()).state
  const later = () => given({ ...given().state, id: LATER }).when(decideAccept, accepting(null, LATER)).state

  acceptance('A5', 'revises the earlier one and continues the later one in it, both or neither', () => {
    const decision = decideRelate(earlier(), later(), relating('correction'))
    if (decision.outcome === 'rejected') throw new Error(decision.refusal.reason)
    expect(decision.earlier.map((fact) => [fact.kind, fact.request, fact.revision])).toEqual([
      ['request-revised', R, 2],
    ])
    expect(decision.later).toMatchObject([{ kind: 'request-continued', request: LATER, into: R, intoRevision: 2 }])
    const context = decideRelate(earlier(), later(), relating('context'))
    expect(context).toMatchObject({ outcome: 'accepted', earlier: [], later: [{ intoRevision: 1, as: 'context' }] })
  })

  test('is refused on a passed revision, with itself, and across conversations or owners', () => {
    const refusal = (...args: Parameters<typeof decideRelate>) => {
      const decision = decideRelate(...args)
      return decision.outcome === 'rejected' ? decision.refusal : null
    }
    expect(refusal(earlier(), later(), relating('addition', 2))).toEqual({ reason: 'stale-revision', head: 1 })
    expect(refusal(earlier(), earlier(), relating('addition'))).toMatchObject({ because: 'same-request' })
    const other = later()
    const request = other.request ?? requestAt(1, LATER)
    const moved = { ...other, request: { ...request, conversation: 'c2' as typeof request.conversation } }
    expect(refusal(earlier(), moved, relating('addition'))).toMatchObject({ because: 'other-conversation' })
    const authority = { principal: 'owner', openId: 'ou_other' } as const
    expect(refusal(earlier(), { ...other, request: { ...request, authority } }, relating('addition'))).toMatchObject({
      because: 'other-sender',
    })
    expect(refusal(earlier(), given().state, relating('addition'))).toEqual({ reason: 'request-unknown' })
  })

  test('takes a message whose own turn runs: the turn goes on, and its last words answer nothing', () => {
    const { state } = running()
    const both = decideRelate(earlier(), { ...state, id: LATER }, relating('addition'))
    if (both.outcome === 'rejected') throw new Error(both.refusal.reason)
    expect(both.later.map((fact) => fact.kind)).toEqual(['request-continued'])
    const after = given(applied(state, both.later)).when(decideConclude, concluding('t1'))
    after.accepts('turn-ended', 'result-committed', 'fence-released')
    expect(after.state).toMatchObject({ closed: 'continued', fence: null, results: [{ kind: 'interim', covers: [] }] })
  })

  test('releases what stood on it when its turn has failed, and leaves what was handed on where it is', () => {
    const failed = running().when(decideEndTurn, ending('t1', 'a1')).state
    const both = decideRelate(earlier(), { ...failed, id: LATER }, relating('correction'))
    if (both.outcome === 'rejected') throw new Error(both.refusal.reason)
    expect(both.later.map((fact) => fact.kind)).toEqual(['request-continued', 'fence-released'])
    expect(applied(failed, both.later).fence).toBeNull()
    const child = { target: MANAGER, revision: 1, asks: [], returned: null, formerly: [], integrated: false } as const
    const handedOn = new Map([[R, { ...child, revision: revision(1), reopened: false }]])
    expect(decideRelate(earlier(), { ...failed, id: LATER, children: handedOn }, relating('addition'))).toMatchObject({
      refusal: { reason: 'not-related', because: 'handed-on' },
    })
  })
})
