import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SandboxOptions } from '../../src/sandbox/sandbox.js'
import { seedIds, seedSandboxWorld } from '../../src/sandbox/seed.js'
import { serveSandbox, type ServedSandbox } from '../../src/sandbox/serve.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import type { Db } from '../../src/stores/db.js'
import { bindOwner } from '../../src/stores/principals/principals.js'
import { freshDb } from './pg.js'

export const APP_ID = 'cli_a1b2c3d4e5f60718'
export const TOKEN = 'test-admin-token-0123456789abcdef'
const SECRET = 'sandbox-secret'

export interface PlatformOptions {
  readonly redisUrl?: string
  readonly env?: Readonly<Record<string, string>>
  /** False: nobody is bound. */
  readonly owners?: boolean
  /** Replaces what the sandbox takes our app to be. */
  readonly app?: Partial<SandboxOptions['app']>
  readonly events?: SandboxOptions['events']
  readonly rates?: boolean
}

/** A database, a served sandbox with the small world in it, and the environment of a gateway that uses both. */
export interface Platform {
  readonly served: ServedSandbox
  readonly db: Db
  readonly databaseUrl: string
  readonly ids: typeof seedIds
  readonly token: string
  readonly dataDir: string
  readonly env: NodeJS.ProcessEnv
  /** What the bot has said in a chat, oldest first. */
  answers(chatId: string): readonly WorldMessage[]
  /** Waits until nothing is owed any more: every wake is done. */
  quiet(ms?: number): Promise<void>
  /** The emoji of our own reactions on a message. */
  receipts(chatId: string, messageId: string): readonly string[]
  close(): Promise<void>
}

export async function openPlatform(options: PlatformOptions): Promise<Platform> {
  const fresh = await freshDb()
  const appId = options.app?.appId ?? APP_ID
  const served = await serveSandbox({
    clock: { now: () => Date.now() },
    newId: () => crypto.randomUUID(),
    app: { appId, appSecret: SECRET, botName: 'Manager', ...options.app },
    events: options.events ?? { mode: 'websocket', client: { ReconnectNonce: 0, ReconnectInterval: 1 } },
    rates: options.rates ?? false,
  })
  seedSandboxWorld(served.sandbox)
  if (options.owners !== false) {
    await bindOwner(fresh.db.sql, { bot: appId, openId: seedIds.alice, directChat: seedIds.dm }, Date.now())
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'lark-manager-test-'))
  const { world } = served.sandbox
  return {
    served,
    db: fresh.db,
    databaseUrl: fresh.url,
    ids: seedIds,
    token: TOKEN,
    dataDir,
    env: {
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDir,
      DATABASE_URL: fresh.url,
      ADMIN_TOKEN: TOKEN,
      LARK_APP_ID: appId,
      LARK_APP_SECRET: SECRET,
      LARK_BASE_URL: served.url,
      LARK_PACING: 'off',
      MANAGER_ENDPOINT: 'rehearsal',
      SWEEP_GRACE_MS: '1000',
      LOG_FORMAT: 'json',
      ...(options.owners === false ? {} : { LARK_OWNER_OPEN_IDS: seedIds.alice }),
      PATH: process.env['PATH'],
      ...(options.redisUrl === undefined ? {} : { REDIS_URL: options.redisUrl }),
      ...options.env,
    },
    answers: (chatId) => world.messages(chatId).filter((message) => message.sender === 'bot'),
    async quiet(ms = 20_000) {
      const open = () => fresh.db.sql<{ kind: string; state: string }[]>`
        select kind, state, due_at - ${Date.now()} as "dueIn", last_error as error
        from collab.wakes where state <> 'done' and not (kind = 'upkeep' and due_at > ${Date.now() + 60_000})`
      await until(async () => (await open()).length === 0, 'every wake to be done', ms).catch(async (error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify((await open()).slice(0, 5))}`)
      })
    },
    receipts: (chatId, messageId) =>
      (world.messages(chatId).find((message) => message.id === messageId)?.reactions ?? [])
        .filter((reaction) => reaction.by === 'bot')
        .map((reaction) => reaction.emoji),
    async close() {
      await served.close()
      await fresh.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Waits for a condition, looking often; names what was waited for when it does not come. */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string,
  ms = 20_000,
): Promise<Exclude<T, false | null | undefined>> {
  const end = performance.now() + ms
  for (;;) {
    const seen = await look()
    if (seen !== false && seen !== null && seen !== undefined) return seen as Exclude<T, false | null | undefined>
    if (performance.now() > end) throw new Error(`waited ${ms} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}
