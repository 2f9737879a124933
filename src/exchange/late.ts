import { chatCommandOf } from '../collab/chat-command.js'
import type { IncomingMessage } from '../collab/message.js'
import { SECOND } from '../lib/time.js'
import { writtenSince, type IngressRow } from '../stores/ingress/ingress.js'
import { absenceAt } from '../stores/presence/presence.js'
import { controlWordOf } from './control.js'
import type { Exchange } from './deps.js'
import { GAP_FILL } from './doors.js'
import { threadKeyOf } from './ids.js'

/** `runs`: it came late because of us, and nothing has moved on since. `held`: it waits for its sender's word. */
export type Lateness = 'on-time' | 'runs' | 'held'

/** What comes sooner after it was written was pushed for the first time: somebody is there and waits (Lark: 15 s). */
const FIRST_PUSH_MS = 10 * SECOND

/**
 * Did a message of an owner come too late to run by itself?
 *
 * Late is what is older than ten minutes (setting) at its arrival, and whatever was found in a history. It runs all the
 * same when its first push fell into an absence of our own, nobody wrote in that place after the absence, and it is
 * younger than the owner allows. What looks like an order never does, not even a young one from an absence: it was
 * meant for a moment that has passed.
 *
 * @source delivery In 5
 */
export async function latenessOf(x: Exchange, message: IncomingMessage, row: IngressRow): Promise<Lateness> {
  const age = row.receivedAt - message.createTime
  const late = row.door === GAP_FILL || age > x.settings.lateAfterMs
  const order = isOrder(message.text)
  if (!late && (!order || age < FIRST_PUSH_MS)) return 'on-time'
  const { bot, chatId, createTime } = message
  const absentUntil = await absenceAt(x.db.sql, bot, createTime, row.receivedAt)
  if (!late) return absentUntil === null ? 'on-time' : 'held'
  if (order || absentUntil === null || age >= x.settings.lateRunWithinMs) return 'held'
  const place = { bot, chatId, threadKey: threadKeyOf(message) }
  return (await writtenSince(x.db.sql, place, absentUntil)) ? 'held' : 'runs'
}

/** A whole message that is one slash word: an order, whether we know it or not. */
export function isOrder(text: string): boolean {
  return (
    /^\/[^\s/]+$/u.test(text.normalize('NFKC').trim()) || controlWordOf(text) !== null || chatCommandOf(text) !== null
  )
}
