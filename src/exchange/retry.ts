import { doubtsOf } from '../collab/decide/send.js'
import type { WakeRef } from '../collab/ports.js'
import type { DeliveryId, EventId } from '../collab/refs.js'
import type { Tx } from '../stores/db.js'
import { lockDelivery, reopenDelivery, wakeOf } from '../stores/deliveries/deliveries.js'
import { isOtherPart, movePart, partsOf, settleDoubts, type PartRow } from '../stores/deliveries/parts.js'
import { actOnRecord, writeAudit } from '../stores/sessions/audit.js'
import { putWake } from '../stores/wakes/wakes.js'
import type { Exchange } from './deps.js'

/** What an operator who looked into the chat says of a parked part. */
export type PartDecision = 'present' | 'absent-send' | 'give-up'

export interface RetryCommand {
  readonly delivery: DeliveryId
  /**
   * One part; absent: all that stopped. Without `subIndex` the one that stopped of the rows at that index is meant,
   * else the newest.
   */
  readonly part?: { readonly index: number; readonly subIndex?: number }
  readonly decision?: PartDecision
  /** With `present`: the message that was seen. It is read back like any other that was sent. */
  readonly messageId?: string
  /** Who asks, as the door knows them. */
  readonly who: string
  /** The same command again changes nothing. */
  readonly eventId: EventId
}

export type RetryOutcome =
  | { readonly outcome: 'put'; readonly wake: WakeRef }
  | { readonly outcome: 'already-delivered' }
  /** The same event id asked for something else before. */
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'refused'; readonly reason: RetryRefusal }

export type RetryRefusal =
  | 'delivery-unknown'
  | 'part-unknown'
  | 'not-parked'
  /** A message id says of one part alone that it arrived. */
  | 'message-without-part'
  /** That message is known as another part: equal texts must not stand for one another. */
  | 'message-of-another-part'

/**
 * Tries a delivery again on demand. What was delivered stays as it is and answers so. Without a decision a parked part
 * is looked up again before anything is sent, and a failed one is planned again; with a decision the operator's word
 * stands for the look, recorded with who and when.
 *
 * @returns put with the wake that was kicked, already-delivered, conflict, or refused with
 *   `delivery-unknown` | `part-unknown` | `not-parked` | `message-without-part` | `message-of-another-part`; a refusal
 *   is not recorded
 * @source delivery.md Out 3–5
 */
export async function retryDelivery(x: Exchange, command: RetryCommand): Promise<RetryOutcome> {
  const outcome = await x.db.tx((tx) => decideRetry(x, tx, command))
  if (outcome.outcome === 'put') x.wake.kick([outcome.wake])
  return outcome
}

async function decideRetry(x: Exchange, tx: Tx, command: RetryCommand): Promise<RetryOutcome> {
  const { delivery: id, decision, messageId } = command
  const now = x.clock.now()
  const delivery = await lockDelivery(tx, id)
  if (delivery === null) return { outcome: 'refused', reason: 'delivery-unknown' }
  const act = actOf(command)
  const before = await actOnRecord(tx, command.eventId)
  if (before !== null && before !== act) return { outcome: 'conflict' }
  const parts = await partsOf(tx, id)
  const chosen = chosenOf(parts, command.part)
  if (chosen.length === 0 && command.part !== undefined) return { outcome: 'refused', reason: 'part-unknown' }
  const line = { id: command.eventId, at: now, who: command.who, act, subject: id }
  const arrived = delivery.outcome === 'verified' || delivery.outcome === 'accepted'
  if (arrived || (command.part !== undefined && chosen.every(isDelivered))) {
    await writeAudit(tx, line)
    return { outcome: 'already-delivered' }
  }
  // A command that was carried out already must not be refused, or carried out twice, when it comes again.
  if (before !== null)
    return { outcome: 'put', wake: (await wakeOf(tx, id)) ?? (await putWake(tx, 'deliver', id, now)) }
  const stopped = chosen.filter(
    (part) => part.state === 'parked' || (decision === undefined && part.state === 'failed'),
  )
  if (decision !== undefined && stopped.length === 0) return { outcome: 'refused', reason: 'not-parked' }
  if (messageId !== undefined) {
    const [seen] = stopped
    if (decision !== 'present' || seen === undefined || stopped.length > 1)
      return { outcome: 'refused', reason: 'message-without-part' }
    if (await isOtherPart(tx, seen, messageId)) return { outcome: 'refused', reason: 'message-of-another-part' }
  }
  await writeAudit(tx, line)
  for (const part of stopped) await applyTo(tx, part, command, now)
  await reopenDelivery(tx, id)
  return { outcome: 'put', wake: await putWake(tx, 'deliver', id, now) }
}

/** The rows that a command means. */
function chosenOf(parts: readonly PartRow[], named: RetryCommand['part']): readonly PartRow[] {
  if (named === undefined) return parts
  const standing = parts.filter((part) => part.index === named.index)
  if (named.subIndex !== undefined) return standing.filter((part) => part.subIndex === named.subIndex)
  const meant = standing.find((part) => part.state === 'parked' || part.state === 'failed') ?? standing.at(-1)
  return meant === undefined ? [] : [meant]
}

/** What stopped goes on: a failed part is planned again, a parked one is looked up before anything is sent. */
export async function resumeDelivery(x: Exchange, id: DeliveryId): Promise<void> {
  await x.db.tx(async (tx) => {
    const delivery = await lockDelivery(tx, id)
    if (delivery?.outcome !== 'failed' && delivery?.outcome !== 'parked') return
    const parts = await partsOf(tx, id)
    for (const part of parts) {
      if (part.state === 'failed' || part.state === 'parked') await applyTo(tx, part, { who: '' }, 0)
    }
    await reopenDelivery(tx, id)
  })
}

async function applyTo(
  tx: Tx,
  part: PartRow,
  { decision, messageId, who }: Pick<RetryCommand, 'decision' | 'messageId' | 'who'>,
  now: number,
): Promise<void> {
  const clear = { because: null, notBefore: null }
  switch (decision) {
    case undefined: {
      const doubtful = doubtsOf(part.history).length > 0
      await movePart(tx, part, part.state, { ...clear, state: doubtful ? 'ambiguous' : 'planned' })
      break
    }
    case 'present':
      await settleDoubts(tx, part, 'found', `seen in the chat by ${who}`)
      await movePart(tx, part, part.state, {
        ...clear,
        state: 'accepted',
        because: 'seen-by-operator',
        // A message that is named can be read back; without one the operator's word is all there is.
        ...(messageId === undefined ? { settledAt: now } : { messageId }),
      })
      break
    case 'absent-send':
      await settleDoubts(tx, part, 'absent', `not in the chat, says ${who}`)
      await movePart(tx, part, part.state, { ...clear, state: 'planned' })
      break
    case 'give-up':
      await movePart(tx, part, part.state, { ...clear, state: 'failed', because: 'given-up', settledAt: now })
      break
  }
}

function isDelivered(part: PartRow): boolean {
  return part.state === 'verified' || part.state === 'accepted'
}

/** What was asked for, and not what came of it: the same command says the same here whenever it comes. */
function actOf(command: RetryCommand): string {
  const { part, decision, messageId } = command
  const where = part === undefined ? '' : ` part ${part.index}${part.subIndex === undefined ? '' : `.${part.subIndex}`}`
  return `delivery ${decision ?? 'retry'}${where}${messageId === undefined ? '' : ` as ${messageId}`}`
}
