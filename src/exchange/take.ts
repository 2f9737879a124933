import type { IncomingEvent, IncomingMessage } from '../collab/message.js'
import { prepareReaction } from '../stores/deliveries/reactions.js'
import { rememberTogether } from '../stores/ingress/together.js'
import { actAtOnce, isUrgent } from './at-once.js'
import type { Exchange } from './deps.js'
import { ingressIdOf, receiptIdOf } from './ids.js'
import { endReceipt, placeReceipt } from './receipts.js'

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

type MessageEvent = Extract<IncomingEvent, { kind: 'message' }>

/** What the receipt needs to be decided inside the statement; null when no receipt is due at all. */
export function receiptOf(x: Exchange, message: IncomingMessage, event: MessageEvent) {
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

/**
 * Places the receipt of a message that is admitted by the chat's policy alone: the door did not know that it would be.
 * Once per message, as at the door.
 */
export async function receiveNow(x: Exchange, event: MessageEvent): Promise<void> {
  const { bot, messageId, chatId } = event.message
  const emoji = x.settings.reactions.received
  if (emoji === '' || receiptOf(x, event.message, event) !== null) return
  const now = x.clock.now()
  const row = { id: receiptIdOf(bot, messageId), bot, messageId, chatId, emoji }
  const id = await prepareReaction(x.db.sql, { ...row, purpose: 'received', preparedAt: now })
  if (id !== null) void placeReceipt(x, row, now)
}

/** The door placed a receipt, and the chat's policy says that the message starts nothing. */
export async function forgetReceipt(x: Exchange, event: MessageEvent): Promise<void> {
  const { bot, messageId, chatId } = event.message
  if (receiptOf(x, event.message, event) !== null) await endReceipt(x, { bot, messageId, chatId, end: 'withdrawn' })
}

export function parentsOf(message: IncomingMessage): readonly string[] {
  return [message.parentId, message.rootId].filter((id): id is string => id !== null)
}

/** The first direct message of a listed id binds that owner. */
export function bindsNow(x: Pick<Exchange, 'settings'>, message: IncomingMessage): boolean {
  return message.chatType === 'p2p' && x.settings.ownerOpenIds.has(message.sender.openId)
}
