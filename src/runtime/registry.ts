import type { Clock } from '../lib/time.js'
import type { Logger } from '../lib/log.js'
import { unreachable } from '../lib/assert.js'
import { createAcpRuntime } from './acp/adapter.js'
import type { Bridge } from './acp/options.js'
import { createClaudeRuntime } from './claude/adapter.js'
import type { ClaudeSettings } from './claude/options.js'
import { createCodexRuntime } from './codex/adapter.js'
import type { Confiner } from './confine/confiner.js'
import type { CodexSettings } from './codex/options.js'
import type { HostedRuntime } from './hosted.js'
import { createRehearsalRuntime } from './rehearsal/adapter.js'
import { unavailableRuntime } from './unavailable.js'

/** What MANAGER_ENDPOINT may name. */
export const endpoints = ['rehearsal', 'acp', 'codex', 'claude'] as const

/**
 * Hosts that are known and cannot hold a conversation: each runs one bounded piece of work per request. Whoever names one
 * is told so by the word that outsiders know, not that the name is unknown.
 */
export const hostsWithoutChat = ['dsh'] as const

export type Endpoint = (typeof endpoints)[number] | (typeof hostsWithoutChat)[number]

export interface RuntimeChoice {
  readonly endpoint: Endpoint
  /** Only `acp` reads it. */
  readonly command?: string
  /** What the operator calls it; absent: MANAGER_COMMAND. */
  readonly commandName?: string
}

export interface RuntimeDeps {
  readonly logger: Logger
  readonly newId: () => string
  readonly clock: Clock
  /** The agent's whole environment, built by `app` without any secret of the gateway. */
  readonly env: Readonly<Record<string, string>>
  /** Our own command line, for agents that speak MCP on stdio only. */
  readonly bridge?: Bridge
  /** What confines whole agent processes; absent: nothing does, and what needs it is refused. */
  readonly confiner?: Confiner | null
  /** Only `codex` reads it. */
  readonly codex: CodexSettings
  /** Only `claude` reads it. */
  readonly claude: ClaudeSettings
  readonly killAfterMs?: number
  readonly idleMs?: number
}

/** The one place where a name becomes an adapter. Nothing falls back to another one. */
export function createRuntime(choice: RuntimeChoice, deps: RuntimeDeps): HostedRuntime {
  switch (choice.endpoint) {
    case 'rehearsal':
      return createRehearsalRuntime(deps)
    case 'acp':
      return createAcpRuntime({
        ...deps,
        command: choice.command ?? '',
        commandName: choice.commandName ?? 'MANAGER_COMMAND',
      })
    case 'codex': {
      const { codex, ...rest } = deps
      return createCodexRuntime({ ...rest, ...codex })
    }
    case 'claude': {
      const { claude, ...rest } = deps
      return createClaudeRuntime({ ...rest, ...claude })
    }
    case 'dsh':
      return unavailableRuntime(
        choice.endpoint,
        `managed_host_chat_transport_unsupported: ${choice.endpoint} runs one bounded piece of work per request and holds no conversation; choose one of ${endpoints.join(', ')}`,
      )
    default:
      return unreachable(choice.endpoint)
  }
}
