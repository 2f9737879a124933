import { accept, reject, type Decision } from '../decision.js'
import { handedAsks, owedAsks, owesSynthesis, toIntegrate, type ExchangeState } from '../exchange-state.js'
import type { AttemptId, EventId, Instant, RequestId, Revision, TurnId } from '../refs.js'

export interface PresentTurn {
  readonly kind: 'present-turn'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly attempt: AttemptId
  readonly turn: TurnId
  /** The runtime's own name for the turn: presentation needs a real host turn. */
  readonly hostTurn: string
  readonly onRevision: Revision
  readonly contextItems: readonly string[]
}

/**
 * A runtime says that a turn on this attempt began. A request that was answered is shown once more when a child comes
 * back with a conclusion after that.
 *
 * @returns accepted with `turn-presented`, or rejected with `request-unknown` | `request-unreadable` |
 *   `request-closed` | `request-held` | `cancel-pending` | `stale-revision` | `attempt-unknown` |
 *   `attempt-released` | `turn-running` | `nothing-owed`
 * @source RFC §5.6 ("presented to a worker turn")
 */
export function decidePresent(state: ExchangeState, command: PresentTurn): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null && !owesSynthesis(state)) return reject({ reason: 'request-closed' })
  if (state.held !== null) return reject({ reason: 'request-held' })
  if (state.cancel === 'requested') return reject({ reason: 'cancel-pending' })
  if (state.expired) return reject({ reason: 'request-expired' })
  if (command.onRevision !== state.head) return reject({ reason: 'stale-revision', head: state.head })
  const attempt = state.attempts.get(command.attempt)
  if (attempt === undefined) return reject({ reason: 'attempt-unknown' })
  if (attempt.released !== null) return reject({ reason: 'attempt-released' })
  // A correction needs an attempt of its own: records of this turn will bind to the attempt's revision.
  if (attempt.revision !== command.onRevision) return reject({ reason: 'stale-revision', head: state.head })
  if (state.running !== null) return reject({ reason: 'turn-running', turn: state.running })
  const handed = handedAsks(state)
  const asks = owedAsks(state).filter((ask) => !handed.has(ask))
  if (asks.length === 0 && toIntegrate(state).length === 0) return reject({ reason: 'nothing-owed' })
  return accept({
    kind: 'turn-presented',
    request: command.requestId,
    revision: command.onRevision,
    attempt: command.attempt,
    actor: { kind: 'host' },
    at: command.at,
    turn: command.turn,
    hostTurn: command.hostTurn,
    asks,
    contextItems: command.contextItems,
  })
}
