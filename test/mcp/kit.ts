import { serve } from '@hono/node-server'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import type { AgentTools, ToolCaller } from '../../src/collab/agent-tools.js'
import type { Receipt } from '../../src/collab/decision.js'
import type { AgentId, EventId, Revision, Seq } from '../../src/collab/refs.js'
import { silentLogger } from '../../src/lib/log.js'
import { createAgentDoor } from '../../src/mcp/door.js'
import type { McpDeps } from '../../src/mcp/server.js'

export const caller: ToolCaller = {
  agent: 'builder' as AgentId,
  session: 'laptop',
  epoch: 3,
  lane: null,
  turn: null,
}

export interface Call {
  readonly verb: string
  readonly caller: ToolCaller
  readonly said: Readonly<Record<string, unknown>>
}

export interface FakeTools {
  readonly tools: AgentTools
  readonly calls: Call[]
  /** What the next calls of a verb answer, instead of the usual. */
  readonly answers: Map<string, unknown>
}

export const accepted = (eventId: EventId): Receipt => ({
  outcome: 'accepted',
  eventId,
  seq: 4 as Seq,
  revision: 1 as Revision,
})

export const file = {
  artifact: 'f1',
  fileName: 'notes.md',
  mediaType: 'text/markdown',
  size: 8,
  digest: '4b5b8ad25b2bd8ba6fc5b3ec5e0ce6ee2ab0de2b6d9b0e5f9a1a6f4a40e6a5cf',
}

export async function* streamOf(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

/** What was said, with the bytes of a file as text: a stream can be read only while its call lasts. */
async function readOut(said: object): Promise<object> {
  if (!('bytes' in said)) return said
  const chunks: Uint8Array[] = []
  for await (const chunk of said.bytes as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return { ...said, bytes: Buffer.concat(chunks).toString('latin1') }
}

/** Records every call and answers each as if all went well; the second call with one event id is already applied. */
export function fakeTools(): FakeTools {
  const calls: Call[] = []
  const answers = new Map<string, unknown>()
  const seen = new Set<EventId>()
  const work = { owner: 'canonical', operation: 'op-1', refs: [{ ref: 'todo:t1', revision: '2' }] }
  const usual: Readonly<Record<string, (said: { eventId: EventId }) => unknown>> = {
    inboxRead: () => ({ items: [], nextCursor: null }),
    discover: () => [],
    recallGap: () => ({ answer: 'not-available', because: 'disabled' }),
    show: () => ({ id: 'r1', revision: 1, state: 'open' }),
    list: () => ({ items: [{ id: 'r1' }], nextCursor: 'c2' }),
    todoList: () => [{ id: 't1', title: 'One' }],
    visionRead: () => ({ goal: 'g1', direction: 'north', acceptance: 'there', revision: 1 }),
    todoWrite: () => ({ outcome: 'committed', receipt: work }),
    todoClaim: () => ({ outcome: 'committed', receipt: work }),
    visionReplan: () => ({ outcome: 'committed', receipt: work }),
    ask: ({ eventId }) => ({ ...accepted(eventId), child: 'r2' }),
    declareEffect: ({ eventId }) => ({ ...accepted(eventId), effect: 'e1', providerKey: 'k1' }),
    assess: ({ eventId }) => ({ ...accepted(eventId), verdict: 'accepted' }),
    split: ({ eventId }) => ({ ...accepted(eventId), asks: ['a8', 'a9'] }),
    todoRelease: () => ({ outcome: 'committed', receipt: work }),
    artifactPut: ({ eventId }) => ({ outcome: 'accepted', eventId, ...file }),
    artifactGet: () => ({ file, bytes: streamOf('# Notes\n') }),
  }
  const tools = new Proxy({} as AgentTools, {
    get: (_, verb: string) => async (by: ToolCaller, said: unknown) => {
      const given = (await readOut(typeof said === 'object' && said !== null ? said : { said })) as { eventId: EventId }
      calls.push({ verb, caller: by, said: given as never })
      const answer = answers.get(verb)
      if (answer instanceof Error) throw answer
      if (answer !== undefined) return answer
      if (given.eventId !== undefined && seen.has(given.eventId)) {
        if (verb === 'artifactPut') return { outcome: 'already-applied', eventId: given.eventId, ...file }
        const isWork = verb === 'todoRelease' || verb === 'todoWrite' || verb === 'todoClaim' || verb === 'visionReplan'
        return isWork
          ? { outcome: 'already', receipt: work }
          : { ...accepted(given.eventId), outcome: 'already-applied' }
      }
      if (given.eventId !== undefined) seen.add(given.eventId)
      return (usual[verb] ?? ((one: { eventId: EventId }) => accepted(one.eventId)))(given)
    },
  })
  return { tools, calls, answers }
}

export interface ServedDoor {
  readonly url: string
  readonly fake: FakeTools
  /** A connected client of the official SDK. */
  client(token?: string): Promise<Client>
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
  close(): Promise<void>
}

/** The door over real HTTP; `good` is the one bearer that is somebody unless `over` says who is. */
export async function servedDoor(over: Partial<McpDeps> = {}): Promise<ServedDoor> {
  const fake = fakeTools()
  let url = ''
  const door = createAgentDoor({
    tools: fake.tools,
    caller: async (bearer) => (bearer === 'good' ? caller : { refused: 'unknown' }),
    origins: () => [url],
    version: '0.0.0',
    log: silentLogger,
    ...over,
  })
  const server = await new Promise<Server>((resolve) => {
    const made = serve({ fetch: door, hostname: '127.0.0.1', port: 0 }, () => resolve(made as Server)) as Server
  })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clients: Client[] = []
  return {
    url,
    fake,
    async client(token = 'good') {
      const client = new Client({ name: 'test', version: '1' })
      const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      })
      await client.connect(transport as Parameters<Client['connect']>[0])
      clients.push(client)
      return client
    },
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: {
          authorization: 'Bearer good',
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async close() {
      await Promise.all(clients.map((client) => client.close()))
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Arguments that fit each tool, and what its verb then hears beside the event id. */
export const fitting: Readonly<
  Record<string, { readonly verb: string; readonly given: Record<string, unknown>; readonly heard: unknown }>
> = {
  inbox_read: { verb: 'inboxRead', given: {}, heard: { cursor: null, limit: 20 } },
  assess_request: {
    verb: 'assess',
    given: {
      request: 'r1',
      onRevision: 2,
      asks: [
        { ask: 'a1', judgment: 'accepted', reason: 'I can' },
        {
          ask: 'a2',
          judgment: 'deferred',
          reason: 'after that',
          until: { owner: 'builder', recheckAt: '2026-12-01T08:00:00Z', when: 'request-resolved', of: 'r9' },
        },
      ],
    },
    heard: {
      request: 'r1',
      onRevision: 2,
      asks: [
        { ask: 'a1', judgment: 'accepted', reason: 'I can' },
        {
          ask: 'a2',
          judgment: 'deferred',
          reason: 'after that',
          until: {
            owner: 'builder',
            recheckAt: 1_796_112_000_000,
            condition: { when: 'request-resolved', request: 'r9' },
          },
        },
      ],
    },
  },
  report_result: {
    verb: 'report',
    given: { request: 'r1', covers: ['a1'], text: '# Done' },
    heard: { request: 'r1', covers: ['a1'], text: '# Done', conclusion: null, artifacts: [], supersedes: null },
  },
  link_work: {
    verb: 'linkWork',
    given: { request: 'r1', operation: 'op-1' },
    heard: { request: 'r1', operation: 'op-1' },
  },
  recall_gap: {
    verb: 'recallGap',
    given: { request: 'r1', gap: 'Why not the dump?' },
    heard: { request: 'r1', gap: 'Why not the dump?' },
  },
  save_brief: {
    verb: 'saveBrief',
    given: { request: 'r1', onRevision: 2, tried: ['the dump: it lost a column'] },
    heard: {
      request: 'r1',
      onRevision: 2,
      brief: {
        constraints: [],
        decisions: [],
        tried: ['the dump: it lost a column'],
        inFlight: [],
        unverified: [],
        next: [],
      },
    },
  },
  discover_agents: {
    verb: 'discover',
    given: { need: 'somebody who reads logs' },
    heard: { need: 'somebody who reads logs', named: null, includeStopped: false },
  },
  ask_agent: {
    verb: 'ask',
    given: {
      request: 'r1',
      receiver: 'tester',
      intent: 'consultation',
      asks: ['a1'],
      question: 'Is it safe?',
      brief: 'We changed the lock.',
      reason: 'wrote the lock',
    },
    heard: {
      request: 'r1',
      receiver: 'tester',
      intent: 'consultation',
      asks: ['a1'],
      question: 'Is it safe?',
      brief: 'We changed the lock.',
      refs: [],
      reason: 'wrote the lock',
      direct: false,
    },
  },
  revise_request: {
    verb: 'revise',
    given: { request: 'r2', onRevision: 1, text: 'in French' },
    heard: { request: 'r2', onRevision: 1, text: 'in French', asks: [] },
  },
  cancel_request: {
    verb: 'cancel',
    given: { request: 'r2', onRevision: 1 },
    heard: { request: 'r2', onRevision: 1 },
  },
  reassign_request: {
    verb: 'reassign',
    given: { request: 'r2', receiver: 'tester', reason: 'knows it' },
    heard: { request: 'r2', receiver: 'tester', reason: 'knows it' },
  },
  relate_message: {
    verb: 'relate',
    given: { earlier: 'r1', later: 'r3', onRevision: 1, as: 'addition' },
    heard: { earlier: 'r1', later: 'r3', onRevision: 1, as: 'addition' },
  },
  exchange_show: { verb: 'show', given: { request: 'r1' }, heard: { said: 'r1' } },
  exchange_list: { verb: 'list', given: { cursor: 'c1', limit: 5 }, heard: { cursor: 'c1', limit: 5 } },
  artifact_put: {
    verb: 'artifactPut',
    given: { request: 'r1', fileName: 'notes.md', text: '# Notes\n' },
    heard: { request: 'r1', fileName: 'notes.md', bytes: '# Notes\n' },
  },
  artifact_get: {
    verb: 'artifactGet',
    given: { request: 'r1', artifact: 'f1' },
    heard: { request: 'r1', artifact: 'f1' },
  },
  declare_effect: {
    verb: 'declareEffect',
    given: {
      request: 'r1',
      effectKind: 'git-push',
      target: 'main',
      input: 'abc..def',
      doubt: { by: 'resubmit', windowMs: 60_000 },
    },
    heard: {
      request: 'r1',
      effectKind: 'git-push',
      target: 'main',
      input: 'abc..def',
      doubt: { by: 'resubmit', windowMs: 60_000 },
    },
  },
  settle_effect: {
    verb: 'settleEffect',
    given: { request: 'r1', effect: 'e1', became: 'confirmed' },
    heard: { request: 'r1', effect: 'e1', became: 'confirmed', evidence: null },
  },
  todo_list: { verb: 'todoList', given: { goal: 'g1' }, heard: { said: 'g1' } },
  todo_write: {
    verb: 'todoWrite',
    given: { goal: 'g1', title: 'Mend it' },
    heard: { goal: 'g1', title: 'Mend it', state: 'open', todo: null, onRevision: null },
  },
  todo_claim: {
    verb: 'todoClaim',
    given: { goal: 'g1', todo: 't1', leaseMs: 60_000 },
    heard: { goal: 'g1', todo: 't1', leaseMs: 60_000 },
  },
  vision_read: { verb: 'visionRead', given: { goal: 'g1' }, heard: { said: 'g1' } },
  vision_replan: {
    verb: 'visionReplan',
    given: { goal: 'g1', direction: 'south', acceptance: 'sea', onRevision: 1 },
    heard: { goal: 'g1', direction: 'south', acceptance: 'sea', onRevision: 1 },
  },
}
