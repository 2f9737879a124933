import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the program asks of its model, as far as a test looks at it. */
export interface MessagesRequest {
  readonly model: string
  readonly system: unknown
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools: readonly { readonly name: string }[]
  readonly effort: string | null
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export type Part =
  | { readonly think: string }
  | { readonly text: string }
  | { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  /** Says nothing more until the other side goes away. */
  | { readonly hang: true }
  /** Cuts the connection. */
  | { readonly cut: true }
  /** Does something outside the answer, and goes on. */
  | { readonly act: () => void | Promise<void> }

export type Answer = readonly Part[] | { readonly status: number; readonly type: string; readonly message: string }

export interface MockMessages {
  readonly url: string
  /** Every request so far, oldest first. */
  readonly requests: readonly MessagesRequest[]
  close(): Promise<void>
}

/**
 * A Messages endpoint whose answer follows from the request alone, never from a queue: the program may ask for side
 * things in parallel.
 */
export async function mockMessages(brain: (request: MessagesRequest) => Answer): Promise<MockMessages> {
  const requests: MessagesRequest[] = []
  const server = createServer((request, response) => {
    void serve(request, response, (asked) => {
      requests.push(asked)
      return brain(asked)
    }).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answerTo: (asked: MessagesRequest) => Answer,
): Promise<void> {
  if (request.method === 'HEAD') return void response.writeHead(200).end()
  if (request.method !== 'POST' || !request.url?.startsWith('/v1/messages')) return void response.writeHead(404).end()
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Partial<MessagesRequest> & {
    readonly output_config?: { readonly effort?: string }
  }
  if (request.url.startsWith('/v1/messages/count_tokens')) {
    return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":1}')
  }
  const answer = answerTo({
    model: body.model ?? '',
    system: body.system ?? '',
    messages: body.messages ?? [],
    tools: body.tools ?? [],
    effort: body.output_config?.effort ?? null,
    headers: request.headers,
  })
  if ('status' in answer) {
    const error = { type: 'error', error: { type: answer.type, message: answer.message } }
    return void response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(error))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (event: { readonly type: string; readonly [key: string]: unknown }): void => {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  }
  const usage = { input_tokens: 1, output_tokens: 1 }
  // Answers of the same id are one message to the program.
  const message = {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [],
    usage,
  }
  send({ type: 'message_start', message: { ...message, stop_reason: null } })
  let index = 0
  let calls = false
  for (const part of answer) {
    if ('hang' in part) return
    if ('cut' in part) return void response.destroy()
    if ('act' in part) {
      await part.act()
      continue
    }
    calls ||= 'tool' in part
    for (const event of blockOf(part, index, `toolu_${randomUUID()}`)) send(event)
    index++
  }
  send({ type: 'message_delta', delta: { stop_reason: calls ? 'tool_use' : 'end_turn' }, usage })
  send({ type: 'message_stop' })
  response.end()
}

type Block = Extract<Part, { think: string } | { text: string } | { tool: string }>

function blockOf(part: Block, index: number, id: string): readonly { readonly type: string }[] {
  const start = (block: object) => ({ type: 'content_block_start', index, content_block: block })
  const delta = (change: object) => ({ type: 'content_block_delta', index, delta: change })
  const stop = { type: 'content_block_stop', index }
  if ('think' in part) {
    return [
      start({ type: 'thinking', thinking: '', signature: '' }),
      delta({ type: 'thinking_delta', thinking: part.think }),
      delta({ type: 'signature_delta', signature: 'c2ln' }),
      stop,
    ]
  }
  if ('text' in part) {
    const half = Math.ceil(part.text.length / 2)
    const halves = [part.text.slice(0, half), part.text.slice(half)]
    return [start({ type: 'text', text: '' }), ...halves.map((text) => delta({ type: 'text_delta', text })), stop]
  }
  return [
    start({ type: 'tool_use', id, name: part.tool, input: {} }),
    delta({ type: 'input_json_delta', partial_json: JSON.stringify(part.input) }),
    stop,
  ]
}

/** The text blocks of one message. */
export function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return content.flatMap((block: { type?: unknown; text?: unknown }) =>
    block.type === 'text' && typeof block.text === 'string' ? [block.text] : [],
  )
}

/** The results of tools that a message carries, and whether each was an error. */
export function toolResultsOf(content: unknown): readonly { readonly text: string; readonly isError: boolean }[] {
  if (!Array.isArray(content)) return []
  return content.flatMap((block: { type?: unknown; content?: unknown; is_error?: unknown }) =>
    block.type === 'tool_result' ? [{ text: textsOf(block.content).join('\n'), isError: block.is_error === true }] : [],
  )
}
