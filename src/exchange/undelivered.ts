import { isPlaceAtFault } from '../collab/decide/send.js'
import type { DeliveryOutcome, NewDelivery } from '../collab/delivery.js'
import type { Notice } from '../collab/notice.js'
import type { WakeRef } from '../collab/ports.js'
import type { Instant, ReturnRef } from '../collab/refs.js'
import type { SqlLike } from '../stores/db.js'
import { putDeliveries, type DeliveryRow } from '../stores/deliveries/deliveries.js'
import { ownerChatOf } from '../stores/deliveries/owner.js'
import { partsOf } from '../stores/deliveries/parts.js'
import { putWake } from '../stores/wakes/wakes.js'
import type { Exchange } from './deps.js'
import { deliveryIdOf } from './ids.js'
import { pageOf } from './page.js'

/** How a delivery ended. */
export interface DeliveryEnd {
  readonly outcome: DeliveryOutcome
  readonly arrived: number
  readonly total: number
  readonly because: string | null
}

/** What is told to whom; a place is told before its owner. */
interface Told {
  readonly place: ReturnRef
  readonly notice: Notice
}

/**
 * Says that a delivery did not arrive whole: what failed in its own place, unless the place is what failed, and to the
 * owner by a route of theirs; what is parked to the owner alone, who decides. The text itself takes no second route,
 * and what a content check refused is not described where it was refused. Never a notice about such a notice.
 *
 * @returns the wakes of the notices, put in the transaction of the end
 * @source delivery.md Out 5
 */
export async function tellUndelivered(
  x: Exchange,
  tx: SqlLike,
  delivery: DeliveryRow,
  end: DeliveryEnd,
): Promise<readonly WakeRef[]> {
  const { source, bot, request } = delivery
  if (source.kind === 'notice' && aboutDeliveries.has(source.notice.kind)) return []
  const reason = end.because ?? 'unknown'
  const owner = await ownerPlace(tx, delivery)
  const told =
    end.outcome === 'parked' ? await parkedTold(x, tx, delivery, end, owner) : failedTold(x, delivery, end, owner)
  const now = x.clock.now()
  const notices = told.map(({ place, notice }): NewDelivery => {
    // The same end again, after a retry, says nothing new.
    const causeId = `${notice.kind === 'delivery-parked' ? 'delivery-parked' : 'delivery-failed'}:${delivery.id}:${end.arrived}:${reason}`
    return {
      id: deliveryIdOf('notice', causeId, place),
      causeKind: 'notice',
      causeId,
      route: place,
      bot,
      request,
      source: { kind: 'notice', endsReceipt: null, language: source.language, notice },
      createdAt: now as Instant,
    }
  })
  const fresh = await putDeliveries(tx, notices)
  const wakes: WakeRef[] = []
  for (const id of fresh) wakes.push(await putWake(tx, 'deliver', id, now))
  return wakes
}

const aboutDeliveries: ReadonlySet<Notice['kind']> = new Set([
  'delivery-failed',
  'delivery-parked',
  'answer-withheld',
  'answer-withheld-owner',
])

/** The owner's direct chat; the delivery's own place when that is the one. */
async function ownerPlace(tx: SqlLike, { bot, request, route }: DeliveryRow): Promise<ReturnRef | null> {
  const chatId = await ownerChatOf(tx, bot, request)
  if (chatId === null) return route.chatType === 'p2p' ? route : null
  if (chatId === route.chatId) return route
  return { channel: 'lark', bot, chatId, chatType: 'p2p', threadId: null, replyTo: null }
}

function failedTold(x: Exchange, delivery: DeliveryRow, end: DeliveryEnd, owner: ReturnRef | null): readonly Told[] {
  const { route, request } = delivery
  const { arrived, total } = end
  const reason = end.because ?? 'unknown'
  const page = pageOf(x, request)
  const withheld = reason === 'content-audit'
  const here: Notice = withheld ? { kind: 'answer-withheld' } : { kind: 'delivery-failed', arrived, total, reason }
  const direct: Notice = withheld
    ? { kind: 'answer-withheld-owner', arrived, total, page }
    : { kind: 'delivery-failed', arrived, total, reason, page }
  if (!isPlaceAtFault(reason)) {
    const place = owner === route ? [] : [{ place: route, notice: here }]
    return [...place, ...(owner === null ? [] : [{ place: owner, notice: direct }])]
  }
  if (owner === null) return []
  if (owner !== route) return [{ place: owner, notice: direct }]
  // A chat of the owner that takes nothing gets nothing more: the page shows it. A topic of it leaves the chat itself.
  const main = { ...route, threadId: null, replyTo: null }
  return reason === 'cannot-reply-here' && route.threadId !== null ? [{ place: main, notice: direct }] : []
}

async function parkedTold(
  x: Exchange,
  tx: SqlLike,
  delivery: DeliveryRow,
  end: DeliveryEnd,
  owner: ReturnRef | null,
): Promise<readonly Told[]> {
  const standing = (await partsOf(tx, delivery.id)).filter((part) => part.state !== 'superseded')
  const part = standing.findIndex((one) => one.state === 'parked') + 1
  const { arrived, total } = end
  const notice: Notice = { kind: 'delivery-parked', part, arrived, total, page: pageOf(x, delivery.request) }
  return owner === null ? [] : [{ place: owner, notice }]
}
