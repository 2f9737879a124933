import type { Language } from '../collab/delivery.js'
import type { HandedOver } from '../collab/observation.js'
import type { LaneId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import type { Also } from '../stores/ledger/commit.js'
import { placeOf } from './place.js'
import { sayingOf } from './say.js'

/** The request whose tries are used up, with its place in the lane. */
export interface Failed {
  readonly request: WorkRequest
  /** Provider ids of the messages that it is made of. */
  readonly sources: readonly string[]
  readonly lane: LaneId
  readonly position: number
}

/**
 * Nothing more of a request starts by itself: its input is held until somebody says how to go on, and whoever waits for
 * the answer hears why. The owner is told where they asked, and their receipts become marks of failure; for a request
 * of an agent its parent is woken.
 *
 * @param causeId names the hand-over, so that the same one is told once
 */
export function handedOver(
  failed: Failed,
  because: HandedOver,
  causeId: string,
  language: Language,
  now: number,
): Also {
  const { request, sources, lane, position } = failed
  const input = { lane, state: 'held', because: 'failed', position } as const
  const place = placeOf(request)
  if (place === null) {
    return { input, wakes: [{ kind: 'upkeep', subject: `return-${request.id}`, dueAt: now }] }
  }
  const { messageId } = request.origin
  const delivery = sayingOf(
    {
      causeKind: 'notice',
      causeId,
      route: place,
      notice: { kind: 'turn-failed', reason: because, requestId: request.id },
      language,
      endsReceipt: { messageId, chatId: place.chatId, end: 'failed' },
      alsoEnds: sources.filter((id) => id !== messageId),
      request: request.id,
    },
    now,
  )
  return { input, deliveries: [delivery], wakes: [{ kind: 'deliver', subject: delivery.id, dueAt: now }] }
}
