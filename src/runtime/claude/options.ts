import type { Clock } from '../../lib/time.js'
import type { Logger } from '../../lib/log.js'
import type { Confiner } from '../confine/confiner.js'

/** What is done without asking; the first is the usual one. */
export const permissionModes = ['acceptEdits', 'default', 'dontAsk', 'bypassPermissions'] as const
export type PermissionMode = (typeof permissionModes)[number]

/** What an operator may set; `app` reads it from the environment. */
export interface ClaudeSettings {
  /** Absolute path of the folder in which private homes stand, on the disk that all gateways of one installation share. */
  readonly homes: string
  /** Absolute path of an installed `claude` (CLAUDE_BIN); empty: the one that came with the SDK. */
  readonly bin: string
  /** Where the SDK is: its name, or a file URL of its entry (CLAUDE_SDK). */
  readonly sdk: string
  /** Empty: the runtime's own. */
  readonly model: string
  readonly effort: string
  readonly permissionMode: PermissionMode
  /** What only this runtime may see: its endpoint, and the one variable that CLAUDE_KEY_ENV names. */
  readonly credential: Readonly<Record<string, string>>
}

export interface ClaudeOptions extends ClaudeSettings {
  /** The agent's environment, built by `app` without any secret of the gateway. */
  readonly env: Readonly<Record<string, string>>
  readonly logger: Logger
  readonly newId: () => string
  readonly clock: Clock
  /** What confines restricted sessions; absent: there is nothing, and they are refused. */
  readonly confiner?: Confiner | null
  /** How long a group may take after SIGTERM before SIGKILL. Milliseconds; 1 000 by default. */
  readonly killAfterMs?: number
  /** How long an interrupted turn may take to end before its group is ended. Milliseconds; 1 000 by default. */
  readonly cancelMs?: number
  /** How long the program may take to start and open its session. Milliseconds; 60 000 by default. */
  readonly openMs?: number
  /** A process without a turn for so long is ended; the next turn starts it again. Milliseconds; 10 minutes by default. */
  readonly idleMs?: number
}

/** The options with every default in place. */
export type ClaudeDeps = Required<ClaudeOptions>
