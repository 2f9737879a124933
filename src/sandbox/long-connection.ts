import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { SECOND } from '../lib/time.js'
import { decodeFrame, encodeFrame } from './frame.js'
import type { Ids } from './ids.js'
import type { PushOutcome } from './push.js'
import type { Timers } from './timers.js'

/** Seconds, as discovery and pong answer them. Source: node-sdk ws-client. */
export interface ClientConfig {
  readonly PingInterval: number
  readonly ReconnectCount: number
  readonly ReconnectInterval: number
  readonly ReconnectNonce: number
}

export const defaultClientConfig: ClientConfig = {
  PingInterval: 120,
  ReconnectCount: -1,
  ReconnectInterval: 120,
  ReconnectNonce: 30,
}

/** Per app. Source: request-url-configuration-case. */
const MAX_CONNECTIONS = 50
const CONNECT_PATH = '/callback/ws/connect'
const SERVICE_ID = 33_554_678
const ACK_WAIT = 3 * SECOND

/**
 * The provider's end of the long connection: discovery gives a one-time address, then one WebSocket per client.
 * An event goes to at most one connection, picked at random; it counts as delivered when the ack frame says 200 in 3 s.
 */
export interface LongConnection {
  discover(origin: string): { readonly code: number; readonly msg: string; readonly data: object }
  attach(server: Server): void
  send(eventId: string, body: string): Promise<PushOutcome>
  count(): number
  /** Closes every open connection, as a deploy on the provider's side does. */
  drop(): void
  /** The connections open now bring no event any more; `dead` ones answer no ping either. New ones are well. */
  deafen(how: 'deaf' | 'dead'): void
  close(): Promise<void>
}

export interface LongConnectionOptions {
  readonly ids: Ids
  readonly timers: Timers
  readonly clientConfig: ClientConfig
  /** Bytes of payload after which an event is split over several frames. */
  readonly fragmentBytes: number
}

export function createLongConnection(options: LongConnectionOptions): LongConnection {
  const { ids, timers, clientConfig, fragmentBytes } = options
  const server = new WebSocketServer({ noServer: true })
  const open = new Set<WebSocket>()
  const deaf = new Map<WebSocket, 'deaf' | 'dead'>()
  const tickets = new Set<string>()
  const waiting = new Map<string, { readonly socket: WebSocket; settle(outcome: PushOutcome): void }>()
  const attached: { readonly server: Server; readonly listener: (...args: Upgrade) => void }[] = []
  let seqId = 0

  const onFrame = (socket: WebSocket, bytes: Uint8Array): void => {
    const frame = decodeFrame(bytes)
    if (frame === null || deaf.get(socket) === 'dead') return
    if (frame.method === 0) {
      if (frame.headers['type'] !== 'ping') return
      const payload = new TextEncoder().encode(JSON.stringify(clientConfig))
      socket.send(encodeFrame({ ...frame, headers: { type: 'pong' }, payload }))
      return
    }
    const pending = waiting.get(frame.headers['message_id'] ?? '')
    if (pending?.socket === socket) pending.settle(readAck(frame.payload))
  }

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const url = new URL(request.url ?? '/', 'http://sandbox.invalid')
    if (url.pathname !== CONNECT_PATH) return
    const ticket = url.searchParams.get('ticket') ?? ''
    if (!tickets.delete(ticket) || open.size >= MAX_CONNECTIONS) {
      const status = open.size >= MAX_CONNECTIONS ? '1000040350' : '514'
      socket.end(`HTTP/1.1 401 Unauthorized\r\nhandshake-status: ${status}\r\nhandshake-msg: refused\r\n\r\n`)
      return
    }
    server.handleUpgrade(request, socket, head, (client) => {
      open.add(client)
      client.on('message', (data: Buffer) => onFrame(client, data))
      client.on('error', () => client.terminate())
      client.on('close', () => {
        open.delete(client)
        deaf.delete(client)
        for (const pending of waiting.values())
          if (pending.socket === client) pending.settle({ pushed: false, because: 'connection-lost' })
      })
    })
  }

  return {
    discover(origin) {
      const none = { URL: '', ClientConfig: clientConfig }
      if (open.size >= MAX_CONNECTIONS) return { code: 1000040350, msg: 'too many connections', data: none }
      const ticket = ids.ticket()
      tickets.add(ticket)
      // The SDK reads the query of the whole string, so the first pair is lost on it: keep device_id off that place.
      const query = `fpid=493&aid=552564&device_id=${ids.pick(1e9)}&access_key=sandbox&service_id=${SERVICE_ID}`
      const URL = `${origin.replace(/^http/, 'ws')}${CONNECT_PATH}?${query}&ticket=${ticket}`
      return { code: 0, msg: 'ok', data: { URL, ClientConfig: clientConfig } }
    },
    attach(httpServer) {
      attached.push({ server: httpServer, listener: onUpgrade })
      httpServer.on('upgrade', onUpgrade)
    },
    send(eventId, body) {
      const clients = [...open]
      const socket = clients[ids.pick(Math.max(1, clients.length))]
      if (socket === undefined) return Promise.resolve({ pushed: false, because: 'no-connection' })
      return new Promise((resolve) => {
        const messageId = ids.event()
        const cancel = timers.set(() => settle({ pushed: false, because: 'timeout' }), ACK_WAIT)
        const settle = (outcome: PushOutcome): void => {
          cancel()
          if (waiting.delete(messageId)) resolve(outcome)
        }
        waiting.set(messageId, { socket, settle })
        if (deaf.has(socket)) return
        const parts = split(Buffer.from(body, 'utf8'), fragmentBytes)
        for (const [seq, payload] of parts.entries()) {
          const trace = { message_id: messageId, trace_id: eventId }
          const headers = { type: 'event', ...trace, sum: String(parts.length), seq: String(seq) }
          socket.send(encodeFrame({ seqId: ++seqId, service: SERVICE_ID, method: 1, headers, payload }))
        }
      })
    },
    count: () => open.size,
    deafen(how) {
      for (const client of open) deaf.set(client, how)
    },
    drop() {
      for (const client of open) client.close(1001)
    },
    async close() {
      for (const entry of attached) entry.server.off('upgrade', entry.listener)
      for (const client of open) client.terminate()
      for (const pending of waiting.values()) pending.settle({ pushed: false, because: 'connection-lost' })
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

type Upgrade = [request: IncomingMessage, socket: Duplex, head: Buffer]

function split(bytes: Buffer, size: number): Buffer[] {
  const parts: Buffer[] = []
  for (let from = 0; from < bytes.length; from += size) parts.push(bytes.subarray(from, from + size))
  return parts
}

/** `{"code":200,"data":base64(JSON)}`; another code means that the handler threw. */
function readAck(payload: Uint8Array): PushOutcome {
  try {
    const ack: unknown = JSON.parse(Buffer.from(payload).toString('utf8'))
    const { code, data } = ack as { code?: unknown; data?: unknown }
    if (code !== 200) return { pushed: false, because: 'refused' }
    const answer = typeof data === 'string' ? Buffer.from(data, 'base64').toString('utf8') : ''
    return { pushed: true, answer }
  } catch {
    return { pushed: false, because: 'refused' }
  }
}
