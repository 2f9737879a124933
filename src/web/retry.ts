import type { DeliveryId, EventId } from '../collab/refs.js'
import { retryDelivery, type PartDecision, type RetryRefusal } from '../exchange/retry.js'
import type { WebDeps } from './deps.js'
import { isStorable } from './storable.js'

/** A retry as a door says it: outside, a part is its index. */
export interface DoorRetry {
  readonly delivery: DeliveryId
  readonly part?: number | undefined
  readonly decision?: PartDecision | undefined
  readonly messageId?: string | undefined
  readonly who: string
  readonly eventId: EventId
}

export type DoorRetryOutcome =
  | { readonly outcome: 'accepted' | 'already-delivered' }
  | { readonly outcome: 'refused'; readonly reason: RetryRefusal | 'idempotency-key-reused' }

export async function retry(deps: WebDeps, asked: DoorRetry): Promise<DoorRetryOutcome> {
  const { delivery, part: index, decision, messageId, who, eventId } = asked
  if (!isStorable(delivery)) return { outcome: 'refused', reason: 'delivery-unknown' }
  const done = await retryDelivery(deps.exchange, {
    delivery,
    who,
    eventId,
    ...(index === undefined ? {} : { part: { index } }),
    ...(decision === undefined ? {} : { decision }),
    ...(messageId === undefined ? {} : { messageId }),
  })
  if (done.outcome === 'put') return { outcome: 'accepted' }
  return done.outcome === 'conflict' ? { outcome: 'refused', reason: 'idempotency-key-reused' } : done
}
