import type { StartRefusal } from '../collab/chat-policy.js'
import type { IncomingMessage } from '../collab/message.js'
import type { Notice } from '../collab/notice.js'
import { languageOf } from '../collab/project/language.js'
import { uuidFrom } from '../lib/digest.js'
import { DAY } from '../lib/time.js'
import { isTold } from '../stores/deliveries/deliveries.js'
import { writeAudit } from '../stores/sessions/audit.js'
import type { Judged } from './admission.js'
import { askOwner } from './admission-ask.js'
import { subjectOf } from './chat-policy.js'
import type { Exchange } from './deps.js'
import { returnRefOf } from './ids.js'
import { say } from './say.js'

/**
 * Somebody named this bot who may not start anything here: one calm line, at most once a day per person and chat; no
 * receipt of work, no turn. The reason is on record, and an owner may be asked.
 */
export async function refuseStart(
  x: Exchange,
  message: IncomingMessage,
  judged: Judged,
  because: StartRefusal,
): Promise<string> {
  const { policy } = judged.standing
  await audit(x, message, because)
  x.meter.count('routing_refused_total', because === 'owner-only' ? 'not-an-owner' : because)
  await tellOnce(x, message, 'refused', noticeOf(x, message, because), policy.language)
  await askOwner(x, message, judged, because)
  return 'refused'
}

/** A control word of somebody who may start work: operating is another right, and no policy gives it. */
export async function refuseCommand(x: Exchange, message: IncomingMessage): Promise<string> {
  await audit(x, message, 'operate-owner-only')
  x.meter.count('routing_refused_total', 'operate-owner-only')
  await tellOnce(x, message, 'operate-refused', { kind: 'operate-owner-only' }, null)
  return 'refused'
}

function noticeOf(x: Exchange, message: IncomingMessage, because: StartRefusal): Notice {
  if (because !== 'owner-only' && because !== 'not-a-member') return { kind: 'start-refused', because }
  const { openId } = message.sender
  if (message.chatType === 'p2p') return { kind: 'not-an-owner', openId }
  return { kind: x.settings.ownerOpenIds.has(openId) ? 'owner-not-bound-yet' : 'owner-only-in-group' }
}

async function tellOnce(
  x: Exchange,
  message: IncomingMessage,
  about: string,
  notice: Notice,
  language: 'en' | 'zh' | null,
): Promise<void> {
  const { bot, chatId, chatType, sender, messageId } = message
  const day = Math.floor(message.createTime / DAY)
  const causeId = uuidFrom(about, bot, chatId, sender.openId, chatType === 'p2p' ? messageId : day)
  // Another topic of the same group is another route, and no reason to say it again.
  const told = chatType !== 'p2p' && (await isTold(x.db.sql, bot, 'notice', causeId))
  if (told) return
  await say(x, {
    causeKind: 'notice',
    causeId,
    // One line for the person and the day: the route is the chat, so that a second trigger is the same delivery.
    route: { ...returnRefOf(message), replyTo: anchorOf(message) },
    notice,
    language: language ?? languageOf(message.text) ?? 'en',
    // The door placed one for somebody who is listed.
    endsReceipt: x.settings.ownerOpenIds.has(sender.openId) ? { messageId, chatId, end: 'withdrawn' } : null,
    request: null,
  })
}

/** What the refusal replies to: the message itself in a direct chat, the topic's root in a topic, else nothing. */
function anchorOf(message: IncomingMessage): string | null {
  if (message.chatType === 'p2p') return message.messageId
  return message.threadId === null ? null : (message.rootId ?? message.messageId)
}

async function audit(x: Exchange, message: IncomingMessage, because: string): Promise<void> {
  const { bot, chatId, messageId, sender } = message
  await writeAudit(x.db.sql, {
    id: uuidFrom('not-admitted', bot, messageId),
    at: x.clock.now(),
    who: sender.openId,
    act: `refused: ${because}`,
    subject: subjectOf(bot, chatId),
  })
}
