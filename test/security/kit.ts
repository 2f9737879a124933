import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { until, type TestGateway, type TestGatewayOptions } from '../kit/gateway.js'
import { recordedPrompts } from '../kit/recording.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { sampleEncryptKey, sampleToken } from '../replay/samples.js'
import { readPrompt } from './skeleton.js'

export type Inlet = 'long connection' | 'webhook'

/** A gateway whose events come by one of the two inlets; `here` gives it once it listens. */
export async function gatewayBy(
  inlet: Inlet,
  here: () => TestGateway,
  env: Readonly<Record<string, string>> = {},
): Promise<TestGatewayOptions> {
  const scripted = { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: (await scriptedAgent())('--record') }
  const usual = { ...scripted, APPROVAL_WAIT_MS: '3600000', ...env }
  if (inlet === 'long connection') return { env: usual }
  return {
    env: { ...usual, LARK_EVENTS: 'webhook', LARK_ENCRYPT_KEY: sampleEncryptKey, LARK_VERIFICATION_TOKEN: sampleToken },
    app: { encryptKey: sampleEncryptKey, verificationToken: sampleToken },
    events: {
      mode: 'webhook',
      url: 'http://gateway.test/lark/events',
      fetch: (_url, init) => fetch(`${here().gateway.url}/lark/events`, init),
    },
  }
}

/** Waits until every event is taken for what it is. */
export async function disposed(g: TestGateway): Promise<void> {
  await g.served.sandbox.settled()
  const owed = () => g.db.sql`select 1 from collab.ingress_events where disposition is null`
  await until(async () => (await owed()).length === 0, 'every event to be taken', 120_000)
}

/** The prompt of the turn on a message, as the agent was handed it. */
export async function promptFor(g: TestGateway, said: WorldMessage): Promise<string> {
  const [row] = await until(
    async () => {
      const rows = await g.db.sql<{ request: string }[]>`
        select r.id as request from collab.work_requests r where r.origin_message = ${said.id}`
      return rows.length === 0 ? null : rows
    },
    'the request of a message',
    120_000,
  )
  const request = must(row, 'the request').request
  const found = () => recordedPrompts(g.dataDir).findLast(({ text }) => text.includes(`Request ${request}, revision`))
  return (await until(found, 'the prompt', 120_000)).text
}

/** The host's own lines, without what differs from one message to the next. */
export function shapeOf(prompt: string): readonly string[] {
  const lines = readPrompt(prompt)
    .host.map((line) =>
      line
        .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gu, '*')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, '*')
        .replaceAll(/ou_[0-9a-f]{32}/gu, '*')
        .replaceAll(/revision \d+/gu, 'revision *'),
    )
    .filter((line) => !line.startsWith('Answer in '))
  return lines.filter((line, at) => line !== lines[at - 1])
}

let keys = 0

/** The operator's call; throws what was answered when it is refused. */
export async function post(g: TestGateway, path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await g.api(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': `s${++keys}` },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Readonly<Record<string, unknown>>
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`)
  return answer
}

/** One agent that runs elsewhere, at a goal of its own; gives its token. */
export async function attach(g: TestGateway, agent: string, goal: string): Promise<string> {
  await post(g, '/api/v1/goals', { id: goal, title: goal, direction: 'north', acceptance: 'it is there' })
  const what = { role: 'worker', responsibility: `looks after ${goal}`, host: 'elsewhere', abilities: [] }
  await post(g, '/api/v1/agents', { agent, goal, ...what, endpoint: { kind: 'attached' } })
  return String((await post(g, `/api/v1/agents/${agent}/tokens`, {}))['token'])
}

export interface ToolAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** One tool by plain HTTP, with an agent's own token. */
export async function byHttp(g: TestGateway, token: string, tool: string, given: object): Promise<ToolAnswer> {
  const response = await fetch(`${g.gateway.url}/api/v1/agent/${tool}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `t${++keys}`,
    },
    body: JSON.stringify(given),
  })
  return { status: response.status, body: (await response.json()) as ToolAnswer['body'] }
}
