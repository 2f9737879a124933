import { accept, reject, type Decision } from '../decision.js'
import { liveAttemptOf, openEffects, providedKey, type ExchangeState } from '../exchange-state.js'
import type { AskJudgment, Fact, Verdict } from '../observation.js'
import type { ActorRef, AgentId, EventId, Instant, RequestId, Revision } from '../refs.js'
import { released } from './fence.js'

export interface AssessRequest {
  readonly kind: 'assess-request'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly agent: AgentId
  readonly onRevision: Revision
  readonly asks: readonly [AskJudgment, ...AskJudgment[]]
}

/**
 * The receiver says what it takes on, ask by ask, each with its reason. Accepting is not completing.
 *
 * A decision about the future: it looks at the head. It needs a presentation, or context provided, of the revision
 * that it judges, to the same agent; the fact says which.
 *
 * @returns accepted with `assessed` and, when nothing is left to do, `fence-released`; or rejected with
 *   `request-unknown` | `request-unreadable` | `request-closed` | `cancel-pending` | `stale-revision` |
 *   `not-receiver` | `not-presented` | `ask-unknown` | `ask-not-owed`
 * @source RFC §5.5, §5.10 (judgment axis) — A5, A6
 */
export function decideAssess(state: ExchangeState, command: AssessRequest): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.cancel === 'requested') return reject({ reason: 'cancel-pending' })
  if (command.onRevision !== state.head) return reject({ reason: 'stale-revision', head: state.head })
  const attempt = liveAttemptOf(state, command.agent)
  if (attempt === null) return reject({ reason: 'not-receiver', receiver: state.request.target })
  const basis = basisOf(state, command)
  if (basis === null) return reject({ reason: 'not-presented' })
  for (const { ask } of command.asks) {
    const now = state.asks.get(ask)
    if (now === undefined) return reject({ reason: 'ask-unknown', ask })
    if (now.is !== 'owed' && now.is !== 'deferred') return reject({ reason: 'ask-not-owed', ask })
  }
  const base = {
    request: command.requestId,
    revision: command.onRevision,
    attempt: attempt.id,
    actor: command.actor,
    at: command.at,
  }
  const facts: [Fact, ...Fact[]] = [
    { ...base, kind: 'assessed', agent: command.agent, verdict: verdictOf(command.asks), asks: command.asks, basis },
  ]
  // Everything refused and nothing running: the attempt can no longer act.
  const rejected = new Set(command.asks.filter((one) => one.judgment === 'rejected').map((one) => one.ask))
  const left = [...state.asks].some(([id, ask]) => (ask.is === 'owed' || ask.is === 'deferred') && !rejected.has(id))
  if (!left && state.running === null && openEffects(state, attempt.id).length === 0) {
    facts.push(released(attempt, command, 'request-closed'))
  }
  return accept(...facts)
}

function basisOf(state: ExchangeState, command: AssessRequest): 'presented' | 'context-provided' | null {
  for (const turn of state.turns.values()) {
    const shown = turn.revision === command.onRevision && state.attempts.get(turn.attempt)?.target === command.agent
    if (shown) return 'presented'
  }
  return state.provided.has(providedKey(command.agent, command.onRevision)) ? 'context-provided' : null
}

/** One word for the whole: mixed judgments are a partial acceptance. */
export function verdictOf(asks: readonly AskJudgment[]): Verdict {
  const kinds = new Set(asks.map((one) => one.judgment))
  const [only] = kinds
  return kinds.size === 1 && only !== undefined ? only : 'partially-accepted'
}
