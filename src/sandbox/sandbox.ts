import type { Server } from 'node:http'
import type { Clock } from '../lib/time.js'
import { createSending } from './api/send.js'
import { createControl } from './control.js'
import { createEvents } from './events.js'
import { createFaults, type Faults } from './faults.js'
import { createIds } from './ids.js'
import { createLongConnection, defaultClientConfig, type ClientConfig } from './long-connection.js'
import { createWorld } from './people.js'
import type { Platform } from './platform.js'
import { createPusher, type Carrier, type PushRecord } from './push.js'
import { createRates, noRates } from './rates.js'
import { createRoutes } from './routes.js'
import { createState, type SandboxChange } from './state.js'
import { createStats, type SandboxStats } from './stats.js'
import { realTimers, type Timers } from './timers.js'
import { createTokens } from './tokens.js'
import { createWebhook } from './webhook.js'
import type { World } from './world.js'

export interface SandboxOptions {
  readonly clock: Clock
  readonly newId: () => string
  /** For waits: the next push, the answer limit, latency. Real and unref'd when left out. */
  readonly timers?: Timers
  readonly app: {
    readonly appId: string
    readonly appSecret: string
    readonly encryptKey?: string
    readonly verificationToken?: string
    readonly botName?: string
    readonly botOpenId?: string
  }
  readonly events:
    | { readonly mode: 'websocket'; readonly client?: Partial<ClientConfig>; readonly fragmentBytes?: number }
    | { readonly mode: 'webhook'; readonly url: string; readonly fetch?: typeof fetch }
  /** false: no rate is enforced. */
  readonly rates?: boolean
  /** false: listing messages is refused as without the history scope. */
  readonly readableHistory?: boolean
  /** Mounts `/sandbox/*` for a process that cannot reach `world`. */
  readonly control?: boolean
  /** Destroys the connection a request came on; without it such a call rejects as a lost connection does. */
  readonly reset?: (request: Request) => void
}

/** A strict local Lark platform for one app. What it proves and what it cannot: README.md beside this file. */
export interface Sandbox {
  /** `/open-apis/**` and `/callback/ws/endpoint` (and `/sandbox/**` with `control`). */
  handle(request: Request): Promise<Response>
  /** Takes the long connection's WebSocket upgrades of a server. */
  attach(server: Server): void
  readonly world: World
  readonly faults: Faults
  onChange(listener: (change: SandboxChange) => void): () => void
  /** Open long connections. */
  connections(): number
  /** Closes them, as a deploy on the platform's side does. */
  dropConnections(): void
  /** The open connections stay open and bring no event: `deaf` ones still answer pings, `dead` ones do not. */
  deafenConnections(how: 'deaf' | 'dead'): void
  /** Every event pushed so far with what became of it. */
  pushes(): readonly PushRecord[]
  /** Resolves when no push is in flight. */
  settled(): Promise<void>
  /** The console's URL check of a webhook; true over the long connection, where there is nothing to check. */
  checkUrl(): Promise<boolean>
  stats(): SandboxStats
  close(): Promise<void>
}

const SAMPLE_BOT = { openId: 'ou_e27e5eef56b1223756b8192d4911aede', name: 'GatewayBot' }
const FRAGMENT_BYTES = 100_000

export function createSandbox(options: SandboxOptions): Sandbox {
  const { clock, app, events: mode } = options
  const timers = options.timers ?? realTimers
  const ids = createIds(options.newId)
  const state = createState()
  const stats = createStats(clock)
  const listeners = new Set<(change: SandboxChange) => void>()
  const botOpenId = app.botOpenId ?? SAMPLE_BOT.openId
  const botName = app.botName ?? SAMPLE_BOT.name
  let end = (): void => {}
  const closed = new Promise<void>((resolve) => (end = resolve))

  const longConnection =
    mode.mode === 'websocket'
      ? createLongConnection({
          ids,
          timers,
          clientConfig: { ...defaultClientConfig, ...mode.client },
          fragmentBytes: mode.fragmentBytes ?? FRAGMENT_BYTES,
        })
      : null
  const webhook =
    mode.mode === 'webhook'
      ? createWebhook({
          clock,
          timers,
          ids,
          url: mode.url,
          fetch: mode.fetch ?? fetch,
          encryptKey: app.encryptKey,
          verificationToken: app.verificationToken,
        })
      : null
  const carrier: Carrier = {
    carry: (eventId, envelope) =>
      webhook?.carry(eventId, envelope) ??
      longConnection?.send(eventId, JSON.stringify(envelope)) ??
      Promise.resolve({ pushed: false, because: 'no-connection' }),
  }
  const tokens = createTokens(clock, ids)
  const faults = createFaults(() => tokens.revokeAll())
  const pusher = createPusher({ clock, timers, carrier, ackIsLost: () => faults.takeLostAck() })
  const token = mode.mode === 'webhook' ? (app.verificationToken ?? '') : ''

  const platform: Platform = {
    clock,
    ids,
    state,
    rates: options.rates === false ? noRates : createRates(clock),
    book: {
      botOpenId,
      nameOf: (openId) => (openId === botOpenId ? botName : state.people.get(openId)?.name),
      isBot: (openId) => openId === botOpenId || state.people.get(openId)?.bot === true,
    },
    events: createEvents(clock, ids, { appId: app.appId, botOpenId, botName, token }),
    appId: app.appId,
    botName,
    readableHistory: options.readableHistory ?? true,
    push: (envelope) => pusher.push(envelope),
    changed(change) {
      if (change.kind === 'reaction-added' && change.by === 'bot') stats.reacted(change.messageId)
      if (change.kind === 'message-added' && state.messages.get(change.messageId)?.sender === 'bot')
        stats.sent(change.messageId, change.chatId)
      for (const listener of listeners) listener(change)
    },
  }
  const sending = createSending(platform)
  const world = createWorld(platform, carrier, stats)
  const routes = createRoutes({
    platform,
    tokens,
    faults,
    stats,
    timers,
    uuids: sending.uuids,
    closed,
    reset: options.reset,
    sending,
    appSecret: app.appSecret,
    longConnection,
  })
  if (options.control === true) routes.route('/sandbox', createControl({ world, faults, stats: () => stats.read() }))
  // The default error page would hide a cut line; a rejected promise is what a lost connection is.
  routes.onError((error) => {
    throw error
  })

  return {
    handle: async (request) => routes.fetch(request),
    attach: (server) => longConnection?.attach(server),
    world,
    faults,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    connections: () => longConnection?.count() ?? 0,
    dropConnections: () => longConnection?.drop(),
    deafenConnections: (how) => longConnection?.deafen(how),
    pushes: () => pusher.records(),
    settled: () => pusher.settled(),
    checkUrl: () => webhook?.checkUrl(ids.hex(32)) ?? Promise.resolve(true),
    stats: () => stats.read(),
    async close() {
      pusher.close()
      end()
      await longConnection?.close()
    },
  }
}
