import { accept, reject, type Decision } from '../decision.js'
import type { ExchangeState } from '../exchange-state.js'
import type { ActorRef, AgentId, EventId, Instant, RequestId, Revision, TextDigest } from '../refs.js'

export interface SaveBrief {
  readonly kind: 'save-brief'
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
  readonly actor: ActorRef
  readonly agent: AgentId
  readonly onRevision: Revision
  readonly brief: TextDigest
}

/**
 * An agent keeps what whoever goes on with its work must know. It says nothing about the state of the work: nothing is
 * judged, covered or closed by it, and an answered request takes one, too, since it may be corrected.
 *
 * @returns accepted with `brief-saved`, or rejected with `request-unknown` | `request-unreadable` | `not-receiver` for
 *   an agent that it was never given to | `stale-revision` when a correction came that the brief cannot know
 * @source RFC §5.7.2 (at accepted plan or result changes, before compaction, at a hand-off)
 */
export function decideSaveBrief(state: ExchangeState, command: SaveBrief): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  const own = [...state.attempts.values()].filter((attempt) => attempt.target === command.agent).at(-1)
  if (own === undefined) return reject({ reason: 'not-receiver', receiver: state.request.target })
  if (command.onRevision !== state.head) return reject({ reason: 'stale-revision', head: state.head })
  return accept({
    kind: 'brief-saved',
    request: command.requestId,
    revision: state.head,
    attempt: own.id,
    actor: command.actor,
    at: command.at,
    agent: command.agent,
    brief: command.brief,
  })
}
