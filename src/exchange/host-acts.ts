import { decideNoteEndedWithTurn, decideNoteHostRefusal } from '../collab/decide/host-acts.js'
import { NAME_LENGTH, type HostRefusal } from '../collab/host-refusal.js'
import type { AgentId, Instant, TextDigest, TurnId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { uuidFrom } from '../lib/digest.js'
import { writeAudit } from '../stores/sessions/audit.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { digestOfText, eventIdOf } from './ids.js'
import { scopeOf } from './open.js'

/** Of one turn; an agent that runs against a wall again and again says nothing new with it. */
const KEPT = 50

/** What the host of one turn did by itself. */
export interface HostActs {
  refused(refusal: HostRefusal): Promise<void>
  /** It ended a command that the turn had left running. */
  ended(left: { readonly tool: string; readonly command: string }): Promise<void>
  readonly refusedByHost: readonly HostRefusal[]
  readonly endedWithTurn: readonly string[]
}

/**
 * Keeps what the agent's host did by itself: of each refusal a fact with its operation, and a line of the audit that
 * names rule and tool and not what it was called with. No permission of the owner is missing, and none would help.
 *
 * @source RFC §5.3, §5.7.3 — A2
 */
export function hostActsOf(
  x: Exchange,
  run: { readonly request: WorkRequest; readonly agent: AgentId },
  turn: TurnId,
): HostActs {
  const all: HostRefusal[] = []
  const left: string[] = []
  const { request, agent } = run
  return {
    refusedByHost: all,
    endedWithTurn: left,
    async refused(said) {
      if (all.length >= KEPT) return
      const rule = said.rule.slice(0, NAME_LENGTH)
      const tool = said.tool.slice(0, NAME_LENGTH)
      const refusal = { by: said.by, rule, tool, operation: said.operation }
      const n = all.push(refusal)
      const now = x.clock.now()
      const operation: TextDigest | null = said.operation === null ? null : digestOfText(said.operation)
      const accessScope = scopeOf(request.conversation)
      await decideAndCommit(
        x,
        {
          kind: 'note-host-refusal',
          eventId: eventIdOf('refused-by-host', turn, n),
          requestId: request.id,
          at: now as Instant,
          actor: { kind: 'agent', agent, turn },
          turn,
          by: said.by,
          rule,
          tool,
          operation,
        } as const,
        decideNoteHostRefusal,
        () =>
          operation === null || said.operation === null
            ? {}
            : { texts: [{ digest: operation, accessScope, body: said.operation }] },
      )
      const id = uuidFrom('refused-by-host', turn, n)
      const act = `refused by the ${said.by} of the runtime (${rule}): ${tool}`
      await writeAudit(x.db.sql, { id, at: now, who: agent, act, subject: turn })
    },
    async ended({ tool, command }) {
      if (left.length >= KEPT) return
      const n = left.push(command)
      const digest = digestOfText(command)
      const accessScope = scopeOf(request.conversation)
      await decideAndCommit(
        x,
        {
          kind: 'note-ended-with-turn',
          eventId: eventIdOf('ended-with-turn', turn, n),
          requestId: request.id,
          at: x.clock.now() as Instant,
          turn,
          tool: tool.slice(0, NAME_LENGTH),
          command: digest,
        } as const,
        decideNoteEndedWithTurn,
        () => ({ texts: [{ digest, accessScope, body: command }] }),
      )
    },
  }
}
