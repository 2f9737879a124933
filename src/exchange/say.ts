import type { DeliverySource, Language, NewDelivery } from '../collab/delivery.js'
import type { Notice } from '../collab/notice.js'
import type { RequestId, ReturnRef, Instant } from '../collab/refs.js'
import { putDeliveries } from '../stores/deliveries/deliveries.js'
import { putWake } from '../stores/wakes/wakes.js'
import type { Exchange } from './deps.js'
import { deliveryIdOf } from './ids.js'

export interface Saying {
  readonly causeKind: 'notice' | 'control' | 'progress'
  /** Once per cause and route: the same notice for the same cause is never sent twice. */
  readonly causeId: string
  readonly route: ReturnRef
  readonly notice: Notice
  readonly language: Language
  readonly endsReceipt: DeliverySource['endsReceipt']
  /** Messages related to it, whose receipts end the same way. */
  readonly alsoEnds?: readonly string[]
  readonly request: RequestId | null
}

/** A delivery row that says one sentence of ours. */
export function sayingOf(said: Saying, at: number): NewDelivery {
  return {
    id: deliveryIdOf(said.causeKind, said.causeId, said.route),
    causeKind: said.causeKind,
    causeId: said.causeId,
    route: said.route,
    bot: said.route.bot,
    request: said.request,
    source: {
      kind: 'notice',
      notice: said.notice,
      language: said.language,
      endsReceipt: said.endsReceipt,
      alsoEnds: said.alsoEnds ?? [],
    },
    createdAt: at as Instant,
  }
}

/** Says one sentence: it leaves only as a delivery, with its wake. */
export async function say(x: Exchange, said: Saying): Promise<void> {
  const now = x.clock.now()
  const delivery = sayingOf(said, now)
  const wake = await x.db.tx(async (tx) => {
    const fresh = await putDeliveries(tx, [delivery])
    return fresh.size === 0 ? null : await putWake(tx, 'deliver', delivery.id, now)
  })
  if (wake !== null) x.wake.kick([wake])
}
