import type { Choice } from '../collab/choice.js'
import type { StartRefusal } from '../collab/chat-policy.js'
import type { IncomingMessage } from '../collab/message.js'
import type { Notice } from '../collab/notice.js'
import { uuidFrom } from '../lib/digest.js'
import { DAY } from '../lib/time.js'
import { conversationAt } from '../stores/conversations/conversations.js'
import { answerAsk, askOf, putAsk, type AskRow } from '../stores/policies/asks.js'
import { putMember } from '../stores/policies/members.js'
import { directChatOf } from '../stores/principals/principals.js'
import { writeAudit } from '../stores/sessions/audit.js'
import type { Judged } from './admission.js'
import { EVERYWHERE, policyIn, setPolicy, subjectOf } from './chat-policy.js'
import type { Exchange } from './deps.js'
import { eventIdOf } from './ids.js'
import { isIsolated } from './isolated.js'
import { say } from './say.js'

/** After a refusal nobody asks about this person again for so long. */
export const REFUSED_DAYS = 30
/** One owner gets so many of these cards a day at most, and one about the same person. */
export const ASKS_A_DAY = 5
/** What a trial gives. */
export const TRIAL = { starts: 10, days: 7 } as const
/** Characters of a stranger's words that the card shows. */
const SHOWN = 200

const askable: ReadonlySet<StartRefusal> = new Set([
  'owner-only',
  'not-a-member',
  'membership-ended',
  'membership-used-up',
  'other-tenant',
  'tenant-unknown',
])

/**
 * Somebody without the right named this bot: an owner gets one card, in their direct chat and nowhere else. None where a
 * policy was set to owners alone or to nobody: that is an answer already. None for somebody who is listed and not bound.
 */
export async function askOwner(
  x: Exchange,
  message: IncomingMessage,
  judged: Judged,
  because: StartRefusal,
): Promise<void> {
  const { bot, chatId, sender, messageId, chatType } = message
  const { standing, owners } = judged
  if (!askable.has(because) || x.settings.ownerOpenIds.has(sender.openId)) return
  if (because === 'owner-only' && standing.ref.chat + standing.ref.everywhere > 0) return
  if (!(await isIsolated(x))) return
  const asked = await firstReachable(x, bot, owners)
  if (asked === null) return
  const now = x.clock.now()
  const { openId, tenantKey, unionId } = sender
  const id = uuidFrom('admission', bot, messageId)
  const ask = { id, bot, chatId, openId, tenantKey, unionId, owner: asked.owner, askedAt: now }
  const fresh = await putAsk(x.db.sql, ask, {
    refusedSince: now - REFUSED_DAYS * DAY,
    askedSince: now - DAY,
    ownerSince: now - DAY,
    ownerMost: ASKS_A_DAY,
  })
  // On record from an interrupted run of the same message: its card may be missing.
  if (!fresh && (await askOf(x.db.sql, id)) === null) return
  await say(x, {
    causeKind: 'notice',
    causeId: `admission-${id}`,
    route: { channel: 'lark', bot, chatId: asked.chat, chatType: 'p2p', threadId: null, replyTo: null },
    notice: {
      kind: 'admission-asked',
      ask: id,
      openId,
      chatId,
      direct: chatType === 'p2p',
      words: [...message.text.trim()].slice(0, SHOWN).join(''),
    },
    language: (await conversationAt(x.db.sql, bot, asked.chat))?.language ?? 'en',
    endsReceipt: null,
    request: null,
  })
}

async function firstReachable(
  x: Exchange,
  bot: string,
  owners: Judged['owners'],
): Promise<{ readonly owner: string; readonly chat: string } | null> {
  for (const { openId } of owners) {
    const chat = await directChatOf(x.db.sql, bot, openId)
    if (chat !== null) return { owner: openId, chat }
  }
  return null
}

/**
 * An owner's word about somebody who wants to start work; the first one stands. Admitting somebody opens the chat to
 * admitted people where it was open to owners alone, and to nobody else.
 *
 * @source RFC §5.3; case 21
 */
export async function answerAdmission(
  x: Exchange,
  choice: Extract<Choice, { readonly ask: string }>,
  by: string,
): Promise<Notice> {
  const ask = await askOf(x.db.sql, choice.ask)
  if (ask === null) return { kind: 'choice-unknown' }
  const { bot, openId } = ask
  // What members start must not run among the owners' own: then nobody is admitted.
  if (choice.act !== 'admit-refuse' && !(await isIsolated(x))) {
    return { kind: 'chat-policy-refused', because: 'policy-not-isolated' }
  }
  const at = x.clock.now()
  const stands = await answerAsk(x.db.sql, ask.id, choice.act === 'admit-refuse' ? 'refused' : choice.act, by, at)
  const subject = subjectOf(bot, ask.chatId)
  await writeAudit(x.db.sql, {
    id: eventIdOf('admission', ask.id),
    at,
    who: by,
    act: `${stands === 'refused' ? 'member refused' : stands}: ${openId}`,
    subject,
  })
  if (stands === 'refused') return { kind: 'admission-refused', openId, days: REFUSED_DAYS }
  return await admit(x, ask, stands, by)
}

async function admit(x: Exchange, ask: AskRow, stands: string, by: string): Promise<Notice> {
  const { bot, openId, tenantKey, unionId } = ask
  const chatId = stands === 'admit-everywhere' ? EVERYWHERE : ask.chatId
  const trial = stands === 'admit-trial'
  const at = x.clock.now()
  await putMember(x.db.sql, {
    id: uuidFrom('member', ask.id),
    bot,
    chatId,
    openId,
    tenantKey,
    unionId,
    starts: trial ? TRIAL.starts : null,
    until: trial ? at + TRIAL.days * DAY : null,
    admittedBy: by,
    admittedAt: at,
  })
  if ((await policyIn(x, x.db.sql, bot, chatId)).policy.who === 'owner') {
    const settings = { who: 'members' } as const
    const eventId = eventIdOf('admission-policy', ask.id)
    await setPolicy(x, { bot, chat: chatId, settings, as: 'change', onRevision: null, who: by, owner: by, eventId })
  }
  return {
    kind: 'admission-given',
    openId,
    chatId: chatId === EVERYWHERE ? null : chatId,
    starts: trial ? TRIAL.starts : null,
    days: trial ? TRIAL.days : null,
  }
}
