import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AgentEndpoint, RegisteredAgent } from '../../src/collab/ports.js'
import type { AgentId } from '../../src/collab/refs.js'
import { runCli } from '../../src/cli/main.js'
import { callerOf } from '../../src/exchange/tokens.js'
import { createAgentDoor } from '../../src/mcp/door.js'
import { silentLogger } from '../../src/lib/log.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { fakeTools } from '../mcp/kit.js'
import { adminToken, bearer, publicUrl, webUnderTest, type WebUnderTest } from './kit.js'

let fresh: FreshDb
let ui: WebUnderTest
const endpoints: Readonly<Record<string, AgentEndpoint>> = {
  laptop: { kind: 'attached' },
  builder: { kind: 'managed', runtime: 'acp', command: 'agent' },
}
beforeAll(async () => {
  fresh = await freshDb()
  const plain = webUnderTest(fresh.db)
  const find = async (agent: AgentId) => {
    const endpoint = endpoints[agent]
    return endpoint === undefined ? null : ({ agent, endpoint } as RegisteredAgent)
  }
  const exchange = {
    ...plain.deps.exchange,
    newSecret: plain.deps.newSecret,
    directory: { find, list: async () => [] },
  }
  const { tools } = fakeTools()
  const mcp = createAgentDoor({
    tools,
    caller: (token) => callerOf(exchange, token),
    origins: () => [publicUrl],
    version: '0.0.0',
    log: silentLogger,
  })
  ui = webUnderTest(fresh.db, { exchange, mcp })
})
afterAll(() => fresh.drop())

const issue = (agent: string, body: object = {}, headers: Record<string, string> = bearer) =>
  ui.post(`/api/v1/agents/${agent}/tokens`, {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const inbox = (token: string) =>
  ui.post('/api/v1/agent/inbox_read', { headers: { authorization: `Bearer ${token}` }, body: '{}' })
const list = (token: string) =>
  ui.post('/mcp', {
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })

describe('tokens of attached agents', () => {
  test('an issued token opens the agents’ door; the next one of its session ends it at once', async () => {
    const first = await issue('laptop')
    expect(first.status).toBe(201)
    expect(first.headers.get('cache-control')).toBe('no-store')
    const given = (await first.json()) as { token: string }
    expect(given).toMatchObject({ agent: 'laptop', session: 'default', epoch: 1, url: `${publicUrl}/mcp` })
    expect([(await inbox(given.token)).status, (await list(given.token)).status]).toEqual([200, 200])
    const other = (await (await issue('laptop', { session: 'server' })).json()) as { token: string }
    const second = (await (await issue('laptop')).json()) as { token: string }
    const stale = await list(given.token)
    expect([stale.status, await stale.json()]).toEqual([401, { error: 'stale-epoch: this session was replaced' }])
    expect((await inbox(second.token)).status).toBe(200)
    expect((await inbox(other.token)).status).toBe(200)
  })

  test('an agent’s token opens nothing of the operator’s, and the operator’s nothing of an agent', async () => {
    const { token } = (await (await issue('laptop')).json()) as { token: string }
    const own = { authorization: `Bearer ${token}` }
    for (const path of ['/api/v1/requests', '/api/v1/doctor', '/metrics', '/queues']) {
      expect([path, (await ui.get(path, own)).status]).toEqual([path, 401])
    }
    expect((await issue('laptop', {}, own)).status).toBe(401)
    expect([(await inbox(adminToken)).status, (await list(adminToken)).status]).toEqual([401, 401])
    const { cookie } = await ui.browser()
    expect((await ui.post('/api/v1/agent/inbox_read', { headers: { cookie }, body: '{}' })).status).toBe(401)
  })

  test('nobody’s and a managed agent’s token is not issued', async () => {
    expect((await issue('nobody')).status).toBe(404)
    expect((await issue('manager')).status).toBe(404)
    expect((await issue('%00')).status).toBe(404)
    const managed = await issue('builder')
    expect([managed.status, await managed.json()]).toEqual([403, expect.objectContaining({ because: 'managed' })])
    expect((await issue('laptop', { session: 'a b' })).status).toBe(400)
    expect((await issue('laptop', { epoch: 9 })).status).toBe(400)
  })

  test('each one leaves an audit line that holds no token', async () => {
    const before = ui.audited.length
    const { token } = (await (await issue('laptop', { session: 'audited' })).json()) as { token: string }
    expect(ui.audited.slice(before)).toEqual([{ who: 'admin-token', act: 'agent token', subject: 'laptop audited 1' }])
    expect(JSON.stringify(ui.audited)).not.toContain(token)
  })

  test('the command line prints the token alone, so that a script can keep it', async () => {
    const out: string[] = []
    const err: string[] = []
    const code = await runCli(['agent', 'token', 'laptop', '--session', 'shell'], {
      stdout: (text) => void out.push(text),
      stderr: (text) => void err.push(text),
      env: { url: publicUrl, token: adminToken, lang: 'en' },
      fetch: (url, init) => ui.web.fetch(new Request(url, init)),
      newId: () => 'key',
    })
    expect(code).toBe(0)
    expect(out.join('')).toMatch(/^lma_[\w-]{43}\n$/)
    expect(err.join('')).toContain(`${publicUrl}/mcp`)
    expect((await inbox(out.join('').trim())).status).toBe(200)
  })
})

test('a gateway without tools says that nothing is there', async () => {
  const without = webUnderTest(fresh.db)
  expect((await without.post('/mcp')).status).toBe(404)
  expect((await without.post('/api/v1/agent/inbox_read')).status).toBe(404)
})
