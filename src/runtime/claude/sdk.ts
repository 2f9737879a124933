import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/**
 * The narrow part of `@anthropic-ai/claude-agent-sdk` that is used here, written by hand: the package is an optional
 * peer under a licence of its own, so neither types nor code of it may be needed to build this program.
 */
export interface ClaudeSdk {
  query(of: { readonly prompt: AsyncIterable<UserMessage>; readonly options: QueryOptions }): Query
}

export interface UserMessage {
  readonly type: 'user'
  /** Ours; it comes back in the replay and in the transcript. */
  readonly uuid: string
  readonly session_id: string
  readonly parent_tool_use_id: null
  readonly message: { readonly role: 'user'; readonly content: readonly ContentBlock[] }
}

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image'
      readonly source: { readonly type: 'base64'; readonly media_type: string; readonly data: string }
    }

export interface Query extends AsyncIterable<unknown> {
  /** Resolves when the process has answered its first control request: it runs and has the session. */
  initializationResult(): Promise<unknown>
  interrupt(options?: { readonly cancelQueued?: boolean }): Promise<unknown>
  close(): void
}

export type PermissionAnswer =
  | { readonly behavior: 'allow'; readonly updatedInput: Readonly<Record<string, unknown>> }
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: boolean }

export interface SpawnRequest {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal | undefined
}

/** What the SDK wants to see of a process that it did not start itself. */
export interface SpawnedProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly killed: boolean
  readonly exitCode: number | null
  readonly signalCode: NodeJS.Signals | null
  kill(signal: NodeJS.Signals): boolean
  on: ChildProcess['on']
  once: ChildProcess['once']
  off: ChildProcess['off']
}

export interface QueryOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly sessionId?: string
  readonly resume?: string
  readonly model?: string
  readonly effort?: string
  readonly pathToClaudeCodeExecutable?: string
  readonly permissionMode: string
  readonly settingSources: readonly string[]
  readonly settings: {
    readonly cleanupPeriodDays: number
    readonly permissions: { readonly allow: readonly string[]; readonly deny: readonly string[] }
  }
  readonly strictMcpConfig: boolean
  readonly mcpServers: Readonly<Record<string, unknown>>
  readonly mcpServersDelivery: 'initialize'
  readonly disallowedTools: readonly string[]
  readonly systemPrompt: { readonly type: 'preset'; readonly preset: 'claude_code'; readonly append?: string }
  readonly includePartialMessages: boolean
  readonly extraArgs: Readonly<Record<string, string | null>>
  readonly abortController: AbortController
  readonly stderr: (text: string) => void
  readonly canUseTool: (
    name: string,
    input: Readonly<Record<string, unknown>>,
    of: { readonly signal: AbortSignal; readonly toolUseID: string },
  ) => Promise<PermissionAnswer>
  readonly spawnClaudeCodeProcess: (request: SpawnRequest) => SpawnedProcess
}

export const PACKAGE = '@anthropic-ai/claude-agent-sdk'

/** The version that the tests run on. */
export const TESTED = '0.3.332'

export type LoadedSdk =
  | { readonly loaded: true; readonly sdk: ClaudeSdk }
  | { readonly loaded: false; readonly detail: string; readonly mend: string }

/**
 * Loads the package when it is first needed.
 *
 * @param from a file URL or a package name; a name is looked for where this program is installed
 */
export async function loadSdk(from: string): Promise<LoadedSdk> {
  try {
    const module: unknown = await import(/* @vite-ignore */ from)
    if (typeof module === 'object' && module !== null && 'query' in module && typeof module.query === 'function') {
      return { loaded: true, sdk: module as ClaudeSdk }
    }
    return { loaded: false, detail: `what stands in the place of ${PACKAGE} is something else`, mend }
  } catch (error) {
    const missing = (error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND'
    return { loaded: false, detail: `${PACKAGE} ${missing ? 'is not installed' : 'cannot be loaded'}`, mend }
  }
}

const mend = `install it beside the gateway: npm install --no-save ${PACKAGE}@${TESTED}`
