import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { newSecret } from '../src/app/chance.js'
import { silentLogger } from '../src/lib/log.js'
import type { SandboxStats } from '../src/sandbox/stats.js'
import { seedIds } from '../src/sandbox/seed.js'
import type { WorldMessage } from '../src/sandbox/world.js'
import { startEmbedded } from '../src/stores/embedded/postgres.js'
import { redisMissing, startRedis, type TestRedis } from '../test/kit/redis.js'
import { start, until, type Started } from './process.js'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const APP_ID = 'cli_a1b2c3d4e5f60718'
const APP_SECRET = 'bench-secret'
const TOKEN = 'bench-admin-token-0123456789abcdef'

export interface RigOptions {
  /** Writes a CPU profile of each gateway into this folder. */
  readonly profile: string | null
}

/** Postgres as the product starts it, with fsync, and a Redis of its own. Everything else is started per measurement. */
export interface Rig {
  readonly redis: TestRedis
  readonly versions: { readonly postgres: string; readonly redis: string }
  readonly pids: { readonly postgres: number; readonly redis: number }
  /** An empty database of its own; the gateway migrates it. */
  database(): Promise<string>
  gateway(env: Readonly<Record<string, string>>, args?: readonly string[]): Promise<Gateway>
  sandbox(args: readonly string[]): Promise<Sandbox>
  stop(): Promise<void>
}

export interface Gateway extends Started<string> {
  readonly url: string
}

/** The sandbox in its own process, driven by its control routes. */
export interface Sandbox {
  readonly url: string
  readonly ids: typeof seedIds
  post<T>(path: string, body: object): Promise<T>
  stats(): Promise<SandboxStats>
  messages(chatId: string): Promise<readonly WorldMessage[]>
  stop(): Promise<void>
}

export async function openRig(options: RigOptions): Promise<Rig> {
  if (redisMissing !== null) throw new Error(redisMissing)
  if (!existsSync(join(root, 'dist', 'src', 'main.js'))) throw new Error('build first: npm run build')
  const folder = mkdtempSync(join(tmpdir(), 'lark-manager-bench-'))
  const server = await startEmbedded({ dataDir: join(folder, 'data'), logger: silentLogger, newSecret })
  const redis = await startRedis()
  const admin = postgres(server.url, { max: 1, onnotice: () => {} })
  const [version] = await admin<{ v: string }[]>`select current_setting('server_version') as v`
  let count = 0

  return {
    redis,
    pids: { postgres: server.pid, redis: Number(await redisInfo(redis, 'process_id')) },
    versions: { postgres: version?.v ?? '?', redis: await redisInfo(redis, 'redis_version') },
    async database() {
      count += 1
      const name = `bench_${count}`
      await admin.unsafe(`create database ${name} template template0`)
      const url = new URL(server.url)
      url.pathname = `/${name}`
      return url.toString()
    },
    async gateway(env, args = []) {
      const dataDir = mkdtempSync(join(folder, 'gateway-'))
      const profile = options.profile === null ? [] : ['--cpu-prof', '--cpu-prof-dir', options.profile]
      const gateway = await start(
        {
          program: process.execPath,
          args: [...profile, 'dist/src/main.js', 'start', ...args],
          cwd: root,
          env: {
            HOST: '127.0.0.1',
            PORT: '0',
            DATA_DIR: dataDir,
            ADMIN_TOKEN: TOKEN,
            LARK_APP_ID: APP_ID,
            LARK_APP_SECRET: APP_SECRET,
            LARK_OWNER_OPEN_IDS: seedIds.alice,
            MANAGER_ENDPOINT: 'rehearsal',
            LOG_FORMAT: 'json',
            ...env,
          },
        },
        (line) => (line.startsWith('ready ') ? line.slice('ready '.length) : null),
      )
      await until(async () => (await fetch(`${gateway.ready}/readyz`)).ok, 'readiness')
      return { ...gateway, url: gateway.ready }
    },
    async sandbox(args) {
      const sandbox = await start(
        {
          program: process.execPath,
          args: ['dist/src/sandbox/main.js', '--app-id', APP_ID, '--app-secret', APP_SECRET, ...args],
          cwd: root,
          env: {},
        },
        (line) => JSON.parse(line) as { url: string; ids: typeof seedIds },
      )
      const { url, ids } = sandbox.ready
      const get = async <T>(path: string): Promise<T> => (await (await fetch(`${url}/sandbox${path}`)).json()) as T
      return {
        url,
        ids,
        async post<T>(path: string, body: object): Promise<T> {
          const response = await fetch(`${url}/sandbox${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          })
          if (!response.ok) throw new Error(`the sandbox answered ${response.status}: ${await response.text()}`)
          return (await response.json()) as T
        },
        stats: () => get('/stats'),
        messages: (chatId) => get(`/messages?chat=${encodeURIComponent(chatId)}`),
        stop: sandbox.stop,
      }
    },
    async stop() {
      await admin.end({ timeout: 2 })
      await redis.stop()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function redisInfo(redis: TestRedis, name: string): Promise<string> {
  const client = new Redis(redis.url)
  const info = await client.info('server')
  client.disconnect()
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? '?'
}
