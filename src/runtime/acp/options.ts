import type { Clock } from '../../lib/time.js'
import type { Logger } from '../../lib/log.js'
import type { Confiner } from '../confine/confiner.js'

export interface Bridge {
  /** Absolute path. */
  readonly command: string
  readonly args: readonly string[]
}

export interface AcpOptions {
  /** A command line, split without a shell. */
  readonly command: string
  /** What the operator calls it; MANAGER_COMMAND by default. */
  readonly commandName?: string
  /** The agent's whole environment, built by `app` without any secret of the gateway. */
  readonly env: Readonly<Record<string, string>>
  readonly logger: Logger
  readonly newId: () => string
  /** Our own command line, up to its options: carries the tools to an agent that speaks MCP on stdio only. */
  readonly bridge?: Bridge | null
  /** What confines restricted sessions; absent: there is nothing, and they are refused. */
  readonly confiner?: Confiner | null
  readonly clock: Clock
  /** How long a group may take after SIGTERM before SIGKILL. Milliseconds; 1 000 by default. */
  readonly killAfterMs?: number
  /** How long an agent may take to end a cancelled turn before its group is ended. Milliseconds; 1 000 by default. */
  readonly cancelMs?: number
  /** How long an agent may take to start and open its session. Milliseconds; 60 000 by default. */
  readonly openMs?: number
  /** A process without a turn for so long is ended; the next turn starts it again. Milliseconds; 10 minutes by default. */
  readonly idleMs?: number
}

/** The options with every default in place. */
export type AcpSettings = Required<AcpOptions>
