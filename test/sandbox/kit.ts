import { Client, EventDispatcher, WSClient } from '@larksuiteoapi/node-sdk'
import { onTestFinished } from 'vitest'
import type { SandboxOptions } from '../../src/sandbox/sandbox.js'
import { seedIds, seedSandboxWorld } from '../../src/sandbox/seed.js'
import { serveSandbox, type ServedSandbox } from '../../src/sandbox/serve.js'
import type { Timers } from '../../src/sandbox/timers.js'

export const APP_ID = 'cli_a1b2c3d4e5f60718'
export const APP_SECRET = 'sandbox-secret'
export const START = 1_790_000_000_000

/** A clock and timers that only move when told. */
export function handTime(start = START): {
  clock: { now(): number }
  timers: Timers
  advance(ms: number): void
  /** Timers set and not yet due. */
  waiting(): number
} {
  let now = start
  const due = new Set<{ at: number; fn: () => void }>()
  return {
    clock: { now: () => now },
    timers: {
      set(fn, ms) {
        const entry = { at: now + ms, fn }
        due.add(entry)
        return () => void due.delete(entry)
      },
    },
    waiting: () => due.size,
    advance(ms) {
      const until = now + ms
      for (;;) {
        const next = [...due].filter((entry) => entry.at <= until).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        due.delete(next)
        now = next.at
        next.fn()
      }
      now = until
    },
  }
}

export interface Kit extends ServedSandbox {
  readonly time: ReturnType<typeof handTime>
  readonly ids: typeof seedIds
}

/** A seeded sandbox on a port of its own, closed when the test ends. */
export async function openSandbox(options: Partial<SandboxOptions> = {}): Promise<Kit> {
  const time = handTime()
  let count = 0
  const served = await serveSandbox({
    clock: time.clock,
    timers: time.timers,
    newId: () => `id-${++count}`,
    app: { appId: APP_ID, appSecret: APP_SECRET },
    events: { mode: 'websocket' },
    control: true,
    ...options,
  })
  const ids = seedSandboxWorld(served.sandbox)
  onTestFinished(() => served.close())
  return { ...served, time, ids }
}

const quiet = { error() {}, warn() {}, info() {}, debug() {}, trace() {} }

/** With a token cache of its own: the SDK's default one is shared by every client of the process with the same app id. */
export function sdkClient(url: string): Client {
  const tokens = new Map<unknown, unknown>()
  const cache = {
    get: async (key: unknown) => tokens.get(key),
    set: async (key: unknown, value: unknown) => tokens.set(key, value).size > 0,
  }
  return new Client({ appId: APP_ID, appSecret: APP_SECRET, domain: url, logger: quiet, cache })
}

/** A connected long-connection client of the real SDK, closed when the test ends. */
export async function sdkConnection(
  url: string,
  handlers: Record<string, (data: Record<string, unknown>) => unknown>,
  secret = APP_SECRET,
): Promise<WSClient> {
  const dispatcher = new EventDispatcher({ logger: quiet }).register(handlers)
  return new Promise((resolve, reject) => {
    const client: WSClient = new WSClient({
      appId: APP_ID,
      appSecret: secret,
      domain: url,
      logger: quiet,
      onReady: () => resolve(client),
      onError: reject,
    })
    onTestFinished(() => client.close({ force: true }))
    void client.start({ eventDispatcher: dispatcher })
  })
}

/** Calls REST as plainly as possible, with a token of its own. */
export async function caller(url: string): Promise<(method: string, path: string, body?: unknown) => Promise<Reply>> {
  const token = await fetch(`${url}/open-apis/auth/v3/tenant_access_token/internal`, {
    method: 'POST',
    body: JSON.stringify({ app_id: APP_ID, app_secret: APP_SECRET }),
  })
  const { tenant_access_token: bearer } = (await token.json()) as { tenant_access_token: string }
  return async (method, path, body) => {
    const response = await fetch(`${url}/open-apis${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const json = (await response.json()) as Omit<Reply, 'status' | 'headers'>
    return { status: response.status, headers: response.headers, ...json }
  }
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly code: number
  readonly msg: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Waits until the condition holds; fails after ten seconds. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export const textOf = (text: string): string => JSON.stringify({ text })

export const card = (elements: readonly object[], config: object = { update_multi: true }): string =>
  JSON.stringify({ schema: '2.0', config, body: { elements } })
