import type { Clock } from '../../lib/time.js'
import type { Logger } from '../../lib/log.js'

export const sandboxModes = ['workspace-write', 'workspace-only', 'read-only', 'danger-full-access'] as const
export type SandboxMode = (typeof sandboxModes)[number]

/** What an operator may set; `app` reads it from the environment. */
export interface CodexSettings {
  /** Path of the binary (CODEX_BIN); empty: it is looked for. */
  readonly bin: string
  /** Absolute path of the folder in which private homes stand; made when it is missing. */
  readonly homes: string
  /** Empty: `gpt-6-astra`. */
  readonly model: string
  /** Empty: `high`. */
  readonly effort: string
  /** Of the owner's own sessions; a restricted one is always confined to its workspace. */
  readonly sandbox: SandboxMode
  /** May commands of the owner's own sessions use the network? `read-only` never may, full access always. */
  readonly network: boolean
  /** The one variable that a model provider of the operator's own needs (CODEX_KEY_ENV); empty: none. */
  readonly credential: Readonly<Record<string, string>>
}

export interface CodexOptions extends CodexSettings {
  /** The agent's whole environment, built by `app` without any secret of the gateway. */
  readonly env: Readonly<Record<string, string>>
  readonly logger: Logger
  readonly newId: () => string
  readonly clock: Clock
  /** How long a group may take after SIGTERM before SIGKILL. Milliseconds; 1 000 by default. */
  readonly killAfterMs?: number
  /** How long codex may take to end an interrupted turn before its group is ended. Milliseconds; 1 000 by default. */
  readonly interruptMs?: number
  /** How long it may take to start and open its thread. Milliseconds; 60 000 by default. */
  readonly openMs?: number
  /** How long a thread that another process still writes is asked for again. Milliseconds; 5 000 by default. */
  readonly writerWaitMs?: number
  /** A process without a turn for so long is ended; the next turn starts it again. Milliseconds; 10 minutes by default. */
  readonly idleMs?: number
}

/** The options with every default in place. */
export type CodexDeps = Required<CodexOptions>

/** @source RFC §5.1: the existing strong default of the Codex adapter */
export const DEFAULT_MODEL = 'gpt-6-astra'
export const DEFAULT_EFFORT = 'high'
