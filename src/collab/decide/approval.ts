import { accept, reject, type Decision } from '../decision.js'
import type { ExchangeState } from '../exchange-state.js'
import type { ApprovalEnd } from '../observation.js'
import type { ActorRef, EventId, Instant, RequestId, TextDigest, TurnId } from '../refs.js'

interface About {
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly turn: TurnId
  readonly operation: TextDigest
}

export interface AskApproval extends About {
  readonly kind: 'ask-approval'
  readonly approval: string
}

/**
 * The agent asks for an operation that nothing allows yet, and its turn waits for a person.
 *
 * @returns accepted with `approval-asked`, or rejected with `request-unreadable` | `turn-not-running`
 * @source RFC §5.3 (an approval presents the exact operation)
 */
export function decideAskApproval(state: ExchangeState, command: AskApproval): Decision {
  const turn = state.turns.get(command.turn)
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (turn === undefined || turn.ending !== null) return reject({ reason: 'turn-not-running' })
  const { approval, operation, actor, at } = command
  const base = { request: command.requestId, revision: turn.revision, attempt: turn.attempt, actor, at }
  return accept({ ...base, kind: 'approval-asked', turn: turn.id, approval, operation })
}

export interface SettleApproval extends About {
  readonly kind: 'settle-approval'
  readonly approval: string
  readonly as: ApprovalEnd
  /** The standing grants by which it was allowed: one, or several that each cover a part. */
  readonly grants: readonly string[]
}

/**
 * What became of it. It is settled once: the command has one event id, whoever gives it. Allowing needs the turn that
 * asked to be running still, since an answer that comes later would allow something else; a turn that is over leaves
 * nothing but `lapsed`.
 *
 * @returns accepted with `approval-settled`, or rejected with `request-unreadable` | `turn-not-running`
 * @source RFC §5.3; ledger invariant 7 (a pending approval does not outlive its turn)
 */
export function decideSettleApproval(state: ExchangeState, command: SettleApproval): Decision {
  const turn = state.turns.get(command.turn)
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (turn === undefined || (turn.ending !== null && command.as !== 'lapsed')) {
    return reject({ reason: 'turn-not-running' })
  }
  const { approval, operation, as, grants, actor, at } = command
  const base = { request: command.requestId, revision: turn.revision, attempt: turn.attempt, actor, at }
  // A use is a fact of its grant, so that each of them is found when its grant ends.
  const use = (grant: string | null) =>
    ({ ...base, kind: 'approval-settled', turn: turn.id, approval, operation, as, grant }) as const
  const [first = null, ...more] = grants
  return accept(use(first), ...more.map(use))
}
