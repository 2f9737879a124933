/**
 * A stand-in for a model provider that speaks the Responses API. What it answers is a function of the request and never
 * of how many came before: agents send requests of their own beside those of a turn. It keeps every request.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** One piece of an answer, in the order in which it is sent. */
export type Part =
  | { readonly say: string; readonly phase?: 'commentary' | 'final_answer' }
  | { readonly think: string }
  | { readonly call: string; readonly namespace?: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly delayMs: number }
  /** Nothing more, and the line stays open. */
  | { readonly hang: true }
  /** The line is cut. */
  | { readonly drop: true }
  /** Only as the first part. */
  | { readonly status: number }
  /** The provider says that it failed, with its code. */
  | { readonly failed: string }

export interface ModelRequest {
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
  readonly model: string
  readonly effort: string | null
  /** Everything that users wrote, oldest first. */
  readonly messages: readonly string[]
  /** What the tools gave since the last of them, oldest first. */
  readonly outputs: readonly string[]
  /** Names of the tools that are offered; those of a namespace as `namespace.name`. */
  readonly tools: readonly string[]
  /** Aborts when whoever asked goes away. */
  readonly gone: AbortSignal
}

export type Brain = (request: ModelRequest) => readonly Part[] | Promise<readonly Part[]>

export interface MockResponses {
  readonly baseUrl: string
  readonly requests: readonly ModelRequest[]
  close(): Promise<void>
}

export async function mockResponses(brain: Brain): Promise<MockResponses> {
  const requests: ModelRequest[] = []
  const sockets = new Set<Socket>()
  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing, brain, requests).catch(() => outgoing.destroy())
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** What a private CODEX_HOME holds so that codex asks the mock and nobody else. */
export function mockConfig(baseUrl: string): string {
  return `model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "${baseUrl}"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0
`
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  brain: Brain,
  requests: ModelRequest[],
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  if (incoming.method !== 'POST' || incoming.url !== '/v1/responses') {
    outgoing.writeHead(404).end()
    return
  }
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const request = readRequest(incoming, JSON.parse(Buffer.concat(chunks).toString('utf8')) as Body, gone.signal)
  requests.push(request)
  const parts = await brain(request)
  const [first] = parts
  if (first !== undefined && 'status' in first) {
    outgoing.writeHead(first.status, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify({ error: { message: 'the mock refuses', type: 'mock' } }))
    return
  }
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  outgoing.flushHeaders()
  const id = `r${requests.length}`
  const send = (event: unknown): void => void outgoing.write(`data: ${JSON.stringify(event)}\n\n`)
  send({ type: 'response.created', response: { id } })
  for (const [n, part] of parts.entries()) {
    if ('hang' in part || 'status' in part) return
    if ('drop' in part) return void outgoing.destroy()
    if ('failed' in part) {
      send({ type: 'response.failed', response: { id, error: { code: part.failed, message: 'the mock failed' } } })
      outgoing.end()
      return
    }
    if ('delayMs' in part) await pause(part.delayMs, gone.signal)
    else await sendItem(send, `${id}-${n}`, part)
  }
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 40 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 120,
  }
  send({ type: 'response.completed', response: { id, usage } })
  outgoing.end()
}

async function sendItem(
  send: (event: unknown) => void,
  id: string,
  part: Extract<Part, { say: string } | { think: string } | { call: string }>,
): Promise<void> {
  if ('say' in part) {
    const phase = part.phase === undefined ? {} : { phase: part.phase }
    send({
      type: 'response.output_item.added',
      item: { type: 'message', role: 'assistant', id, content: [], ...phase },
    })
    const half = Math.ceil(part.say.length / 2)
    for (const delta of [part.say.slice(0, half), part.say.slice(half)]) {
      send({ type: 'response.output_text.delta', item_id: id, delta })
    }
    const content = [{ type: 'output_text', text: part.say }]
    send({ type: 'response.output_item.done', item: { type: 'message', role: 'assistant', id, content, ...phase } })
  } else if ('think' in part) {
    const item = { type: 'reasoning', id, summary: [{ type: 'summary_text', text: part.think }] }
    send({ type: 'response.output_item.done', item })
  } else {
    const named = part.namespace === undefined ? {} : { namespace: part.namespace }
    const item = { type: 'function_call', call_id: id, name: part.call, ...named, arguments: JSON.stringify(part.args) }
    send({ type: 'response.output_item.done', item })
  }
}

function pause(ms: number, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    gone.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

interface Body {
  readonly [name: string]: unknown
  readonly model?: string
  readonly reasoning?: { readonly effort?: string } | null
  readonly input?: readonly Item[]
  readonly tools?: readonly Tool[]
}

interface Item {
  readonly type?: string
  readonly role?: string
  readonly content?: readonly { readonly text?: string }[]
  readonly output?: string | readonly { readonly text?: string }[]
  readonly tools?: readonly Tool[]
}

interface Tool {
  readonly type?: string
  readonly name?: string
  readonly tools?: readonly Tool[]
}

function readRequest(incoming: IncomingMessage, body: Body, gone: AbortSignal): ModelRequest {
  const messages: string[] = []
  let outputs: string[] = []
  // Tools stand in the request, or in an item of it for models that codex knows by name.
  const tools = [...(body.tools ?? [])]
  for (const item of body.input ?? []) {
    if (item.type === 'message' && item.role === 'user') {
      const text = (item.content ?? []).map((part) => part.text ?? '').join('\n')
      // Codex puts what it knows of the place in messages of the same kind; they stand in tags.
      if (/^\s*<(?!<<)|^# AGENTS\.md/u.test(text)) continue
      messages.push(text)
      outputs = []
    } else if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      const { output = '' } = item
      outputs.push(typeof output === 'string' ? output : output.map((part) => part.text ?? '').join('\n'))
    } else if (item.type === 'additional_tools') tools.push(...(item.tools ?? []))
  }
  return {
    headers: incoming.headers,
    body,
    model: body.model ?? '',
    effort: body.reasoning?.effort ?? null,
    messages,
    outputs,
    tools: tools.flatMap((tool) =>
      tool.tools === undefined ? [tool.name ?? ''] : tool.tools.map((one) => `${tool.name ?? ''}.${one.name ?? ''}`),
    ),
    gone,
  }
}
