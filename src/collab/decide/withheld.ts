import { accept, reject, type Decision } from '../decision.js'
import { keptBack, type ExchangeState } from '../exchange-state.js'
import type { Fact } from '../observation.js'
import type { ActorRef, EventId, Instant, RequestId } from '../refs.js'

/** What happens to a result whose question was withdrawn while the work ran (delivery In 10). */
export type OnRecall = 'hold' | 'send' | 'drop'

/**
 * A decision that commits a result, for a request whose question may have been withdrawn: then the result stands and
 * is kept from its place. An interim answer of such a request is never sent later: the result after it is what the
 * owner decides about.
 *
 * @source delivery In 10
 */
export function keepIfRecalled(state: ExchangeState, decision: Decision, policy: OnRecall): Decision {
  if (decision.outcome === 'rejected' || !state.recalled || policy === 'send') return decision
  const kept = decision.facts.flatMap((fact): readonly Fact[] => {
    if (fact.kind !== 'result-committed') return []
    const { request, revision, attempt, at, result } = fact
    const base = { request, revision, attempt, at, actor: { kind: 'host' }, result: result.id } as const
    const withheld = { ...base, kind: 'result-withheld' } as const
    if (policy === 'hold' && result.kind === 'result') return [withheld]
    return [withheld, { ...base, kind: 'withheld-settled', as: 'dropped' }]
  })
  return accept(...decision.facts, ...kept)
}

export interface SettleWithheld {
  readonly kind: 'settle-withheld'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly as: 'shown' | 'dropped'
}

/**
 * The owner's word on what was kept back. All of it is settled: the newest result as said, an older one that it
 * replaces as dropped.
 *
 * @returns accepted with one `withheld-settled` for each, or rejected with `request-unknown` | `request-unreadable` |
 *   `not-held`
 */
export function decideSettleWithheld(state: ExchangeState, command: SettleWithheld): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  const base = {
    request: command.requestId,
    revision: state.head,
    attempt: null,
    actor: command.actor,
    at: command.at,
    kind: 'withheld-settled',
  } as const
  const [newest, ...older] = keptBack(state).toReversed()
  if (newest === undefined) return reject({ reason: 'not-held' })
  return accept(
    { ...base, result: newest.id, as: command.as },
    ...older.map((one) => ({ ...base, result: one.id, as: 'dropped' as const })),
  )
}
