import { renewedBy } from '../bearing.js'
import { accept, reject, type Decision } from '../decision.js'
import { liveAttemptOf, openEffects, type AttemptState, type ExchangeState } from '../exchange-state.js'
import type { Fact } from '../observation.js'
import type { OutgoingFile } from '../channel.js'
import type {
  ActorRef,
  AgentId,
  AskId,
  EventId,
  Instant,
  RequestId,
  ResultId,
  Revision,
  TextDigest,
  TurnId,
} from '../refs.js'
import { released } from './fence.js'

export interface ReportResult {
  readonly kind: 'report-result'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly agent: AgentId
  /** The turn that reports; null for an agent that works without a turn of ours. */
  readonly turn: TurnId | null
  readonly covers: readonly AskId[]
  readonly result: ResultId
  readonly textDigest: TextDigest
  readonly conclusionDigest: TextDigest | null
  readonly accessScope: string
  readonly files: readonly OutgoingFile[]
  /** The former result that this one replaces, visibly. */
  readonly supersedes: ResultId | null
}

/**
 * A receiver commits its conclusion on asks that it has assessed itself. Of two that report on the same ask at once
 * the second finds it covered.
 *
 * A record of the past: it binds to the attempt's own revision, or to a later one that the agent has judged, and is
 * accepted after the head moved. The fence goes with a terminal result once nothing is owed, no effect of the attempt
 * is in doubt and no turn runs; while one runs, its end releases it.
 *
 * @returns accepted with `result-committed` and, for a terminal result, `fence-released`; or rejected with
 *   `request-unknown` | `request-unreadable` | `request-closed` | `not-receiver` | `attempt-released` |
 *   `turn-not-running` | `nothing-owed` | `result-unknown` | `ask-unknown` | `ask-not-owed` | `not-assessed`
 * @source RFC §5.6 (the receiver commits result and evidence), ledger invariants 3–6 — A6, A24
 */
export function decideReport(state: ExchangeState, command: ReportResult): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null && state.closed !== 'resolved') return reject({ reason: 'request-closed' })
  // A turn of another request may report here too: only one of this request's own binds the result to itself.
  const turn = command.turn === null ? undefined : state.turns.get(command.turn)
  if (turn !== undefined && turn.ending !== null) return reject({ reason: 'turn-not-running' })
  const attempt = turn === undefined ? attemptOf(state, command) : state.attempts.get(turn.attempt)
  if (attempt === undefined || attempt.target !== command.agent) {
    const known = [...state.attempts.values()].some((one) => one.target === command.agent)
    return reject(known ? { reason: 'attempt-released' } : { reason: 'not-receiver', receiver: state.request.target })
  }
  if (command.covers.length === 0) return reject({ reason: 'nothing-owed' })
  const former = state.results.find((one) => one.id === command.supersedes)
  if (command.supersedes !== null) {
    const same = former?.covers.length === 0 || former?.covers.some((ask) => command.covers.includes(ask)) === true
    if (!same) return reject({ reason: 'result-unknown' })
  }
  const judged = state.judged.get(command.agent)
  let revision: Revision = attempt.revision
  for (const ask of command.covers) {
    const now = state.asks.get(ask)
    if (now === undefined) return reject({ reason: 'ask-unknown', ask })
    const again = now.is === 'covered' && former !== undefined && now.by === former.id
    if (now.is !== 'owed' && !again) return reject({ reason: 'ask-not-owed', ask })
    const own = judged?.get(ask)
    if (own?.judgment !== 'accepted' && own?.judgment !== 'no-change') return reject({ reason: 'not-assessed', ask })
    if (own.revision > revision) revision = own.revision
  }
  const covers = [...new Set(command.covers)]
  const open = [...state.asks].filter(([id]) => !covers.includes(id))
  const base = { request: command.requestId, revision, attempt: attempt.id, actor: command.actor, at: command.at }
  const facts: [Fact, ...Fact[]] = [
    {
      ...base,
      kind: 'result-committed',
      turn: turn?.id ?? null,
      result: {
        id: command.result,
        kind: 'result',
        textDigest: command.textDigest,
        conclusionDigest: command.conclusionDigest,
        accessScope: command.accessScope,
        covers,
        remainder: open.filter(([, ask]) => ask.is === 'owed').map(([id]) => id),
        files: command.files,
        supersedes: command.supersedes ?? renewedBy(state, covers),
      },
    },
  ]
  const left = open.some(([, ask]) => ask.is === 'owed' || ask.is === 'deferred')
  const idle = state.running === null && openEffects(state, attempt.id).length === 0
  if (!left && idle && attempt.released === null) {
    facts.push(released(attempt, command, 'terminal-result'))
  }
  return accept(...facts)
}

/** The live attempt of the agent; to replace its own terminal result also the attempt that this result ended. */
function attemptOf(state: ExchangeState, command: ReportResult): AttemptState | undefined {
  const live = liveAttemptOf(state, command.agent)
  if (live !== null || command.supersedes === null) return live ?? undefined
  const own = [...state.attempts.values()].filter((one) => one.target === command.agent)
  return own.findLast((one) => one.released === 'terminal-result')
}
