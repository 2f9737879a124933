import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

export interface TestTools {
  readonly url: string
  /** The bearer of every call, oldest first. */
  readonly bearers: readonly string[]
  close(): Promise<void>
}

/** A tool server over HTTP with one tool that changes something, `note`; it takes the given bearers only. */
export async function testTools(taken: (bearer: string) => boolean = () => true): Promise<TestTools> {
  const bearers: string[] = []
  const server = createServer((request, response) => {
    const bearer = (request.headers.authorization ?? '').replace(/^Bearer /u, '')
    if (!taken(bearer)) {
      response.writeHead(401).end()
      return
    }
    const mcp = new McpServer({ name: 'test', version: '1.0.0' })
    mcp.registerTool('note', { description: 'Notes something.' }, () => {
      bearers.push(bearer)
      return { content: [{ type: 'text', text: `noted for ${bearer}` }] }
    })
    // Typed as optional by the SDK; absent means: no session is kept.
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined } as never)
    response.once('close', () => void mcp.close())
    void mcp.connect(transport as never).then(() => transport.handleRequest(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    bearers,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
