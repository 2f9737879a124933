import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface McpEcho {
  readonly url: string
  /** The bearer tokens of the calls so far, and what was called. */
  readonly calls: readonly { readonly bearer: string; readonly tool: string; readonly input: unknown }[]
  close(): Promise<void>
}

/** The least of a server of tools over HTTP (MCP, streamable): one tool that says what it was given. */
export async function mcpEcho(): Promise<McpEcho> {
  const calls: { bearer: string; tool: string; input: unknown }[] = []
  const server = createServer((request, response) => {
    void (async () => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      let body = ''
      for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString('utf8')
      const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params?: Params }
      if (id === undefined) return void response.writeHead(202).end()
      if (method === 'tools/call') {
        const bearer = request.headers.authorization?.replace('Bearer ', '') ?? ''
        calls.push({ bearer, tool: params?.name ?? '', input: params?.arguments })
      }
      const result = resultOf(method, params)
      const answer = result === null ? { error: { code: -32601, message: method } } : { result }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Params {
  readonly name?: string
  readonly arguments?: unknown
  readonly protocolVersion?: string
}

function resultOf(method: string, params: Params | undefined): object | null {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'echo', version: '1.0.0' },
      }
    case 'tools/list': {
      const inputSchema = { type: 'object', properties: { word: { type: 'string' } } }
      return { tools: [{ name: 'echo', description: 'says what it was given', inputSchema }] }
    }
    case 'tools/call':
      return { content: [{ type: 'text', text: `ECHO ${JSON.stringify(params?.arguments)}` }] }
    case 'ping':
      return {}
    default:
      return null
  }
}
