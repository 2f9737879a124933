import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { silentLogger } from '../../src/lib/log.js'
import type { ClaudeOptions } from '../../src/runtime/claude/options.js'
import { type Answer, type MessagesRequest, type MockMessages, mockMessages } from './mock-messages.js'
import { processesWith, scriptedModel } from './claude-script.js'

/** Full path of the real SDK's entry. */
export const claudeSdk = fileURLToPath(
  new URL('../runtimes/node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs', import.meta.url),
)

/** Is the real program here? Its tests are skipped, and counted as such, where it is not. */
export const hasClaude = existsSync(claudeSdk)

export interface ClaudeBench {
  readonly mock: MockMessages
  /** The folder that all runtimes of this bench share, as gateways on one DATA_DIR do. */
  readonly home: string
  options(more?: Partial<ClaudeOptions>): ClaudeOptions
  /** Process ids of the agents and their commands that are there now. */
  processes(): readonly number[]
  close(): Promise<void>
}

/** A folder, and a model endpoint that follows scripts, for the real `claude`. */
export async function claudeBench(brain?: (request: MessagesRequest) => Answer): Promise<ClaudeBench> {
  const home = await mkdtemp(join(tmpdir(), 'claude-home-'))
  const mock: MockMessages = await mockMessages(
    brain ??
      scriptedModel(() => {
        for (const pid of processesWith(`CLAUDE_CONFIG_DIR=${home}`)) process.kill(pid, 'SIGKILL')
      }),
  )
  return {
    mock,
    home,
    options: (more = {}) => ({
      homes: home,
      bin: '',
      model: '',
      effort: '',
      permissionMode: 'acceptEdits',
      env: { PATH: process.env['PATH'] ?? '', HOME: home, CLAUDE_CODE_MAX_RETRIES: '0' },
      credential: { ANTHROPIC_API_KEY: 'sk-ant-canary-key', ANTHROPIC_BASE_URL: mock.url },
      sdk: pathToFileURL(claudeSdk).href,
      logger: silentLogger,
      newId: () => randomUUID(),
      clock: { now: () => Date.now() },
      cancelMs: 1000,
      killAfterMs: 500,
      ...more,
    }),
    processes: () => processesWith(`CLAUDE_CONFIG_DIR=${home}`),
    async close() {
      await mock.close()
      await rm(home, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
