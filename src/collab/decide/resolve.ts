import { renewedBy } from '../bearing.js'
import { accept, reject, type Decision } from '../decision.js'
import { handedAsks, openEffects, untakenAsks, type ExchangeState } from '../exchange-state.js'
import type { Fact } from '../observation.js'
import type { OutgoingFile } from '../channel.js'
import type { ActorRef, EventId, Instant, RequestId, ResultId, TextDigest, TurnId } from '../refs.js'
import { acknowledged, endOfAttempt } from './fence.js'

export interface ConcludeTurn {
  readonly kind: 'conclude-turn'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly turn: TurnId
  readonly result: ResultId
  readonly textDigest: TextDigest
  readonly conclusionDigest: TextDigest | null
  readonly accessScope: string
  readonly files: readonly OutgoingFile[]
}

/**
 * A turn ended completed with a non-empty final message: it commits a result that covers exactly the asks presented
 * in it which are still owed. A turn that the ledger has already ended (its holder was gone) commits nothing, so a
 * stale executor cannot answer twice.
 *
 * A record of the past: it binds to the turn's own attempt and revision, also after the head moved.
 *
 * @returns accepted with `turn-ended`, `result-committed`, for a terminal result `fence-released`, and, when a
 *   cancellation waited, `cancel-acknowledged`; or rejected with `request-unknown` | `request-unreadable` |
 *   `turn-not-running`
 * @source RFC §5.6, ledger invariants 3, 4, 6, 10 — A7, A8
 */
export function decideConclude(state: ExchangeState, command: ConcludeTurn): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  const turn = state.turns.get(command.turn)
  if (turn === undefined || turn.ending !== null) return reject({ reason: 'turn-not-running' })
  const base = {
    request: command.requestId,
    revision: state.attempts.get(turn.attempt)?.revision ?? turn.revision,
    attempt: turn.attempt,
    actor: command.actor,
    at: command.at,
  }
  // Also what came back while this turn ran: its final message was written without it.
  const handed = new Set([...handedAsks(state), ...untakenAsks(state)])
  // What a child works on, and anything while an effect's outcome is unknown, is not answered by a final message.
  const doubtful = openEffects(state, turn.attempt).length > 0
  const covers = doubtful ? [] : turn.asks.filter((ask) => state.asks.get(ask)?.is === 'owed' && !handed.has(ask))
  const left = [...state.asks].filter(([id, { is }]) => (is === 'owed' || is === 'deferred') && !covers.includes(id))
  const remainder = left.filter(([, ask]) => ask.is === 'owed').map(([id]) => id)
  const facts: [Fact, ...Fact[]] = [
    { ...base, actor: { kind: 'host' }, kind: 'turn-ended', turn: turn.id, ending: { ended: 'completed' } },
    {
      ...base,
      // Words that it was told while it ran have brought it to a later revision than its attempt's.
      revision: turn.revision,
      kind: 'result-committed',
      turn: turn.id,
      result: {
        id: command.result,
        kind: covers.length === 0 ? 'interim' : 'result',
        textDigest: command.textDigest,
        conclusionDigest: command.conclusionDigest,
        accessScope: command.accessScope,
        covers,
        remainder,
        files: command.files,
        supersedes: renewedBy(state, covers),
      },
    },
  ]
  const host = { ...base, actor: { kind: 'host' } } as const
  // An interim message ends nothing: the attempt goes on when its child is back, its effect is known or what it put off
  // is due. What a correction added since needs an attempt of its own.
  const passed = covers.length > 0 && turn.revision < state.head
  const terminal = !doubtful && (left.length === 0 || passed)
  const because = covers.length > 0 ? 'terminal-result' : endOfAttempt(state)
  if (terminal) facts.push({ ...host, kind: 'fence-released', because })
  const cancelled = state.cancel === 'requested' && openEffects(state, null).length === 0
  if (cancelled) facts.push(...acknowledged(state, command, terminal ? turn.attempt : null))
  return accept(...facts)
}
