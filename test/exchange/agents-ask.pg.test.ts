import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MANAGER, type AgentId, type AskId, type RequestId, type Revision } from '../../src/collab/refs.js'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import { repairChild } from '../../src/exchange/agents/child.js'
import { createAgentTools } from '../../src/exchange/agents/tools.js'
import { eventIdOf, laneOf } from '../../src/exchange/ids.js'
import { returnToParent } from '../../src/exchange/returns.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import {
  agent,
  asksOf,
  attached,
  directoryOf,
  event,
  registered,
  rigOf,
  rootInTurn,
  stateOf,
  wakesLike,
  word,
  type Rig,
  type Root,
} from './agents-kit.js'

const agents = [
  registered('anna', { goal: 'goal-one' }),
  registered('ben', { goal: 'goal-two' }),
  registered('mina', { endpoint: { kind: 'managed', runtime: 'rehearsal', command: null } }),
  registered('stan', { goalState: 'stopped' }),
  registered('otto', { reachable: false }),
]

let fresh: FreshDb
let rig: Rig

beforeAll(async () => {
  fresh = await freshDb()
  rig = rigOf(fresh.db, agents)
})
afterAll(async () => {
  await fresh.drop()
})

const asking = (request: RequestId, receiver: string, over: Record<string, unknown> = {}) => ({
  eventId: event(),
  request,
  receiver: agent(receiver),
  intent: 'consultation' as const,
  asks: [] as readonly AskId[],
  question: 'Which of the two readings is right?',
  brief: 'The first source says 3, the second says 4.',
  refs: ['repo@1234abcd', 'https://example.test/a/b'],
  reason: 'reads sources',
  direct: false,
  ...over,
})

const root = () => rootInTurn(rig, 'Please countercheck the number in the report.')

async function handed(from: ToolCaller, request: RequestId, receiver: string, over = {}): Promise<RequestId> {
  const receipt = await rig.tools.ask(from, asking(request, receiver, over))
  expect(word(receipt)).toBe('accepted')
  return receipt.child as RequestId
}

/** The receiver reads it, takes it on, and reports. */
async function concluded(name: string, request: RequestId, text: string): Promise<void> {
  const [ask] = (await asksOf(rig, request)) as [AskId]
  const from = attached(name)
  await rig.tools.inboxRead(from, { cursor: null, limit: 50 })
  const asks = [{ ask, judgment: 'accepted' as const, reason: 'mine' }]
  const assessed = await rig.tools.assess(from, { eventId: event(), request, onRevision: 1 as Revision, asks })
  expect(word(assessed)).toBe('accepted')
  const said = { eventId: event(), request, covers: [ask], text, conclusion: null, artifacts: [], supersedes: null }
  expect(word(await rig.tools.report(from, said))).toBe('accepted')
}

describe('handing on', () => {
  acceptance('A6', 'manager to worker: one contract, without a todo, under the owner’s authority', async () => {
    const { request, manager, conversation } = await root()
    const asks = await asksOf(rig, request)
    const child = await handed(manager, request, 'anna', { asks, intent: 'delegation' })
    const state = await stateOf(rig, child)
    expect(state.request).toMatchObject({
      parent: request,
      conversation,
      intent: 'delegation',
      target: 'anna',
      sender: { kind: 'agent', agent: MANAGER },
      origin: { channel: 'agent' },
      authority: { principal: 'owner', openId: 'ou_test_owner' },
      returnTo: { channel: 'request', request, ask: null, direct: false },
      workRefs: ['repo@1234abcd', 'https://example.test/a/b'],
    })
    expect([...state.inboxes]).toEqual(['anna'])
    expect([...state.attempts.values()]).toMatchObject([{ target: 'anna', effectful: true, revision: 1 }])
    expect(state.waits).toEqual({ agent: 'anna', because: 'queued-until-wake' })
    // The parent keeps the duty: what it handed on is still owed there.
    const parent = await stateOf(rig, request)
    expect(parent.children.get(child)).toMatchObject({ target: 'anna', asks, returned: null })
    expect(parent.asks.get(asks[0] as AskId)?.is).toBe('owed')
  })

  acceptance('A6', 'worker to worker, from one goal to another, is the same contract', async () => {
    const { request, manager } = await root()
    const first = await handed(manager, request, 'anna')
    const second = await handed(attached('anna'), first, 'ben')
    const state = await stateOf(rig, second)
    expect(state.request).toMatchObject({ parent: first, target: 'ben', sender: { kind: 'agent', agent: 'anna' } })
    const { items } = await rig.tools.inboxRead(attached('ben'), { cursor: null, limit: 50 })
    const item = items.find((one) => one.request === second)
    expect(item?.from).toBe('agent:anna')
    // The owner's own words came along although anna never repeated them.
    expect(item?.brief).toContain('Please countercheck the number in the report.')
  })

  acceptance(
    'A6',
    'a worker’s conclusion comes back once to the worker that asked, which answers with it',
    async () => {
      const { request, manager } = await root()
      const first = await handed(manager, request, 'anna')
      const second = await handed(attached('anna'), first, 'ben')
      await concluded('ben', second, 'The second source is right.')
      await returnToParent(rig.x, second)
      await returnToParent(rig.x, second)
      const returns = await fresh.db.sql`
      select 1 from collab.observations where request = ${first} and kind = 'child-returned'`
      expect(returns).toHaveLength(1)
      const { items } = await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
      expect(items.find((one) => one.request === first)?.brief).toContain('The second source is right.')
      await concluded('anna', first, 'The report should say 4.')
      await returnToParent(rig.x, first)
      const parent = await stateOf(rig, request)
      expect(parent.children.get(first)?.returned).toMatchObject({ ended: 'resolved' })
      expect(parent.closed).toBeNull()
    },
  )

  acceptance('A6', 'a second round about the same work is a new request; the same call again is not', async () => {
    const { request, manager } = await root()
    const call = asking(request, 'anna')
    const first = await rig.tools.ask(manager, call)
    expect(await rig.tools.ask(manager, call)).toMatchObject({ outcome: 'already-applied', child: first.child })
    const second = await rig.tools.ask(manager, { ...call, eventId: event() })
    expect(second.child).not.toBe(first.child)
    expect((await stateOf(rig, request)).children.size).toBe(2)
    expect(word(await rig.tools.ask(manager, { ...call, question: 'Something else?' }))).toBe('conflict')
  })

  acceptance('A24', 'the choice is kept with its candidates, their reasons and who was left out', async () => {
    const { request, manager } = await root()
    await handed(manager, request, 'anna')
    const [row] = await fresh.db.sql<
      { payload: { chosen: string; reason: string; candidates: { agent: string }[] } }[]
    >`
      select payload from collab.observations where request = ${request} and kind = 'receiver-selected'`
    expect(row?.payload).toMatchObject({ chosen: 'anna', reason: 'reads sources' })
    expect(row?.payload.candidates.map((one) => one.agent).toSorted()).toEqual(['anna', 'ben', 'mina', 'otto'])
  })

  test('a managed receiver is woken in its own lane of the conversation; an unreachable one is waited for', async () => {
    const { request, manager, conversation } = await root()
    const child = await handed(manager, request, 'mina')
    const lane = laneOf(conversation, agent('mina'))
    const [input] = await fresh.db.sql`select lane, state, because from collab.turn_inputs where request = ${child}`
    expect(input).toEqual({ lane, state: 'waiting', because: null })
    expect(await wakesLike(rig, lane)).toHaveLength(1)
    const offline = await handed(manager, request, 'otto')
    expect((await stateOf(rig, offline)).waits).toEqual({ agent: 'otto', because: 'offline' })
  })

  test('the same call eight times at once opens one child', async () => {
    const { request, manager } = await root()
    const call = asking(request, 'ben')
    const receipts = await Promise.all(Array.from({ length: 8 }, () => rig.tools.ask(manager, call)))
    expect(receipts.map(word).toSorted()).toEqual(['accepted', ...Array.from({ length: 7 }, () => 'already-applied')])
    expect((await stateOf(rig, request)).children.size).toBe(1)
    const child = receipts[0]?.child as RequestId
    expect((await stateOf(rig, child)).attempts.size).toBe(1)
  })
})

describe('a crash between the two commits', () => {
  async function interrupted(
    at: Root,
  ): Promise<{ readonly call: ReturnType<typeof asking>; readonly child: RequestId }> {
    const directory = directoryOf(agents)
    const find = async (id: AgentId) => {
      if (id === 'anna') throw new Error('the process ends here')
      return await directory.find(id)
    }
    const broken = rigOf(fresh.db, agents)
    const tools = createAgentTools({ ...broken.x, directory: { ...directory, find } })
    const call = asking(at.request, 'anna')
    await expect(tools.ask(at.manager, call)).rejects.toThrow('ends here')
    const [child] = [...(await stateOf(rig, at.request)).children.keys()]
    expect((await stateOf(rig, child as RequestId)).request).toBeNull()
    return { call, child: child as RequestId }
  }

  acceptance('A6', 'leaves a wake that opens the child from the parent’s own commit, once', async () => {
    const at = await root()
    const { call, child } = await interrupted(at)
    expect(await wakesLike(rig, `child-${child}`)).toHaveLength(1)
    expect(await Promise.all([repairChild(rig.x, child), repairChild(rig.x, child)])).toEqual([true, true])
    const state = await stateOf(rig, child)
    expect(state.request).toMatchObject({ parent: at.request, target: 'anna', workRefs: call.refs })
    expect(state.attempts.size).toBe(1)
    const seq = state.seq
    expect(await rig.tools.ask(at.manager, call)).toMatchObject({ outcome: 'already-applied', child })
    expect((await stateOf(rig, child)).seq).toBe(seq)
    const { items } = await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    expect(items.find((item) => item.request === child)?.brief).toContain(call.brief)
  })

  test('and a cancellation meanwhile: the child never begins, and the parent is told so', async () => {
    const at = await root()
    const { child } = await interrupted(at)
    const said = { eventId: event(), request: at.request, onRevision: 1 as Revision }
    expect(word(await rig.tools.cancel(at.manager, said))).toBe('accepted')
    expect(await repairChild(rig.x, child)).toBe(false)
    expect((await stateOf(rig, child)).request).toBeNull()
    expect((await stateOf(rig, at.request)).children.get(child)?.returned).toMatchObject({ ended: 'cancelled' })
  })

  test('of which nothing is known repairs nothing', async () => {
    expect(await repairChild(rig.x, '00000000-0000-7000-8000-00000000dead')).toBe(false)
  })
})

describe('who may be asked', () => {
  const refusal = async (from: ToolCaller, call: ReturnType<typeof asking>) => {
    const receipt = await rig.tools.ask(from, call)
    return receipt.outcome === 'rejected' ? receipt.refusal : receipt
  }

  test('nobody who is not registered, nobody at a stopped goal, never oneself', async () => {
    const { request, manager } = await root()
    expect(await refusal(manager, asking(request, 'nobody'))).toEqual({ reason: 'agent-unknown' })
    const stopped = await refusal(manager, asking(request, 'stan'))
    expect(stopped).toMatchObject({ reason: 'not-admitted' })
    expect(JSON.stringify(stopped)).toContain('goal-one is stopped')
    expect((await stateOf(rig, request)).children.size).toBe(0)
  })

  test('not one’s own requester: it gets the result', async () => {
    const { request, manager } = await root()
    const child = await handed(manager, request, 'anna')
    const below = await handed(attached('anna'), child, 'ben')
    expect(await refusal(attached('ben'), asking(below, 'anna'))).toEqual({ reason: 'asks-own-requester' })
    expect(await refusal(attached('anna'), asking(child, 'manager'))).toEqual({ reason: 'asks-own-requester' })
  })

  test('nobody who waits for the caller, over any number of requests; the path is told', async () => {
    const { request, manager } = await root()
    const first = await handed(manager, request, 'anna')
    const second = await handed(attached('anna'), first, 'ben')
    const third = await handed(attached('ben'), second, 'otto')
    expect(await refusal(attached('otto'), asking(third, 'anna'))).toEqual({
      reason: 'wait-cycle',
      through: [first, second, third],
    })
    expect(await refusal(attached('otto'), asking(third, 'manager'))).toEqual({
      reason: 'wait-cycle',
      through: [request, first, second, third],
    })
    expect(await refusal(attached('otto'), asking(third, 'otto'))).toEqual({ reason: 'wait-cycle', through: [third] })
  })

  test('only by the receiver of the parent, and unknown and hidden requests are one', async () => {
    const { request, manager } = await root()
    const child = await handed(manager, request, 'anna')
    expect(await refusal(attached('ben'), asking(child, 'mina'))).toEqual({ reason: 'request-unknown' })
    expect(await refusal(attached('anna'), asking(request, 'ben'))).toEqual({ reason: 'request-unknown' })
    expect(await refusal(manager, asking('../../etc/passwd' as RequestId, 'ben'))).toEqual({
      reason: 'request-unknown',
    })
    expect(await refusal(manager, asking(child, 'ben'))).toEqual({ reason: 'not-receiver', receiver: 'anna' })
    // A manager of another conversation is somebody else.
    const other = await root()
    expect(await refusal(other.manager, asking(request, 'ben'))).toEqual({ reason: 'request-unknown' })
  })

  test('only about asks that the parent owes', async () => {
    const { request, manager } = await root()
    const asks = ['no-such-ask' as AskId]
    expect(await refusal(manager, asking(request, 'anna', { asks }))).toEqual({ reason: 'ask-unknown', ask: asks[0] })
  })
})

describe('what may be said', () => {
  test.each([
    ['an oversized brief', { brief: 'é'.repeat(8_001) }, { reason: 'too-large', limit: 16_000 }],
    ['an oversized question', { question: 'q'.repeat(16_001) }, { reason: 'too-large', limit: 16_000 }],
    ['an empty question', { question: ' \n' }, { reason: 'text-empty' }],
    ['a question with a control character', { question: 'a\u0007b' }, { reason: 'bad-reference', field: 'question' }],
    ['a brief with NUL', { brief: 'a\u0000b' }, { reason: 'bad-reference', field: 'brief' }],
    ['a way up', { refs: ['docs/../../secret'] }, { reason: 'bad-reference', field: 'refs' }],
    ['a way up, escaped', { refs: ['https://example.test/%2e%2e/x'] }, { reason: 'bad-reference', field: 'refs' }],
    ['an absolute path', { refs: ['/etc/passwd'] }, { reason: 'bad-reference', field: 'refs' }],
    ['a home path', { refs: ['~/notes'] }, { reason: 'bad-reference', field: 'refs' }],
    ['a drive', { refs: ['C:\\notes'] }, { reason: 'bad-reference', field: 'refs' }],
    ['a file address', { refs: ['file:///etc/passwd'] }, { reason: 'bad-reference', field: 'refs' }],
    ['a reference with NUL', { refs: ['a\u0000b'] }, { reason: 'bad-reference', field: 'refs' }],
    ['too many references', { refs: Array.from({ length: 33 }, () => 'x') }, { reason: 'too-large', limit: 32 }],
    ['no reason', { reason: '' }, { reason: 'text-empty' }],
    ['an unprintable event id', { eventId: event('a\nb') }, { reason: 'bad-reference', field: 'eventId' }],
  ])('%s is refused and leaves nothing', async (_name, over, refusal) => {
    const { request, manager } = await root()
    expect(await rig.tools.ask(manager, asking(request, 'anna', over))).toEqual({ outcome: 'rejected', refusal })
    expect((await stateOf(rig, request)).children.size).toBe(0)
  })

  test('a brief of exactly the limit is taken whole', async () => {
    const { request, manager } = await root()
    const child = await handed(manager, request, 'anna', { brief: 'é'.repeat(8_000) })
    const { items } = await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    expect(items.find((item) => item.request === child)?.brief).toContain('é'.repeat(8_000))
  })

  test('an event id of an agent never blocks one that the host derives', async () => {
    const { request, manager } = await root()
    const stolen = eventIdOf('child', request)
    const child = await handed(manager, request, 'anna', { eventId: stolen })
    expect((await stateOf(rig, child)).request).not.toBeNull()
    const rows = await fresh.db.sql`select 1 from collab.observations where event_id = ${stolen}`
    expect(rows).toHaveLength(0)
  })
})
