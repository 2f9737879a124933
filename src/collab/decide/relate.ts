import type { SemanticContext } from '../context.js'
import type { Refusal } from '../decision.js'
import { openEffects, type ExchangeState } from '../exchange-state.js'
import type { Fact } from '../observation.js'
import type { ActorRef, EventId, Instant, RequestId, Revision } from '../refs.js'
import { sameAuthority, type WorkRequest } from '../request.js'
import { answered, awaitingAnswer } from './next-revision.js'
import { toldInTurn } from './steer.js'

export interface RelateRequests {
  readonly kind: 'relate-requests'
  readonly eventId: EventId
  /** The earlier request. */
  readonly requestId: RequestId
  readonly later: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly as: 'addition' | 'correction' | 'context'
  readonly onRevision: Revision
  /** The earlier request's next revision: it owes what the later message asked. Unused for `context`. */
  readonly next: { readonly request: WorkRequest; readonly context: SemanticContext } | null
}

/** The only decision over two requests; both heads are locked in id order. */
export type RelateDecision =
  | { readonly outcome: 'accepted'; readonly earlier: readonly Fact[]; readonly later: readonly [Fact, ...Fact[]] }
  | { readonly outcome: 'rejected'; readonly refusal: Refusal }

/**
 * A later message goes on in an earlier request: as correction or addition the earlier one gets its next revision and
 * owes it, as context it only stays attached; either way it is the answer for which asks of the earlier one may wait.
 * The later request is closed as continued; its words stay its own. Its own turn may have begun, and may be the one that says so: the turn goes on and its last words answer nothing. What was
 * answered, handed on or begun outside stays where it is. A turn of the earlier one that took the later one's words
 * while it ran may answer them.
 *
 * @returns accepted with the facts of both, among them `deferral-due` for what waited for an answer, and
 *   `fence-released` for what stood on the later one and does not run; or rejected with `request-unknown` | `request-unreadable` | `request-closed` | `cancel-pending` |
 *   `stale-revision` | `not-related` | `effect-open`
 * @source RFC §5.6 (messages about one job may be explicitly related), ledger "Every authorised message" — A5
 */
export function decideRelate(earlier: ExchangeState, later: ExchangeState, command: RelateRequests): RelateDecision {
  if (earlier.request === null || later.request === null) return refuse({ reason: 'request-unknown' })
  if (earlier.unreadable || later.unreadable) return refuse({ reason: 'request-unreadable' })
  if (earlier.id === later.id) return refuse({ reason: 'not-related', because: 'same-request' })
  if (earlier.closed === 'cancelled' || earlier.closed === 'rejected' || earlier.closed === 'continued') {
    return refuse({ reason: 'request-closed' })
  }
  if (later.closed !== null) return refuse({ reason: 'request-closed' })
  if (earlier.cancel === 'requested' || later.cancel === 'requested') return refuse({ reason: 'cancel-pending' })
  if (command.onRevision !== earlier.head) return refuse({ reason: 'stale-revision', head: earlier.head })
  if (earlier.request.conversation !== later.request.conversation) {
    return refuse({ reason: 'not-related', because: 'other-conversation' })
  }
  if (!sameAuthority(earlier.request.authority, later.request.authority)) {
    return refuse({ reason: 'not-related', because: 'other-sender' })
  }
  if (later.results.some((one) => one.kind === 'result')) {
    return refuse({ reason: 'not-related', because: 'already-answered' })
  }
  if (later.children.size > 0) return refuse({ reason: 'not-related', because: 'handed-on' })
  const [doubtful] = openEffects(later, null)
  if (doubtful !== undefined) return refuse({ reason: 'effect-open', effect: doubtful })
  const base = { actor: command.actor, at: command.at, attempt: null }
  const { next, as } = command
  const revised: Fact[] =
    as === 'context' || next === null
      ? []
      : [
          {
            ...base,
            request: earlier.id,
            revision: next.request.revision,
            kind: 'request-revised',
            revised: next.request,
            context: next.context,
          },
        ]
  const intoRevision = as === 'context' ? earlier.head : ((earlier.head + 1) as Revision)
  const due = answered(earlier, { ...base, request: earlier.id, revision: intoRevision })
  const asks = revised.length === 0 || next === null ? [] : next.request.asks.map((ask) => ask.id)
  const told = toldInTurn(earlier, later, asks, awaitingAnswer(earlier), { at: command.at, revision: intoRevision })
  return {
    outcome: 'accepted',
    earlier: [...revised, ...due, ...told],
    later: [
      {
        ...base,
        request: later.id,
        revision: later.head,
        kind: 'request-continued',
        into: earlier.id,
        intoRevision,
        as,
      },
      ...released(later, base),
    ],
  }
}

/** Nothing of the later request runs, so nothing that stood on it can act any more. */
function released(
  later: ExchangeState,
  base: { readonly actor: ActorRef; readonly at: Instant; readonly attempt: null },
): readonly Fact[] {
  if (later.running !== null) return []
  const live = [...later.attempts.values()].filter((one) => one.released === null)
  return live.map(({ id, revision }) => ({
    ...base,
    actor: { kind: 'host' },
    request: later.id,
    revision,
    attempt: id,
    kind: 'fence-released',
    because: 'request-closed',
  }))
}

const refuse = (refusal: Refusal): RelateDecision => ({ outcome: 'rejected', refusal })
