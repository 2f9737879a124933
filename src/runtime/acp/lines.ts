import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'

/** Bytes of one line; the largest file in base64 fits. */
const LONGEST_LINE = 48 * 1024 * 1024
/** Lines of another kind that an agent may print before it speaks the protocol: banners and warnings. */
const TOLERATED = 50

export type LineTrouble = 'garbage' | 'too-large'

export interface LineOptions {
  /** From then on every line must be a message. */
  readonly strict: () => boolean
  /**
   * The parameters of a `session/update`, in the order of the pipe and before any later answer. They do not go through
   * the SDK: it drops, with a line of its own on stderr, every update of a kind or form that it does not know.
   */
  readonly onUpdate: (params: unknown) => void
  /** A line that was skipped. */
  readonly onStray: () => void
  /** The stream is of no use any more. Called once. */
  readonly onTrouble: (trouble: LineTrouble) => void
}

/** The two pipes of an agent as messages, one JSON object a line (ACP: stdio transport). */
export function messageStream(input: Writable, output: Readable, options: LineOptions): Stream {
  return { writable: writer(input), readable: reader(output, options) }
}

function writer(input: Writable): WritableStream<AnyMessage> {
  return new WritableStream({
    async write(message) {
      if (input.destroyed || input.writableEnded) throw new Error('the agent takes no more input')
      if (!input.write(`${JSON.stringify(message)}\n`)) await Promise.race([once(input, 'drain'), once(input, 'close')])
    },
  })
}

function reader(output: Readable, options: LineOptions): ReadableStream<AnyMessage> {
  let strays = 0
  return new ReadableStream<AnyMessage>({
    async start(controller) {
      try {
        for await (const line of lines(output)) {
          const message = parse(line)
          if (message !== null && isUpdate(message)) options.onUpdate(message.params)
          else if (message !== null) controller.enqueue(message)
          else if (!options.strict() && ++strays <= TOLERATED) options.onStray()
          else throw new LineError('garbage')
        }
        controller.close()
      } catch (error) {
        if (error instanceof LineError) options.onTrouble(error.trouble)
        output.destroy()
        try {
          controller.error(error)
        } catch {
          // The connection was closed from our side already.
        }
      }
    },
    cancel: () => void output.destroy(),
  })
}

function isUpdate(message: AnyMessage): message is AnyMessage & { readonly params?: unknown } {
  return 'method' in message && message.method === 'session/update' && !('id' in message)
}

class LineError extends Error {
  constructor(readonly trouble: LineTrouble) {
    super(`the agent's output is ${trouble}`)
  }
}

async function* lines(output: Readable): AsyncGenerator<string, void, void> {
  let pieces: Buffer[] = []
  let size = 0
  for await (const chunk of output as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pieces.push(chunk.subarray(start, end))
      const line = Buffer.concat(pieces).toString('utf8').trim()
      pieces = []
      size = 0
      start = end + 1
      if (line !== '') yield line
    }
    pieces.push(chunk.subarray(start))
    size += chunk.length - start
    if (size > LONGEST_LINE) throw new LineError('too-large')
  }
  const last = Buffer.concat(pieces).toString('utf8').trim()
  if (last !== '') yield last
}

function parse(line: string): AnyMessage | null {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    // The SDK checks the members; here only "is it a message at all" is asked.
    return 'method' in value || 'id' in value ? (value as AnyMessage) : null
  } catch {
    return null
  }
}
