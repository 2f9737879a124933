import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { must } from '../../src/lib/assert.js'
import { silentLogger } from '../../src/lib/log.js'
import { findCodex } from '../../src/runtime/codex/binary.js'
import type { CodexOptions } from '../../src/runtime/codex/options.js'
import { scriptedModel } from './codex-script.js'
import { type Brain, mockConfig, type MockResponses, mockResponses } from './mock-responses.js'

const runtimes = fileURLToPath(new URL('../runtimes', import.meta.url))
const found = findCodex('', '', join(runtimes, 'node_modules'))
const installed = found.found && found.file.startsWith(runtimes)

/** The real program; its tests are skipped, and counted as such, where it is not installed. */
export const codexBinary: string | null = installed ? found.file : null

export interface CodexBench {
  readonly mock: MockResponses
  /** A folder that is not below the system's folder for temporary files: codex warns there. */
  readonly root: string
  readonly home: string
  options(more?: Partial<CodexOptions>): CodexOptions
  /** For a gateway that runs its manager on this codex; its DATA_DIR is `root`. */
  readonly gatewayEnv: Readonly<Record<string, string>>
  /** Process ids of every codex that was started here, oldest first. */
  pids(): readonly number[]
  /** Writes into what codex says; resolves when all of it was taken. */
  inject(text: string): Promise<void>
  close(): Promise<void>
}

/**
 * A private home whose model provider is a mock that follows scripts, and the real binary behind a few lines of shell
 * that note its process id and can mix lines into what it says.
 */
export async function codexBench(brain?: Brain): Promise<CodexBench> {
  const root = await mkdtemp('/var/tmp/lark-manager-codex-')
  const [noted, fifos, home] = [join(root, 'pids'), join(root, 'fifos'), join(root, 'codex', 'owner')]
  for (const folder of [fifos, home]) mkdirSync(folder, { recursive: true })
  writeFileSync(noted, '')
  const bin = join(root, 'codex-shim')
  writeFileSync(bin, shim(must(codexBinary ?? undefined, 'codex'), noted, fifos), { mode: 0o755 })
  const pids = (): readonly number[] => readFileSync(noted, 'utf8').trim().split('\n').filter(Boolean).map(Number)
  // Not at once: a pipe takes little, and who empties it may wait for us.
  const inject = (text: string): Promise<void> =>
    // Who was to take it may have ended for what it read.
    appendFile(join(fifos, String(pids().at(-1))), text).catch(() => {})
  const kill = (): void => void process.kill(must(pids().at(-1), 'a process'), 'SIGKILL')
  const mock = await mockResponses(brain ?? scriptedModel({ kill, garble: () => void inject('Segmentation fault\n') }))
  for (const one of [home, join(root, 'codex', 'restricted')]) {
    mkdirSync(one, { recursive: true })
    writeFileSync(join(one, 'config.toml'), mockConfig(mock.baseUrl))
  }
  return {
    mock,
    root,
    home,
    gatewayEnv: {
      DATA_DIR: root,
      HOME: root,
      MANAGER_ENDPOINT: 'codex',
      MANAGER_MODEL: 'mock-model',
      CODEX_BIN: bin,
      CODEX_KEY_ENV: 'MOCK_KEY',
      MOCK_KEY: 'mock-key-canary',
    },
    pids,
    inject,
    options: (more = {}) => ({
      bin,
      homes: dirname(home),
      model: 'mock-model',
      effort: '',
      sandbox: 'workspace-write',
      network: false,
      credential: { MOCK_KEY: 'mock-key-canary' },
      env: { PATH: process.env['PATH'] ?? '', HOME: root },
      logger: silentLogger,
      newId: () => randomUUID(),
      clock: { now: () => Date.now() },
      killAfterMs: 500,
      ...more,
    }),
    async close() {
      await mock.close()
      await rm(root, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** A pipe is there only while somebody may write into it; opened both ways it is never at its end. */
function shim(codex: string, noted: string, fifos: string): string {
  return `#!/bin/sh
case "$1" in app-server) ;; *) exec '${codex}' "$@" ;; esac
echo $$ >> '${noted}'
mkfifo '${fifos}/'$$
cat 0<> '${fifos}/'$$ &
exec '${codex}' "$@"
`
}

export const hasCodex = existsSync(codexBinary ?? '')
