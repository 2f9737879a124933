import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { fitting } from './kit.js'

let g: TestGateway
beforeAll(async () => {
  const command = (await scriptedAgent())()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command } })
  await post('/api/v1/goals', { id: 'g1', title: 'Ship it', direction: 'north', acceptance: 'it is there' })
  const at = { goal: 'g1', role: 'builder', responsibility: 'builds', host: 'here', abilities: ['build'] }
  await post('/api/v1/agents', { ...at, agent: 'laptop', endpoint: { kind: 'attached' } })
  await post('/api/v1/agents', { ...at, agent: 'builder', endpoint: { kind: 'managed', runtime: 'acp', command } })
})
afterAll(() => g.stop())

let keys = 0
async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const response = await g.api(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': `k${++keys}` },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`)
  return answer
}

async function connected(token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${g.gateway.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
  await client.connect(transport as Parameters<Client['connect']>[0])
  return client
}

const answerTo = (message: string) =>
  until(() => g.answers(g.ids.dm).find((one) => one.parentId === message)?.content, 'the answer', 40_000)

describe('the agents’ door of a whole gateway', () => {
  test('an attached agent reads its inbox and the work of its goal by the token that the operator gave it', async () => {
    const { token } = (await post('/api/v1/agents/laptop/tokens', {})) as { token: string }
    const client = await connected(token)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(fitting).sort())
    const inbox = await client.callTool({ name: 'inbox_read', arguments: {} })
    expect(inbox.structuredContent).toEqual({ items: [], nextCursor: null })
    const vision = await client.callTool({ name: 'vision_read', arguments: { goal: 'g1' } })
    expect(vision.structuredContent).toMatchObject({ vision: { direction: 'north' } })
    const written = await client.callTool({ name: 'todo_write', arguments: { goal: 'g1', title: 'Mend it', key: 'a' } })
    const again = await client.callTool({ name: 'todo_write', arguments: { goal: 'g1', title: 'Mend it', key: 'a' } })
    expect([written.structuredContent, again.structuredContent]).toMatchObject([
      { outcome: 'accepted' },
      { outcome: 'already-applied' },
    ])
    const todos = await client.callTool({ name: 'todo_list', arguments: { goal: 'g1' } })
    expect(todos.structuredContent).toMatchObject({ items: [{ title: 'Mend it' }] })
    await client.close()
  })

  test('the manager really calls its tools in a turn, over MCP, and sees the request that it works on', async () => {
    const said = g.served.sandbox.world.say({
      chatId: g.ids.dm,
      from: g.ids.alice,
      text: '!tool exchange_show {"request":"$request"}',
    })
    const content = await answerTo(said.id)
    expect(content).toContain('exchange_show')
    expect(content).toContain(said.id)
  })

  test('a turn may act before it has said a word: its call proves that it began', async () => {
    const judged = '"asks":[{"ask":"$ask","judgment":"accepted","reason":"mine"}]'
    const said = g.served.sandbox.world.say({
      chatId: g.ids.dm,
      from: g.ids.alice,
      text: `!unannounced assess_request {"request":"$request","onRevision":"$revision",${judged}}`,
    })
    expect(await answerTo(said.id)).toContain(String.raw`outcome\":\"accepted`)
    const { items } = (await (await g.api('/api/v1/requests')).json()) as {
      items: readonly { id: string; origin: { messageId: string } }[]
    }
    const id = items.find(({ origin }) => origin.messageId === said.id)?.id ?? ''
    const { observations } = (await (await g.api(`/api/v1/requests/${id}`)).json()) as Shown
    const kinds = observations.map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'turn-presented')).toHaveLength(1)
    expect(kinds.indexOf('assessed')).toBeGreaterThan(kinds.indexOf('turn-presented'))
  })

  test('what is in the database of a token is its digest', async () => {
    const rows = await g.db.sql<{ digest: string; lane: string | null }[]>`select digest, lane from collab.tokens`
    expect(rows.some(({ lane }) => lane !== null)).toBe(true)
    for (const { digest } of rows) expect(digest).toMatch(/^[0-9a-f]{64}$/)
  })
})

interface Shown {
  readonly id: string
  readonly parent: string | null
  readonly results: readonly { readonly kind: string; readonly text: string; readonly covers: readonly string[] }[]
  readonly observations: readonly { readonly kind: string; readonly actor: { readonly agent?: string } }[]
}

describe('work handed on', () => {
  test('the manager asks a managed agent, which assesses and reports by its own tools; it comes back once', async () => {
    const question = JSON.stringify('!assess accepted I can\n!report Built by the builder.')
    const rest = `"intent":"delegation","asks":"$asks","question":${question},"brief":"Build it.","reason":"it builds"`
    const said = g.served.sandbox.world.say({
      chatId: g.ids.dm,
      from: g.ids.alice,
      text: `!tool ask_agent {"request":"$request","receiver":"builder",${rest}}`,
    })
    await answerTo(said.id)
    const shown = async (id: string) => (await (await g.api(`/api/v1/requests/${id}`)).json()) as Shown
    const child = await until(async () => {
      const { items } = (await (await g.api('/api/v1/requests')).json()) as { items: readonly Shown[] }
      const found = items.find(({ parent }) => parent !== null)
      const view = found === undefined ? null : await shown(found.id)
      return view !== null && view.results.length > 0 ? view : null
    }, 'the result of the builder')
    expect(child.results[0]).toMatchObject({ kind: 'result', text: 'Built by the builder.' })
    expect(child.results[0]?.covers.length).toBe(1)
    const assessed = child.observations.filter(({ kind }) => kind === 'assessed')
    expect(assessed.map(({ actor }) => actor.agent)).toEqual(['builder'])
    const parent = await until(async () => {
      const view = await shown(child.parent ?? '')
      return view.observations.some(({ kind }) => kind === 'child-returned') ? view : null
    }, 'its return to the manager')
    expect(parent.observations.filter(({ kind }) => kind === 'child-returned').length).toBe(1)
  })
})
