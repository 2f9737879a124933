import type { BotId, Instant } from '../../collab/refs.js'
import { errorLabel, type Logger } from '../../lib/log.js'
import { MINUTE, SECOND, type Clock } from '../../lib/time.js'
import { within } from '../limit.js'
import type { Receive } from './receive.js'
import { openSession, type Session } from './ws-session.js'

/** One holder per app id. Two processes with one app id would each get a part of the events. */
export interface ConnectionLease {
  /** True when we hold it now, for `LEASE_MS`. */
  acquire(): Promise<boolean>
  /** False when another took it over. */
  renew(): Promise<boolean>
  release(): Promise<void>
}

export const LEASE_MS = 15 * SECOND

export interface Pace {
  readonly renewMs: number
  readonly leaseMs: number
  /** First wait after a final error; doubled up to `longestWaitMs`. */
  readonly firstWaitMs: number
  readonly longestWaitMs: number
  /** Not connected for so long: a new session, whatever the SDK says of itself. */
  readonly stuckMs: number
  /** How long a stop waits for events that are being stored. */
  readonly drainMs: number
  /** After a ping without any answer for so long the socket is dead; below 15 s good ones are dropped. Whole seconds. */
  readonly pingTimeoutMs: number
}

const defaultPace: Pace = {
  renewMs: 5 * SECOND,
  leaseMs: LEASE_MS,
  firstWaitMs: SECOND,
  longestWaitMs: MINUTE,
  // Longer than the SDK's first wait (up to 30 s), shorter than its later ones (120 s each).
  stuckMs: 45 * SECOND,
  drainMs: 3 * SECOND,
  pingTimeoutMs: 20 * SECOND,
}

export interface LongConnectionParts {
  readonly bot: BotId
  readonly appSecret: string
  readonly baseUrl: string
  readonly receive: Receive
  readonly lease: ConnectionLease
  readonly log: Logger
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  /** After each connection that was made again: messages may have been missed. */
  readonly onConnected?: () => void
  readonly pace?: Partial<Pace>
}

export interface ConnectionState {
  readonly connected: boolean
  /** When `connected` last changed. */
  readonly since: Instant
  /** `waiting`: another process holds this app id. `starting`: the store has not said yet, or no longer says, who does. */
  readonly lease: 'starting' | 'held' | 'waiting'
  /** When the other side last sent any frame: the socket lives, which does not say that events come. */
  readonly aliveAt: Instant | null
  readonly lastEventAt: Instant | null
  /** Events stored since the start. */
  readonly count: number
  readonly lastError: string | null
}

export interface LongConnection {
  start(): void
  stop(): Promise<void>
  /** Gives up a session that is open and brings nothing; a new one is opened at once. */
  reopen(reason: string): void
  state(): ConnectionState
}

/** The SDK only logs and stays silent for an app id of another form. */
const APP_ID = /^cli_[0-9a-fA-F]{16}$/
export const isAppId = (bot: string): boolean => APP_ID.test(bot)
export const NOT_AN_APP_ID =
  'LARK_APP_ID is not of the form cli_ and 16 hex digits: the platform opens no long connection for it'

/** Keeps one connection alive for as long as the process lives: no error of the platform is final. */
export function createLongConnection(parts: LongConnectionParts): LongConnection {
  const { bot, lease, log, clock } = parts
  const pace = { ...defaultPace, ...parts.pace }
  const inFlight = new Set<Promise<unknown>>()
  let session: Session | null = null
  let running = false
  let connected = false
  let since = clock.now()
  let held = false
  let told = false
  let heldUntil = 0
  let failures = 0
  let nextTryAt = 0
  let aliveAt: number | null = null
  let lastEventAt: number | null = null
  let count = 0
  let lastError: string | null = null
  let timer: NodeJS.Timeout | undefined
  let ticking: Promise<void> = Promise.resolve()

  function mark(now: boolean): void {
    if (connected === now) return
    connected = now
    since = clock.now()
  }

  function open(): void {
    since = clock.now()
    const mine = openSession({
      appId: bot,
      appSecret: parts.appSecret,
      baseUrl: parts.baseUrl,
      log,
      pingTimeoutS: Math.max(1, Math.round(pace.pingTimeoutMs / SECOND)),
      onFrame: () => {
        if (session === mine) aliveAt = clock.now()
      },
      onEnvelope: (envelope) => {
        const work = store(envelope)
        inFlight.add(work)
        return work.finally(() => inFlight.delete(work))
      },
      onConnected: () => {
        if (session !== mine) return
        failures = 0
        lastError = null
        aliveAt = clock.now()
        mark(true)
        log.info('long connection open')
        parts.onConnected?.()
      },
      onLost: () => {
        if (session === mine) mark(false)
      },
      onEnded: (error) => {
        if (session === mine) fail(errorLabel(error))
      },
    })
    session = mine
  }

  async function store(envelope: unknown): Promise<object> {
    if (!running) throw new Error('stopping')
    const outcome = await parts.receive(envelope, 'websocket')
    lastEventAt = clock.now()
    if (outcome === 'malformed') throw new Error('malformed event')
    count += 1
    return typeof outcome === 'object' ? outcome.answer : {}
  }

  function close(): void {
    session?.close()
    session = null
    mark(false)
  }

  /** Half of the wait is by chance, so that many processes do not come back together. */
  function fail(reason: string): void {
    close()
    lastError = reason
    const wait = Math.min(pace.longestWaitMs, pace.firstWaitMs * 2 ** Math.min(failures, 16))
    failures += 1
    const waitMs = Math.ceil(wait * (0.5 + parts.random() / 2))
    nextTryAt = clock.now() + waitMs
    log.warn('long connection ended; it is opened again', { reason, ms: waitMs })
    schedule(waitMs)
  }

  async function keepLease(): Promise<void> {
    try {
      // Counted from before the call: the row may have been written at its beginning.
      const from = clock.now()
      const now = await within(held ? lease.renew() : lease.acquire(), pace.renewMs)
      if (now === 'late') throw new Error('no answer of the store')
      if (held && !now) {
        log.warn('long connection given up: another process holds this app id')
        close()
      }
      held = now
      told = true
      if (now) heldUntil = from + pace.leaseMs
    } catch (error) {
      lastError = `lease: ${errorLabel(error)}`
      // Unrenewed it is still ours until it runs out; after that another may be connected.
      if (held && clock.now() >= heldUntil) {
        held = false
        close()
      }
      if (!held) told = false
    }
  }

  async function tick(): Promise<void> {
    if (!running) return
    await keepLease()
    if (!running || !held) return
    if (session !== null && !connected && clock.now() - since > pace.stuckMs) fail('no connection for too long')
    if (session !== null || clock.now() < nextTryAt) return
    try {
      open()
    } catch (error) {
      fail(errorLabel(error))
    }
  }

  /** Ticks never overlap; a shorter wait replaces the one that is set. */
  function schedule(waitMs: number): void {
    clearTimeout(timer)
    if (!running) return
    timer = setTimeout(() => {
      ticking = ticking.then(tick).catch((error: unknown) => {
        lastError = errorLabel(error)
        log.error('long connection supervisor failed', { error: errorLabel(error) })
      })
      void ticking.then(() => schedule(untilNext()))
    }, waitMs)
  }

  function untilNext(): number {
    const toTry = session === null && held ? Math.max(0, nextTryAt - clock.now()) : pace.renewMs
    return Math.min(pace.renewMs, toTry)
  }

  return {
    start() {
      if (running) return
      running = true
      if (!isAppId(bot)) {
        lastError = NOT_AN_APP_ID
        log.error('long connection not started', { reason: lastError })
        return
      }
      schedule(0)
    },
    async stop() {
      running = false
      clearTimeout(timer)
      await ticking.catch(() => undefined)
      clearTimeout(timer)
      // What is being stored gets its ack before the line is closed.
      await within(Promise.allSettled(inFlight), pace.drainMs)
      close()
      if (held) await lease.release().catch(() => undefined)
      held = false
    },
    reopen(reason) {
      if (!running || session === null) return
      log.warn('long connection opened anew', { reason })
      close()
      lastError = reason
      nextTryAt = clock.now()
      schedule(0)
    },
    state: () => ({
      connected,
      since: since as Instant,
      lease: held ? 'held' : told ? 'waiting' : 'starting',
      aliveAt: aliveAt as Instant | null,
      lastEventAt: lastEventAt as Instant | null,
      count,
      lastError,
    }),
  }
}
