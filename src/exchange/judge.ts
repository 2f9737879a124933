import type { IncomingEvent, IncomingMessage, TurnAuthority } from '../collab/message.js'
import type { BotId } from '../collab/refs.js'
import { judge, unjudged } from '../stores/ingress/ingress.js'
import type { Exchange } from './deps.js'
import { placeReceipt } from './receipts.js'
import { receiptOf } from './take.js'

/** What the door says of a stored message once it knows who we are. */
export type Judge = (message: IncomingMessage) => {
  readonly message: IncomingMessage
  readonly turnAuthority: TurnAuthority
}

const BATCH = 200

/**
 * Our own identity became known: the group messages that waited for it are judged in order, as if they had just come.
 *
 * @returns how many were judged
 * @source delivery In 4
 */
export async function judgeWaiting(x: Exchange, bot: BotId, judged: Judge): Promise<number> {
  let count = 0
  for (;;) {
    const rows = await unjudged(x.db.sql, bot, BATCH)
    for (const row of rows) {
      if (row.event.kind !== 'message') continue
      const verdict = judged(row.event.message)
      if (verdict.turnAuthority.verdict === 'unjudged') return count
      const event: Extract<IncomingEvent, { kind: 'message' }> = { ...row.event, ...verdict }
      const now = x.clock.now()
      const receipt = receiptOf(x, event.message, event)
      const put = await judge(x.db.sql, row.id, event, receipt, now)
      const { messageId, chatId } = event.message
      if (put.receipt && receipt !== null) {
        placeReceipt(x, { id: receipt.id, bot, messageId, chatId, emoji: receipt.emoji }, now).catch(() => {
          // The row stays `prepared`; the sweep settles it.
        })
      }
      if (put.wake !== null) x.wake.kick([put.wake])
      count += 1
    }
    if (rows.length < BATCH) return count
  }
}
