import type { SemanticContext } from '../context.js'
import { accept, reject, type Decision } from '../decision.js'
import type { ExchangeState } from '../exchange-state.js'
import type { ActorRef, EventId, Instant, RequestId } from '../refs.js'
import type { WorkRequest } from '../request.js'

export interface AcceptRequest {
  readonly kind: 'accept-request'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly request: WorkRequest
  readonly context: SemanticContext
  /**
   * Set when it may not run by itself: it came too late, or it was sent before a stop or a fresh conversation that was
   * heard before it. It is owed, and waits for the owner's word.
   */
  readonly hold: 'late' | 'stopped' | null
}

/**
 * A request enters at revision 1.
 *
 * Pure. Every authorised message opens its own request; nothing is merged by its text or its time.
 *
 * @returns accepted with `request-opened` and, when it may not run by itself, `request-held`; or rejected with
 *   `request-exists` | `text-empty`
 * @source RFC §5.6, §5.10 — A6, A7
 */
export function decideAccept(state: ExchangeState, command: AcceptRequest): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request !== null) return reject({ reason: 'request-exists' })
  if (command.request.asks.length === 0) return reject({ reason: 'text-empty' })
  const base = {
    request: command.requestId,
    revision: command.request.revision,
    attempt: null,
    actor: command.actor,
    at: command.at,
  }
  const opened = { ...base, kind: 'request-opened', opened: command.request, context: command.context } as const
  if (command.hold === null) return accept(opened)
  return accept(opened, { ...base, actor: { kind: 'host' }, kind: 'request-held', because: command.hold })
}
