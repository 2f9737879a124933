/**
 * What a file of 30 MB costs a gateway in memory, on its way in and on its way out: how far its resident memory rose at
 * most above where it stood before. `npx tsx bench/attachment.ts [megabytes]`, on Linux; `--agent` is the agent of it.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Readable, Writable } from 'node:stream'
import { agent, ndJsonStream, type PromptResponse } from '@agentclientprotocol/sdk'
import { newSecret } from '../src/app/chance.js'
import { silentLogger } from '../src/lib/log.js'
import { seedIds, seedSandboxWorld } from '../src/sandbox/seed.js'
import { serveSandbox } from '../src/sandbox/serve.js'
import { startEmbedded } from '../src/stores/embedded/postgres.js'
import { bindOwner } from '../src/stores/principals/principals.js'
import { openDb } from '../src/stores/db.js'
import { pause, start, until } from './process.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const app = { appId: 'cli_a1b2c3d4e5f60718', appSecret: 'bench-secret', botName: 'Manager' }

await (process.argv.includes('--agent') ? act() : measure(Number(process.argv[2] ?? 30)))

/** Gives a file of the size that the owner's message names, in MB. */
async function act(): Promise<void> {
  let folder = ''
  agent({ name: 'attachment' })
    .onRequest('initialize', () => ({
      protocolVersion: 1,
      agentInfo: { name: 'attachment', version: '1.0.0' },
      agentCapabilities: {},
    }))
    .onRequest('session/new', ({ params }) => {
      folder = params.cwd
      return { sessionId: 'one' }
    })
    .onRequest('session/prompt', async ({ params, client }): Promise<PromptResponse> => {
      const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
      const megabytes = /give (\d+)/u.exec(text)?.[1]
      const say = (content: object) =>
        client.notify('session/update', {
          sessionId: params.sessionId,
          update: { sessionUpdate: 'agent_message_chunk', content } as never,
        })
      if (megabytes !== undefined) {
        const path = join(folder, 'measured.bin')
        writeFileSync(path, randomBytes(Number(megabytes) * 1_000_000))
        await say({ type: 'resource_link', name: 'measured.bin', uri: pathToFileURL(path).href })
      }
      await say({ type: 'text', text: 'done' })
      return { stopReason: 'end_turn' }
    })
    .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>))
}

async function measure(megabytes: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lark-manager-attachment-'))
  const database = await startEmbedded({ dataDir: join(folder, 'data'), logger: silentLogger, newSecret })
  const served = await serveSandbox({
    clock: { now: () => Date.now() },
    newId: () => crypto.randomUUID(),
    app,
    events: { mode: 'websocket', client: { ReconnectNonce: 0, ReconnectInterval: 1 } },
    rates: false,
  })
  seedSandboxWorld(served.sandbox)
  const { world } = served.sandbox
  const gateway = await start(
    {
      program: process.execPath,
      args: ['--import', 'tsx', 'src/main.ts', 'start'],
      cwd: root,
      env: {
        HOST: '127.0.0.1',
        PORT: '0',
        DATA_DIR: join(folder, 'gateway'),
        DATABASE_URL: database.url,
        ADMIN_TOKEN: 'bench-admin-token-0123456789abcdef',
        LARK_APP_ID: app.appId,
        LARK_APP_SECRET: app.appSecret,
        LARK_BASE_URL: served.url,
        LARK_OWNER_OPEN_IDS: seedIds.alice,
        MANAGER_ENDPOINT: 'acp',
        MANAGER_COMMAND: `${process.execPath} ${join(root, 'node_modules/tsx/dist/cli.mjs')} ${join(root, 'bench/attachment.ts')} --agent`,
        LOG_LEVEL: 'error',
      },
    },
    (line) => (line.startsWith('ready ') ? line.slice('ready '.length) : null),
  )
  const db = openDb({ url: database.url, max: 1, logger: silentLogger })
  try {
    await bindOwner(db.sql, { bot: app.appId, openId: seedIds.alice, directChat: seedIds.dm }, Date.now())
    const { dm: chatId, alice: from } = seedIds
    const said = (type: string): number =>
      world.messages(chatId).filter((one) => one.sender === 'bot' && one.msgType === type).length
    const answered = async (ask: () => void, type: string) => {
      const before = said(type)
      ask()
      await until(async () => said(type) > before, `one more ${type}`, 120_000)
      await pause(500)
    }
    // Once beforehand: what is loaded at the first use counts for nothing.
    await answered(() => void world.say({ chatId, from, text: 'give 1' }), 'file')
    process.stdout.write('| way | bytes | memory before | risen by at most |\n| --- | --- | --- | --- |\n')
    for (let round = 0; round < 3; round++) {
      for (const way of ['in', 'out'] as const) {
        const before = await settled(gateway.pid)
        clearPeak(gateway.pid)
        if (way === 'in') {
          const bytes = randomBytes(megabytes * 1_000_000)
          const fileName = `measured-${round}.bin`
          await answered(() => void world.sayFile({ chatId, from, fileName, bytes, kind: 'file' }), 'text')
        } else await answered(() => void world.say({ chatId, from, text: `give ${megabytes}` }), 'file')
        const most = memoryOf(gateway.pid, 'VmHWM')
        process.stdout.write(`| ${way} | ${megabytes * 1_000_000} | ${mb(before)} | +${mb(most - before)} |\n`)
      }
    }
  } finally {
    await gateway.stop()
    await db.close()
    await served.close()
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Bytes of the process, once they have stood still for a moment. */
async function settled(pid: number): Promise<number> {
  await pause(3_000)
  return memoryOf(pid, 'VmRSS')
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const found = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(found?.[1] ?? 0) * 1024
}

/** The highest mark begins anew. */
function clearPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`
}
