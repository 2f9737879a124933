import type { IncomingEvent, IncomingMessage } from '../collab/message.js'
import { rememberTogether } from '../stores/ingress/together.js'
import { actAtOnce, isUrgent } from './at-once.js'
import type { Exchange } from './deps.js'
import { ingressIdOf, receiptIdOf } from './ids.js'
import { placeReceipt } from './receipts.js'

/**
 * An event enters: stored once, with its wake and the receipt's `prepared` row, before the provider is acked.
 *
 * The receipt is placed in process at once and never waited for: a crash between finds the row, and the sweep looks
 * up what became of it. A fault of the store is thrown, so that the door refuses and the provider pushes again.
 *
 * @source delivery In 2, 8 — P1, P2
 */
export async function take(
  x: Exchange,
  event: IncomingEvent,
  door: string,
): Promise<{ readonly outcome: 'stored' | 'duplicate' }> {
  const now = x.clock.now()
  const id = ingressIdOf(event.bot, event.key)
  const receipt = event.kind === 'message' ? receiptOf(x, event.message, event) : null
  const stored = await rememberTogether(x.db.sql, {
    id,
    event,
    door,
    receivedAt: now,
    receipt,
    judged: !(event.kind === 'message' && event.turnAuthority.verdict === 'unjudged'),
  })
  if (stored.receipt && receipt !== null && event.kind === 'message') {
    const { bot, messageId, chatId } = event.message
    placeReceipt(x, { id: receipt.id, bot, messageId, chatId, emoji: receipt.emoji }, now).catch(() => {
      // The row stays `prepared`; the sweep settles it.
    })
  }
  // A word that waits for nothing is carried out here, a press by the door that answers it.
  if (stored.wake !== null && !isUrgent(event)) x.wake.kick([stored.wake])
  else if (stored.wake !== null && event.kind === 'message') void actAtOnce(x, id)
  return { outcome: stored.outcome }
}

/** What the receipt needs to be decided inside the statement; null when no receipt is due at all. */
export function receiptOf(x: Exchange, message: IncomingMessage, event: Extract<IncomingEvent, { kind: 'message' }>) {
  const { verdict } = event.turnAuthority
  const emoji = x.settings.reactions.received
  if (!x.settings.ownerOpenIds.has(message.sender.openId)) return null
  if (emoji === '' || message.recalled || (verdict !== 'addressed' && verdict !== 'if-parent-ours')) return null
  return {
    id: receiptIdOf(message.bot, message.messageId),
    emoji,
    addressed: verdict === 'addressed',
    parents: parentsOf(message),
    sender: message.sender.openId,
    binds: bindsNow(x, message),
  }
}

export function parentsOf(message: IncomingMessage): readonly string[] {
  return [message.parentId, message.rootId].filter((id): id is string => id !== null)
}

/** The first direct message of a listed id binds that owner. */
export function bindsNow(x: Pick<Exchange, 'settings'>, message: IncomingMessage): boolean {
  return message.chatType === 'p2p' && x.settings.ownerOpenIds.has(message.sender.openId)
}
