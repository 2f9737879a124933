import { accept, reject, type Decision } from '../decision.js'
import type { ExchangeState } from '../exchange-state.js'
import type { HostRefusal } from '../host-refusal.js'
import type { ActorRef, EventId, Instant, RequestId, TextDigest, TurnId } from '../refs.js'

export interface NoteHostRefusal extends Pick<HostRefusal, 'by' | 'rule' | 'tool'> {
  readonly kind: 'note-host-refusal'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly turn: TurnId
  readonly operation: TextDigest | null
}

/**
 * The agent's host refused an operation by itself: kept with the turn in which it happened. It asks for nothing, and no
 * grant of ours would change it.
 *
 * @returns accepted with `refused-by-host`, or rejected with `request-unreadable` | `turn-not-running`
 * @source RFC §5.3 (host policy, provider rejection and application restrictions remain separate diagnoses)
 */
export function decideNoteHostRefusal(state: ExchangeState, command: NoteHostRefusal): Decision {
  const turn = state.turns.get(command.turn)
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (turn === undefined || turn.ending !== null) return reject({ reason: 'turn-not-running' })
  const { by, rule, tool, operation, actor, at } = command
  const base = { request: command.requestId, revision: turn.revision, attempt: turn.attempt, actor, at }
  return accept({ ...base, kind: 'refused-by-host', turn: turn.id, by, rule, tool, operation })
}

export interface NoteEndedWithTurn {
  readonly kind: 'note-ended-with-turn'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly turn: TurnId
  readonly tool: string
  readonly command: TextDigest
}

/**
 * A command that the turn had left running was ended with it.
 *
 * @returns accepted with `ended-with-turn`, or rejected with `request-unreadable` | `turn-not-running`
 * @source RFC §5.7.3 (nothing of an executor acts on unseen)
 */
export function decideNoteEndedWithTurn(state: ExchangeState, command: NoteEndedWithTurn): Decision {
  const turn = state.turns.get(command.turn)
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (turn === undefined || turn.ending !== null) return reject({ reason: 'turn-not-running' })
  const { tool, at } = command
  const base = { request: command.requestId, revision: turn.revision, attempt: turn.attempt, at }
  const actor = { kind: 'host' } as const
  return accept({ ...base, actor, kind: 'ended-with-turn', turn: turn.id, tool, command: command.command })
}
