import { afterAll, beforeAll, expect, test } from 'vitest'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway()
})
afterAll(() => gateway.stop())

const post = (path: string, body: object, key: string) =>
  gateway.api(path, {
    method: 'POST',
    headers: { 'idempotency-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const items = async (path: string) => ((await (await gateway.api(path)).json()) as { items: unknown[] }).items

test('a gateway keeps goals and agents over a restart, and a repeated command stays one', async () => {
  const goal = { id: 'memory', title: 'keep memory low' }
  const agent = {
    agent: 'ann',
    goal: 'memory',
    role: 'engineer',
    responsibility: 'memory',
    endpoint: { kind: 'managed', runtime: 'rehearsal' },
  }
  expect((await post('/api/v1/goals', goal, 'g')).status).toBe(201)
  expect((await post('/api/v1/agents', agent, 'a')).status).toBe(201)
  await gateway.restart()
  expect((await post('/api/v1/goals', goal, 'g')).status).toBe(200)
  expect((await post('/api/v1/agents', agent, 'a')).status).toBe(200)
  expect(await items('/api/v1/goals')).toMatchObject([{ id: 'memory', state: 'active', agents: 1, openTodos: 0 }])
  expect(await items('/api/v1/agents')).toMatchObject([
    { agent: 'ann', goal: 'memory', endpoint: { kind: 'managed', runtime: 'rehearsal', command: null } },
  ])
  expect(await items('/api/v1/goals/memory/todos')).toEqual([])
})

test('A4 an attached agent is unknown until it calls, and then it was seen', async () => {
  const told = { role: 'reviewer', responsibility: 'reviews', endpoint: { kind: 'attached' } }
  await post('/api/v1/goals', { id: 'reviews', title: 'review' }, 'g2')
  await post('/api/v1/agents', { ...told, agent: 'bea', goal: 'reviews' }, 'a2')
  const bea = async () =>
    (
      (await items('/api/v1/agents')) as { agent: string; reachable: boolean | null; lastEvidenceAt: number | null }[]
    ).find(({ agent }) => agent === 'bea')
  expect(await bea()).toMatchObject({ reachable: null, lastEvidenceAt: null })
  const { token } = (await (await post('/api/v1/agents/bea/tokens', {}, 't')).json()) as { token: string }
  const call = (bearer: string) =>
    fetch(`${gateway.gateway.url}/api/v1/agent/inbox_read`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: '{}',
    })
  expect((await call(`${token}x`)).status).toBe(401)
  expect(await bea()).toMatchObject({ reachable: null, lastEvidenceAt: null })
  const before = Date.now()
  expect((await call(token)).status).toBe(200)
  await until(async () => (await bea())?.reachable === true, 'the agent was seen')
  expect((await bea())?.lastEvidenceAt).toBeGreaterThanOrEqual(before)
})
