import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { codexBinary } from '../test/kit/codex-bench.js'
import { scriptedModel } from '../test/kit/codex-script.js'
import { mockConfig, mockResponses } from '../test/kit/mock-responses.js'
import { until } from './process.js'

const MODEL = 'mock-model'
const KEY = 'bench-mock-key'

/** The real codex in front of a model of ours that follows the `!` lines of a message (`test/kit/codex-script.ts`). */
export interface CodexRig {
  readonly root: string
  /** The private CODEX_HOME that a gateway uses for its owners. */
  readonly home: string
  /** For a gateway whose manager it is. */
  readonly env: Readonly<Record<string, string>>
  /** A home of its own with the same model, that no gateway uses. */
  otherHome(): string
  /** When the model was asked with these words and this many outputs of tools behind them. By this machine's clock. */
  asked(words: string, outputs: number): Promise<number>
  bare(home: string, workspace: string): Promise<BareCodex>
  stop(): Promise<void>
}

/** One `codex app-server` as it is, with nothing of ours but a client of a few lines. */
export interface BareCodex {
  readonly pid: number
  /** Starts a thread, or resumes the one that is named; its id. */
  open(thread: string | null): Promise<string>
  /** Resolves at the end of the turn. */
  turn(thread: string, text: string): Promise<void>
  stop(): Promise<void>
}

export async function openCodexRig(): Promise<CodexRig> {
  if (codexBinary === null) throw new Error('install it first: npm ci --prefix test/runtimes --ignore-scripts')
  // Not below the system's folder for temporary files: codex warns there.
  const root = mkdtempSync('/var/tmp/lark-manager-bench-codex-')
  // A copy, so that whoever else runs codex now shares no page of it with what is measured.
  const program = dirname(dirname(codexBinary))
  cpSync(program, join(root, 'program'), { recursive: true })
  const file = join(root, 'program', 'bin', basename(codexBinary))
  const requests: { readonly words: string; readonly outputs: number; readonly at: number }[] = []
  const answer = scriptedModel({ kill: () => {}, garble: () => {} })
  const mock = await mockResponses((request) => {
    requests.push({ words: request.messages.at(-1) ?? '', outputs: request.outputs.length, at: Date.now() })
    return answer(request)
  })
  const homeIn = (...names: readonly string[]): string => {
    const home = join(root, ...names)
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, 'config.toml'), mockConfig(mock.baseUrl))
    return home
  }
  const home = homeIn('codex', 'owner')
  return {
    root,
    home,
    env: {
      DATA_DIR: root,
      HOME: root,
      MANAGER_ENDPOINT: 'codex',
      MANAGER_MODEL: MODEL,
      CODEX_BIN: file,
      CODEX_KEY_ENV: 'MOCK_KEY',
      MOCK_KEY: KEY,
    },
    otherHome: () => homeIn('bare'),
    asked: (words, outputs) =>
      until(
        async () => requests.find((one) => one.words.includes(words) && one.outputs === outputs)?.at ?? null,
        `the model to be asked for ${words}`,
        120_000,
      ),
    bare: (codexHome, workspace) => startBare(file, workspace, { HOME: root, CODEX_HOME: codexHome, MOCK_KEY: KEY }),
    async stop() {
      await mock.close()
      rmSync(root, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

async function startBare(file: string, workspace: string, env: Readonly<Record<string, string>>): Promise<BareCodex> {
  mkdirSync(workspace, { recursive: true })
  const child = spawn(file, ['app-server'], {
    cwd: workspace,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const waiting = new Map<number, (message: Message) => void>()
  let ended: (() => void) | null = null
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message
    if (message.method === 'turn/completed') ended?.()
    if (message.method === undefined && message.id !== undefined) waiting.get(message.id)?.(message)
  })
  let next = 0
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`)
  const request = async (method: string, params: object): Promise<Message['result']> => {
    const id = next++
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve))
    send({ id, method, params })
    const { error, result } = await answered
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
  await request('initialize', {
    clientInfo: { name: 'bench', title: 'bench', version: '0' },
    capabilities: { experimentalApi: true },
  })
  send({ method: 'initialized' })
  return {
    pid: child.pid ?? 0,
    async open(thread) {
      const how = { cwd: workspace, model: MODEL, sandbox: 'workspace-write', approvalPolicy: 'never' }
      const opened = await (thread === null
        ? request('thread/start', how)
        : request('thread/resume', { ...how, threadId: thread, excludeTurns: true }))
      return opened?.thread?.id ?? ''
    },
    async turn(thread, text) {
      const end = new Promise<void>((resolve) => (ended = resolve))
      await request('turn/start', { threadId: thread, input: [{ type: 'text', text }], model: MODEL, effort: 'high' })
      await end
    },
    async stop() {
      process.off('exit', kill)
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.stdin.end()
      await exit
    },
  }
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: { readonly thread?: { readonly id?: string } }
  readonly error?: { readonly message: string }
}
