import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import { type AskId, type RequestId } from '../../src/collab/refs.js'
import { laneOf } from '../../src/exchange/ids.js'
import { relateRequests } from '../../src/exchange/relate.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import {
  agent,
  asksOf,
  attached,
  beginTurn,
  event,
  handOn,
  openRoot,
  rev,
  registered,
  rigOf,
  rootInTurn,
  stateOf,
  word,
  type Rig,
} from './agents-kit.js'

let fresh: FreshDb
let rig: Rig

beforeAll(async () => {
  fresh = await freshDb()
  rig = rigOf(fresh.db, [
    registered('anna'),
    registered('ben'),
    registered('mina', { endpoint: { kind: 'managed', runtime: 'rehearsal', command: null } }),
  ])
})
afterAll(async () => {
  await fresh.drop()
})

const handed = (
  from: ToolCaller,
  request: RequestId,
  receiver: string,
  intent: 'consultation' | 'delegation' = 'delegation',
) => handOn(rig, from, request, receiver, { intent })

const root = () => rootInTurn(rig, 'Please see to it.')

describe('relating', () => {
  acceptance('A5', 'a later message goes on in the earlier request, which owes it; both keep their words', async () => {
    const chat = 'oc_related'
    const { request: earlier, manager } = await rootInTurn(rig, 'Review the change.', chat)
    const { request: later } = await openRoot(rig, 'Keep lifecycle behaviour in hooks.', chat)
    const said = { eventId: event(), earlier, later, onRevision: rev(1), as: 'correction' as const }
    expect(word(await rig.tools.relate(manager, { ...said, onRevision: rev(2) }))).toBe('stale-revision')
    expect(word(await rig.tools.relate(manager, said))).toBe('accepted')
    expect(word(await rig.tools.relate(manager, said))).toBe('already-applied')
    expect(word(await rig.tools.relate(manager, { ...said, as: 'addition' }))).toBe('conflict')
    const [first, second] = [await stateOf(rig, earlier), await stateOf(rig, later)]
    expect(first).toMatchObject({ head: 2, closed: null, request: { kind: 'correction' } })
    expect([...first.asks.values()].map((ask) => ask.is)).toEqual(['owed', 'owed'])
    expect(second.closed).toBe('continued')
    expect([...second.asks.values()]).toEqual([{ is: 'continued', into: earlier }])
    const inputs = await fresh.db.sql`
      select request, state, because from collab.turn_inputs where request in (${earlier}, ${later}) order by position`
    expect(inputs).toEqual([
      { request: earlier, state: 'waiting', because: null },
      { request: later, state: 'settled', because: 'continued' },
    ])
    const view = await rig.tools.show(manager, earlier)
    expect(view?.asks.map((ask) => ask.text)).toEqual(['Review the change.', 'Keep lifecycle behaviour in hooks.'])
    const { items } = await rig.tools.inboxRead(manager, { cursor: null, limit: 50 })
    expect(items.find((item) => item.request === earlier)?.brief).toContain('Keep lifecycle behaviour in hooks.')
  })

  test('as context the earlier request stays at its revision', async () => {
    const chat = 'oc_context'
    const { request: earlier, manager } = await rootInTurn(rig, 'Review the change.', chat)
    const { request: later } = await openRoot(rig, 'For your information.', chat)
    const said = { eventId: event(), earlier, later, onRevision: rev(1), as: 'context' as const }
    expect(word(await rig.tools.relate(manager, said))).toBe('accepted')
    expect(word(await rig.tools.relate(manager, said))).toBe('already-applied')
    expect((await stateOf(rig, earlier)).head).toBe(1)
    expect((await stateOf(rig, later)).closed).toBe('continued')
  })

  acceptance('A5', 'either both requests change or neither: a message that is related twice goes on once', async () => {
    const chat = 'oc_twice'
    const one = await rootInTurn(rig, 'First job.', chat)
    const { request: other } = await openRoot(rig, 'Second job.', chat)
    const { request: later } = await openRoot(rig, 'A follow-up.', chat)
    const actor = { kind: 'host' } as const
    const into = (earlier: RequestId, n: number) =>
      relateRequests(rig.x, {
        eventId: event(`${n}-${later}`),
        earlier,
        later,
        onRevision: rev(1),
        as: 'addition',
        actor,
      })
    const receipts = await Promise.all([into(one.request, 1), into(other, 2), into(one.request, 3), into(other, 4)])
    expect(receipts.map(word).toSorted()).toEqual(['accepted', 'request-closed', 'request-closed', 'request-closed'])
    const heads = [(await stateOf(rig, one.request)).head, (await stateOf(rig, other)).head]
    expect(heads.toSorted()).toEqual([1, 2])
  })

  test('two that relate one pair both ways round end, without a lock-up', async () => {
    const chat = 'oc_both_ways'
    const { request: a } = await openRoot(rig, 'One.', chat)
    const { request: b } = await openRoot(rig, 'Two.', chat)
    const actor = { kind: 'host' } as const
    const relate = (earlier: RequestId, later: RequestId, n: number) =>
      relateRequests(rig.x, { eventId: event(`${n}-${a}`), earlier, later, onRevision: rev(1), as: 'addition', actor })
    const receipts = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? relate(a, b, n) : relate(b, a, n))),
    )
    expect(receipts.filter((receipt) => receipt.outcome === 'accepted')).toHaveLength(1)
  })

  acceptance('A5', 'a message may be related in its own turn, whose last words then answer nothing', async () => {
    const chat = 'oc_own_turn'
    const { request: earlier } = await openRoot(rig, 'Review the change.', chat)
    const { request: later, manager } = await rootInTurn(rig, 'And keep the hooks.', chat)
    const said = { eventId: event(), earlier, later, onRevision: rev(1), as: 'correction' as const }
    expect(word(await rig.tools.relate(manager, said))).toBe('accepted')
    expect(word(await rig.tools.relate(manager, said))).toBe('already-applied')
    const [first, second] = [await stateOf(rig, earlier), await stateOf(rig, later)]
    expect(first).toMatchObject({ head: 2, closed: null })
    expect([...first.asks.values()].map((ask) => ask.is)).toEqual(['owed', 'owed'])
    expect(second).toMatchObject({ closed: 'continued', running: manager.turn })
    // It cannot be answered, handed on or related any more where it was opened.
    const [ask] = (await asksOf(rig, later)) as [AskId]
    const answer = { eventId: event(), request: later, covers: [ask], text: 'Kept.', conclusion: null, artifacts: [] }
    expect(word(await rig.tools.report(manager, { ...answer, supersedes: null }))).toBe('request-closed')
    expect(word(await rig.tools.relate(manager, { ...said, eventId: event(), onRevision: rev(2) }))).toBe(
      'request-closed',
    )
  })

  test('a message that was handed on stays where it is', async () => {
    const chat = 'oc_handed_on'
    const { request: earlier } = await openRoot(rig, 'Review the change.', chat)
    const { request: later, manager } = await rootInTurn(rig, 'And keep the hooks.', chat)
    await handed(manager, later, 'anna')
    const said = { eventId: event(), earlier, later, onRevision: rev(1), as: 'addition' as const }
    expect(await rig.tools.relate(manager, said)).toMatchObject({
      refusal: { reason: 'not-related', because: 'handed-on' },
    })
    expect((await stateOf(rig, later)).closed).toBeNull()
  })

  test('of another conversation, with itself, or of what an agent asked is refused', async () => {
    const { request: earlier, manager } = await rootInTurn(rig, 'Review the change.', 'oc_here')
    const elsewhere = await openRoot(rig, 'Something else.', 'oc_elsewhere')
    const said = { eventId: event(), earlier, onRevision: rev(1), as: 'addition' as const }
    const relate = (later: RequestId) => rig.tools.relate(manager, { ...said, later })
    expect(word(await relate(elsewhere.request))).toBe('request-unknown')
    expect(await relate(earlier)).toMatchObject({ refusal: { reason: 'not-related', because: 'same-request' } })
    const child = await handed(manager, earlier, 'anna')
    expect(word(await relate(child))).toBe('not-receiver')
    const actor = { kind: 'host' } as const
    const host = { eventId: event(), earlier, later: elsewhere.request, onRevision: rev(1), actor }
    expect(await relateRequests(rig.x, { ...host, as: 'addition' })).toMatchObject({
      refusal: { reason: 'not-related', because: 'other-conversation' },
    })
  })
})

describe('splitting', () => {
  test('names the questions of one message; each is owed and answered by itself', async () => {
    const { request, manager } = await root()
    const [ask] = (await asksOf(rig, request)) as [AskId]
    const said = { eventId: event(), request, onRevision: rev(1), ask, into: ['Is it safe?', 'Is it fast?'] }
    expect(word(await rig.tools.split(manager, { ...said, into: ['only one'] }))).toBe('bad-reference')
    expect(word(await rig.tools.split(manager, said))).toBe('accepted')
    const asks = await asksOf(rig, request)
    expect(asks).toHaveLength(2)
    const { items } = await rig.tools.inboxRead(manager, { cursor: null, limit: 50 })
    const item = items.find((one) => one.request === request)
    expect(item?.asks.map((one) => one.text)).toEqual(['Is it safe?', 'Is it fast?'])
    expect(item?.brief).toContain('Please see to it.')
  })
})

describe('what is shown', () => {
  test('to a worker: its own requests and what came of them, without where the owner is answered', async () => {
    const { request, manager } = await root()
    const child = await handed(manager, request, 'anna')
    const below = await handed(attached('anna'), child, 'ben')
    expect(await rig.tools.show(attached('anna'), request)).toBeNull()
    expect(await rig.tools.show(attached('ben'), child)).toBeNull()
    expect(await rig.tools.show(attached('anna'), 'no-such-request' as RequestId)).toBeNull()
    expect(await rig.tools.show(attached('anna'), child)).toMatchObject({ id: child, parent: null, deliveries: [] })
    expect(await rig.tools.show(attached('anna'), below)).toMatchObject({ id: below, parent: child })
    const listed = await rig.tools.list(attached('anna'), { cursor: null, limit: 2 })
    expect(listed.items.map((item) => item.id).toSorted()).toEqual([child, below].toSorted())
    expect(listed.nextCursor).not.toBeNull()
  })

  test('to the manager: its conversation, and nothing of another one', async () => {
    const here = await root()
    const child = await handed(here.manager, here.request, 'anna')
    const there = await root()
    const listed = await rig.tools.list(here.manager, { cursor: null, limit: 50 })
    expect(listed.items.map((item) => item.id).toSorted()).toEqual([here.request, child].toSorted())
    expect(await rig.tools.show(here.manager, there.request)).toBeNull()
    expect(await rig.tools.show(here.manager, child)).toMatchObject({ parent: here.request })
  })

  test('to a managed worker: only what stands in the conversation of its lane', async () => {
    const here = await root()
    const there = await root()
    const mine = await handed(here.manager, here.request, 'mina')
    const other = await handed(there.manager, there.request, 'mina')
    const turn = await beginTurn(rig, mine, agent('mina'))
    const lane = laneOf(here.conversation, agent('mina'))
    const mina: ToolCaller = { agent: agent('mina'), session: 's', epoch: 1, lane, turn }
    expect((await rig.tools.list(mina, { cursor: null, limit: 50 })).items.map((item) => item.id)).toEqual([mine])
    expect(await rig.tools.show(mina, other)).toBeNull()
    expect((await rig.tools.inboxRead(mina, { cursor: null, limit: 50 })).items).toMatchObject([{ request: mine }])
    // Inside its turn nothing is recorded as provided: the turn itself presented it.
    expect((await stateOf(rig, mine)).provided.size).toBe(0)
  })
})
