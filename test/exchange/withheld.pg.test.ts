import { afterAll, beforeAll, expect, test } from 'vitest'
import { decideRecall } from '../../src/collab/decide/control.js'
import type { AskId, Instant, RequestId, Revision } from '../../src/collab/refs.js'
import { decideAndCommit } from '../../src/exchange/exchange.js'
import { returnToParent } from '../../src/exchange/returns.js'
import { settleWithheld } from '../../src/exchange/withheld.js'
import { must } from '../../src/lib/assert.js'
import { inputOf } from '../../src/stores/turns/turns.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { agent, asksOf, attached, event, registered, rigOf, rootInTurn, stateOf, word, type Rig } from './agents-kit.js'

let fresh: FreshDb
let rig: Rig
beforeAll(async () => {
  fresh = await freshDb()
  rig = rigOf(fresh.db, [registered('anna')])
})
afterAll(() => fresh.drop())

async function recalled(request: RequestId): Promise<void> {
  const base = {
    eventId: event(),
    requestId: request,
    at: rig.clock.now() as Instant,
    actor: { kind: 'host' },
  } as const
  const receipt = await decideAndCommit(rig.x, { kind: 'recall-trigger', ...base } as const, decideRecall)
  expect(word(receipt)).toBe('accepted')
}
const sentFor = (request: RequestId) => fresh.db.sql<{ cause: string; kind: string }[]>`
  select cause_kind as cause, source #>> '{notice,kind}' as kind from collab.deliveries where request = ${request}`
const owner = { cause: 'om_word', actor: { kind: 'host' } } as const

test('a report by the tools on a withdrawn question is kept, told once, and shown when its owner says so', async () => {
  const { request, manager } = await rootInTurn(rig, 'What is it?')
  await recalled(request)
  const [ask] = await asksOf(rig, request)
  const asks = [{ ask: must(ask, 'the ask'), judgment: 'accepted' as const, reason: 'mine' }]
  await rig.tools.assess(manager, { eventId: event(), request, onRevision: 1 as Revision, asks })
  const said = { text: 'It is so.', conclusion: null, artifacts: [], supersedes: null }
  const report = { eventId: event(), request, covers: [must(ask, 'the ask')], ...said }
  expect(word(await rig.tools.report(manager, report))).toBe('accepted')
  expect(await sentFor(request)).toEqual([{ cause: 'notice', kind: 'result-withheld' }])
  expect(await inputOf(fresh.db.sql, request)).toMatchObject({ state: 'held', because: 'result-withheld' })
  await settleWithheld(rig.x, request, 'shown', owner)
  await settleWithheld(rig.x, request, 'shown', owner)
  await settleWithheld(rig.x, request, 'dropped', { ...owner, cause: 'om_other' })
  expect((await sentFor(request)).map((one) => one.cause).toSorted()).toEqual(['notice', 'result'])
  expect(await inputOf(fresh.db.sql, request)).toMatchObject({ state: 'settled', because: 'answered' })
})

test('a result that would go straight to a withdrawn question goes to whoever asked for it instead', async () => {
  const { request, manager } = await rootInTurn(rig, 'Ask anna.')
  const [ask] = await asksOf(rig, request)
  const handed = await rig.tools.ask(manager, {
    eventId: event(),
    request,
    receiver: agent('anna'),
    intent: 'delegation',
    asks: [must(ask, 'the ask')],
    question: 'What is it?',
    brief: '',
    refs: [],
    reason: 'hers',
    direct: true,
  })
  const child = must(handed.child, 'the child')
  await recalled(request)
  const anna = attached('anna')
  await rig.tools.inboxRead(anna, { cursor: null, limit: 50 })
  const [own] = (await asksOf(rig, child)) as [AskId]
  const asks = [{ ask: own, judgment: 'accepted' as const, reason: 'mine' }]
  await rig.tools.assess(anna, { eventId: event(), request: child, onRevision: 1 as Revision, asks })
  const said = { text: 'So.', conclusion: null, artifacts: [], supersedes: null }
  await rig.tools.report(anna, { eventId: event(), request: child, covers: [own], ...said })
  await returnToParent(rig.x, child)
  expect(await sentFor(request)).toEqual([])
  const state = await stateOf(rig, request)
  expect(state.children.get(child)).toMatchObject({ integrated: false, returned: { direct: false } })
})
