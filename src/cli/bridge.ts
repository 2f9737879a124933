import type { Readable, Writable } from 'node:stream'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  isInitializeRequest,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'

/**
 * Carries MCP between standard input and output and the gateway's HTTP door, message by message, for an agent that can
 * only start a program. It understands nothing of the tools. Ends when the input ends and every call is answered.
 */
export async function runBridge(options: {
  readonly url: string
  readonly token: string
  readonly stdio: { readonly input: Readable; readonly output: Writable }
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}): Promise<void> {
  const { url, token, stdio } = options
  const near = new StdioServerTransport(stdio.input, stdio.output)
  const far = new StreamableHTTPClientTransport(new URL(`${url.replace(/\/+$/, '')}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` }, redirect: 'manual' },
    fetch: (address, init) => options.fetch(String(address), init ?? {}),
  })
  const underWay = new Set<Promise<void>>()
  let beginning: RequestId | null = null

  far.onmessage = (message) => {
    if (beginning !== null && isJSONRPCResultResponse(message) && message.id === beginning) {
      const version = message.result['protocolVersion']
      if (typeof version === 'string') far.setProtocolVersion(version)
    }
    void near.send(message)
  }
  const forward = async (message: JSONRPCMessage): Promise<void> => {
    if (isInitializeRequest(message)) beginning = (message as { readonly id?: RequestId }).id ?? null
    try {
      await far.send(message)
    } catch (error) {
      // A notification has nobody who waits for it.
      if (isJSONRPCRequest(message)) await near.send(faultOf(message.id, error))
    }
  }
  near.onmessage = (message) => {
    const sent = forward(message).finally(() => underWay.delete(sent))
    underWay.add(sent)
  }
  const ended = new Promise<void>((resolve) => {
    stdio.input.once('end', resolve)
    stdio.input.once('close', resolve)
    // The agent is gone: nobody reads an answer any more.
    stdio.output.once('error', () => resolve())
  })
  await far.start()
  await near.start()
  await ended
  await Promise.allSettled(underWay)
  await near.close()
  await far.close()
}

/** What the door said, for the model to read; never an address or a token. */
function faultOf(id: RequestId, error: unknown): JSONRPCMessage {
  const said = error instanceof Error ? (/"error":"([^"\\]{1,100})"/.exec(error.message)?.[1] ?? null) : null
  const message = said ?? 'the gateway cannot be reached; say so instead of guessing'
  return { jsonrpc: '2.0', id, error: { code: -32000, message } }
}
