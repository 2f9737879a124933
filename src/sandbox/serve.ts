import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSandbox, type Sandbox, type SandboxOptions } from './sandbox.js'

export interface ServedSandbox {
  readonly url: string
  readonly sandbox: Sandbox
  close(): Promise<void>
}

/** The sandbox on its own loopback port, with connections that can really be destroyed. Port 0 picks a free one. */
export async function serveSandbox(options: Omit<SandboxOptions, 'reset'>, port = 0): Promise<ServedSandbox> {
  const sockets = new WeakMap<Request, IncomingMessage>()
  const sandbox = createSandbox({ ...options, reset: (request) => sockets.get(request)?.socket.destroy() })
  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing).catch(() => incoming.socket.destroy())
  })
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = await toRequest(incoming)
    sockets.set(request, incoming)
    const response = await sandbox.handle(request)
    if (incoming.socket.destroyed) return
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  }
  // Idle connections outlive the pauses of a client, so that a lost connection is always one a script asked for.
  server.keepAliveTimeout = 65_000
  sandbox.attach(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${bound}`,
    sandbox,
    async close() {
      await sandbox.close()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** GET and DELETE bodies, which the SDK sends as `{}`, are dropped: a Request may not carry one on GET. */
async function toRequest(incoming: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  const method = incoming.method ?? 'GET'
  const url = `http://${incoming.headers.host ?? '127.0.0.1'}${incoming.url ?? '/'}`
  const bodyless = method === 'GET' || method === 'HEAD' || chunks.length === 0
  return new Request(url, { method, headers, ...(bodyless ? {} : { body: Buffer.concat(chunks) }) })
}
