import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AgentId } from '../../src/collab/refs.js'
import { createWork } from '../../src/app/work.js'
import { Problem } from '../../src/web/api/schemas.js'
import { AgentList, GoalList, TodoList, WorkReceipt } from '../../src/web/api/work-schemas.js'
import { silentLogger } from '../../src/lib/log.js'
import { claiming, commandOf, writing } from '../contracts/work-authority.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bearer, webUnderTest, type WebUnderTest } from './kit.js'

let fresh: FreshDb
let ui: WebUnderTest
beforeAll(async () => {
  fresh = await freshDb()
  ui = webUnderTest(fresh.db)
})
afterAll(() => fresh.drop())

let keys = 0
const json = async (response: Response) => (await response.json()) as Record<string, unknown>
const get = (path: string, language = 'en') => ui.get(`/api/v1${path}`, { ...bearer, 'accept-language': language })
const post = (path: string, body: object | null, key: string | null = `key-${++keys}`) =>
  ui.post(`/api/v1${path}`, {
    headers: { ...bearer, ...(key === null ? {} : { 'idempotency-key': key }) },
    body: body === null ? '' : JSON.stringify(body),
  })
const codeOf = async (response: Response) => [response.status, Problem.parse(await json(response)).code]
const goal = async () => {
  const id = `goal-${++keys}`
  expect((await post('/goals', { id, title: 'keep memory low' })).status).toBe(201)
  return id
}
const agent = (over: object = {}) => ({
  agent: `agent-${++keys}`,
  role: 'engineer',
  responsibility: 'memory',
  endpoint: { kind: 'attached' },
  ...over,
})

describe('goals', () => {
  test('created once under a key, listed, stopped and resumed, each with an audit line', async () => {
    const id = `goal-${++keys}`
    const body = { id, title: '内存不再增长', acceptance: 'a day without growth' }
    const made = await post('/goals', body, 'make')
    expect(made.status).toBe(201)
    const receipt = WorkReceipt.parse(await json(made))
    expect(receipt).toMatchObject({
      outcome: 'committed',
      receipt: { refs: [{ ref: `goal:${id}`, revision: '1' }, {}] },
    })
    const again = await post('/goals', body, 'make')
    expect([again.status, await json(again)]).toEqual([200, { ...receipt, outcome: 'already' }])
    expect(await codeOf(await post('/goals', { ...body, title: 'x' }, 'make'))).toEqual([422, 'idempotency-key-reused'])
    expect(await codeOf(await post('/goals', body))).toEqual([409, 'goal-exists'])
    const listed = async (query: string) =>
      GoalList.parse(await json(await get(`/goals${query}`))).items.find((one) => one.id === id)
    expect(await listed('')).toMatchObject({ title: '内存不再增长', state: 'active', agents: 0, openTodos: 0 })
    expect((await post(`/goals/${id}/stop`, null)).status).toBe(201)
    expect([await listed(''), (await listed('?stopped=true'))?.state]).toEqual([undefined, 'stopped'])
    expect(await codeOf(await post(`/goals/${id}/stop`, null))).toEqual([409, 'goal-stopped'])
    expect((await post(`/goals/${id}/resume`, null)).status).toBe(201)
    expect(await codeOf(await post(`/goals/${id}/resume`, null))).toEqual([409, 'goal-active'])
    expect((await listed(''))?.revision).toBe(3)
    const audited = ui.audited.filter(({ subject }) => subject === `goal:${id}`)
    expect(audited.map(({ who, act }) => `${who} ${act}`)).toEqual([
      'admin-token goal create',
      'admin-token goal stop',
      'admin-token goal resume',
    ])
  })

  test('a goal without a chosen name gets one', async () => {
    const made = WorkReceipt.parse(await json(await post('/goals', { title: 'x' })))
    const id = made.receipt.refs[0]?.ref.slice('goal:'.length)
    expect(GoalList.parse(await json(await get('/goals'))).items.map((one) => one.id)).toContain(id)
  })

  test('what is missing, malformed or unknown is told', async () => {
    expect(await codeOf(await post('/goals', { title: 'x' }, null))).toEqual([400, 'idempotency-key-missing'])
    for (const body of [{}, { title: ' ' }, { title: 'a\u0000' }, { title: 'x', id: 'a/b' }, { title: 'x', more: 1 }])
      expect(await codeOf(await post('/goals', body))).toEqual([400, 'bad-request'])
    expect(await codeOf(await post('/goals/nowhere/stop', null))).toEqual([404, 'goal-unknown'])
    for (const name of ['nowhere', 'a%00b', '%E4%BD%A0', "x'--"]) {
      expect(await codeOf(await get(`/goals/${name}/todos`))).toEqual([404, 'goal-unknown'])
      expect(await codeOf(await post(`/goals/${name}/stop`, null))).toEqual([404, 'goal-unknown'])
    }
    expect(Problem.parse(await json(await get('/goals/nowhere/todos', 'zh'))).title).toBe('没有这个目标')
    expect((await ui.get('/api/v1/goals')).status).toBe(401)
    expect((await ui.post('/api/v1/agents', { body: '{}' })).status).toBe(401)
  })
})

describe('agents', () => {
  test('A4 registered at a goal and listed as they are; unknown stays null', async () => {
    const at = await goal()
    const managed = agent({
      goal: at,
      endpoint: { kind: 'managed', runtime: 'acp', command: 'agent --acp' },
      capacity: 2,
    })
    const attached = agent({ goal: at, abilities: ['review'], host: 'build-2' })
    for (const one of [managed, attached]) expect((await post('/agents', one)).status).toBe(201)
    const items = AgentList.parse(await json(await get('/agents'))).items.filter((one) => one.goal === at)
    expect(items).toEqual([
      { ...managed, goalState: 'active', host: 'local', abilities: [], lastEvidenceAt: null, reachable: null },
      { ...attached, goalState: 'active', capacity: 1, lastEvidenceAt: null, reachable: null },
    ])
    await post(`/goals/${at}/stop`, null)
    const left = AgentList.parse(await json(await get('/agents'))).items
    expect(left.filter((one) => one.goal === at)).toEqual([])
    const all = AgentList.parse(await json(await get('/agents?stopped=true'))).items
    expect(all.filter((one) => one.goal === at).map((one) => one.goalState)).toEqual(['stopped', 'stopped'])
  })

  test('a registration is refused where it cannot stand', async () => {
    const [at, other] = [await goal(), await goal()]
    const one = agent({ goal: at })
    expect((await post('/agents', one)).status).toBe(201)
    expect(await codeOf(await post('/agents', { ...one, goal: other }))).toEqual([409, 'agent-elsewhere'])
    expect(await codeOf(await post('/agents', agent({ goal: at, agent: 'manager' })))).toEqual([409, 'agent-reserved'])
    expect(await codeOf(await post('/agents', agent({ goal: 'nowhere' })))).toEqual([404, 'goal-unknown'])
    for (const endpoint of [
      { kind: 'managed', runtime: 'acp' },
      { kind: 'managed', runtime: 'acp', command: '' },
      { kind: 'managed', runtime: 'codex', command: 'codex' },
      { kind: 'somewhere' },
    ])
      expect(await codeOf(await post('/agents', agent({ goal: at, endpoint })))).toEqual([400, 'bad-request'])
    expect(await codeOf(await post('/agents', agent({ goal: at, capacity: 0 })))).toEqual([400, 'bad-request'])
    for (const runtime of ['codex', 'claude', 'rehearsal']) {
      expect((await post('/agents', agent({ goal: at, endpoint: { kind: 'managed', runtime } }))).status).toBe(201)
    }
  })
})

describe('todos', () => {
  test('A15 show what the goal’s agents wrote, with the claims that stand', async () => {
    const at = await goal()
    const by = agent({ goal: at })
    await post('/agents', by)
    const { authority } = createWork(fresh.db, { now: () => ui.now }, silentLogger)
    const id = by.agent as AgentId
    await authority.apply(commandOf(id, at, writing('find the leak')))
    const todos = async () => TodoList.parse(await json(await get(`/goals/${at}/todos`))).items
    const todo = (await todos())[0]?.id ?? ''
    await authority.apply(commandOf(id, at, claiming(todo, 60_000)))
    expect(await todos()).toEqual([
      {
        id: todo,
        goal: at,
        title: 'find the leak',
        state: 'open',
        revision: 1,
        claim: { agent: id, epoch: 1, until: ui.now + 60_000 },
      },
    ])
    ui.now += 60_000
    expect((await todos())[0]?.claim).toBeNull()
  })

  test('A15 a goal whose owner is not connected is not shown as an empty one', async () => {
    const at = await goal()
    await fresh.db.sql`update work.goals set source = 'loopx' where id = ${at}`
    expect(await codeOf(await get(`/goals/${at}/todos`))).toEqual([503, 'unavailable'])
    expect(await codeOf(await post(`/goals/${at}/stop`, null))).toEqual([409, 'goal-elsewhere'])
  })
})
