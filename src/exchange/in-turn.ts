import { SECOND } from '../lib/time.js'
import type { DeliveryRow } from '../stores/deliveries/deliveries.js'
import { lockTurn, messagesAhead } from '../stores/deliveries/order.js'
import { beginAttempt, movePart, type PartRow } from '../stores/deliveries/parts.js'
import { rankOf } from '../stores/pacing/pacing.js'
import type { Exchange } from './deps.js'

/** An answer that waits longer than this for anything lets the later ones of its chat pass. */
const patienceMs = 30 * SECOND
/** About what a message into a busy chat takes; a look costs little. */
const perMessageMs = 350
const longestMs = 10 * SECOND

/**
 * Answers of one chat and topic go one after the other, in the order in which they were given: a limit that holds the
 * first up must not let the second overtake it, and no other answer comes between the parts of one. What is not an
 * answer (a control word's, a notice, a progress card) waits for none of them. Where nothing paces, nothing orders.
 *
 * True: it is not its turn; the part waits.
 *
 * @source delivery.md Out 3
 */
export async function waitsForOthers(x: Exchange, delivery: DeliveryRow, part: PartRow): Promise<boolean> {
  if (!isOrdered(x, delivery)) return false
  const now = x.clock.now()
  const ahead = await messagesAhead(x.db.sql, delivery, now, patienceMs)
  if (ahead === 0) return false
  await wait(x, part, now, ahead)
  return true
}

/** Writes the call down if it is still its turn, decided under the lock of the place. */
export async function beginInTurn(
  x: Exchange,
  delivery: DeliveryRow,
  part: PartRow,
  attempt: { readonly id: string; readonly by: string; readonly now: number },
): Promise<'begun' | 'waits' | 'lost'> {
  if (!isOrdered(x, delivery)) return (await beginAttempt(x.db.sql, part, attempt)) ? 'begun' : 'lost'
  const begun = await x.db.tx(async (tx) => {
    await lockTurn(tx, delivery)
    const ahead = await messagesAhead(tx, delivery, attempt.now, patienceMs)
    return ahead > 0 ? ahead : await beginAttempt(tx, part, attempt)
  })
  if (typeof begun === 'boolean') return begun ? 'begun' : 'lost'
  await wait(x, part, attempt.now, begun)
  return 'waits'
}

function isOrdered(x: Exchange, delivery: DeliveryRow): boolean {
  return x.settings.pacing && rankOf[delivery.causeKind] === 'answer'
}

async function wait(x: Exchange, part: PartRow, now: number, ahead: number): Promise<void> {
  const notBefore = now + Math.min(ahead * perMessageMs, longestMs)
  await movePart(x.db.sql, part, part.state, { state: part.state, because: 'in-order', notBefore })
}
