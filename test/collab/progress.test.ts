import { describe, expect, test } from 'vitest'
import { unopened, type ChildState, type ExchangeState } from '../../src/collab/exchange-state.js'
import { progressOf, type Progress } from '../../src/collab/project/progress.js'
import type { AgentId, AskId, Instant, RequestId, ResultId, Revision, TurnId } from '../../src/collab/refs.js'

const parent = 'parent' as RequestId
const child = 'child' as RequestId
const worker = 'worker' as AgentId
const ask = 'ask' as AskId
const owed: ExchangeState = { ...unopened(parent), asks: new Map([[ask, { is: 'owed' }]]) }
const deferredUntil = (
  condition: Extract<NonNullable<ReturnType<typeof owed.asks.get>>, { is: 'deferred' }>['until']['condition'],
) =>
  new Map([
    [ask, { is: 'deferred' as const, reason: '', until: { owner: 'worker', condition, recheckAt: 0 as Instant } }],
  ])
const turn = 'turn' as TurnId
const handed: ChildState = {
  target: worker,
  revision: 1 as Revision,
  asks: [ask],
  returned: null,
  formerly: [],
  integrated: false,
  reopened: false,
}
const withChild: ExchangeState = { ...owed, children: new Map([[child, handed]]) }
const shown = (state: ExchangeState, ofChild?: ExchangeState): Progress =>
  progressOf(state, new Map(ofChild === undefined ? [] : [[child, ofChild]]))

describe('how far a request has come', () => {
  test.each<[string, ExchangeState, Progress['state'], Progress['because']]>([
    ['a turn runs', { ...owed, running: turn }, 'working', null],
    ['it waits for its turn', owed, 'waiting', 'worker-queued'],
    ['its agent is away', { ...owed, waits: { agent: worker, because: 'offline' } }, 'waiting', 'host-unreachable'],
    ['its agent is busy', { ...owed, waits: { agent: worker, because: 'busy' } }, 'waiting', 'worker-busy'],
    ['it is held', { ...owed, held: 'stopped' }, 'held', null],
    ['its tries are used up', { ...owed, failure: 'no-output' }, 'failed', 'model-failure'],
    ['what was said could not be read', { ...owed, failure: 'garbage' }, 'failed', 'transport-or-format'],
    ['it is cancelled', { ...owed, cancel: 'acknowledged', closed: 'cancelled' }, 'cancelled', null],
    [
      'it waits for a person',
      { ...owed, asks: deferredUntil({ when: 'answer-from-owner' }) },
      'waiting',
      'missing-input',
    ],
    [
      'it waits for another request',
      { ...owed, asks: deferredUntil({ when: 'request-resolved', request: child }) },
      'waiting',
      'dependency',
    ],
    [
      'it waits for a host',
      { ...owed, asks: deferredUntil({ when: 'host-back', host: 'h' }) },
      'waiting',
      'host-unreachable',
    ],
    ['every ask is covered', { ...owed, asks: new Map([[ask, { is: 'covered', by: 'r' as ResultId }]]) }, 'done', null],
    ['a fact cannot be read', { ...owed, unreadable: true }, 'failed', 'state-conflict'],
  ])('%s', (_, state, is, because) => {
    expect(shown(state)).toEqual({ state: is, because, handed: [] })
  })

  test('what was handed on is waited for, and says how it stands with its receiver', () => {
    const fresh = unopened(child)
    const stands = (ofChild?: ExchangeState) => shown(withChild, ofChild).handed[0]
    expect(shown(withChild)).toMatchObject({ state: 'waiting', because: null })
    expect(stands()).toEqual({ agent: worker, stands: 'not-begun', because: null })
    expect(stands({ ...fresh, waits: { agent: worker, because: 'busy' } })).toMatchObject({ because: 'worker-busy' })
    expect(stands({ ...fresh, running: turn })).toMatchObject({ stands: 'working' })
    const said = (verdict: NonNullable<ExchangeState['assessment']>['verdict']) =>
      stands({ ...fresh, assessment: { agent: worker, revision: fresh.head, verdict, asks: new Map() } })?.stands
    expect(['accepted', 'deferred', 'rejected'].map((verdict) => said(verdict as 'accepted'))).toEqual([
      'accepted',
      'deferred',
      'refused',
    ])
  })

  test('what came back is no longer handed on', () => {
    const back: ChildState = { ...handed, returned: { ended: 'resolved', result: 'r' as ResultId, direct: false } }
    expect(shown({ ...owed, children: new Map([[child, back]]) }).handed).toEqual([])
  })
})
