import { choiceOfValue, type Choice } from '../collab/choice.js'
import type { Language } from '../collab/delivery.js'
import type { IncomingEvent } from '../collab/message.js'
import type { Notice } from '../collab/notice.js'
import type { BotId, RequestId } from '../collab/refs.js'
import { unreachable } from '../lib/assert.js'
import { uuidFrom } from '../lib/digest.js'
import { chooseOnCard, noteBecame, noticeOfMessage } from '../stores/choices/choices.js'
import { conversationAt, conversationOf, type Conversation } from '../stores/conversations/conversations.js'
import { directChatOf } from '../stores/principals/principals.js'
import { eventsOnRecord } from '../stores/ledger/find.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { askOf } from '../stores/policies/asks.js'
import type { IngressRow } from '../stores/ingress/ingress.js'
import { writeAudit } from '../stores/sessions/audit.js'
import { answerApproval } from './answer-approval.js'
import { answerAdmission } from './admission-ask.js'
import type { Exchange } from './deps.js'
import { mayOperateNow } from './owners.js'
import { takeUpEdit } from './edited.js'
import { eventIdOf } from './ids.js'
import { runHeld, runNewest, skipHeld } from './held.js'
import type { Said } from './marks.js'
import { stopConversation } from './stop.js'
import { settleWithheld } from './withheld.js'

export type Click = Extract<IncomingEvent, { kind: 'card-action' }>

/** What the person who pressed a button is told, in the language of the chat, and what the card shows from then on. */
export interface Clicked {
  readonly tone: 'success' | 'info' | 'warning'
  readonly toast: Notice
  readonly language: Language
  /** Null: the card stays as it is. */
  readonly card: { readonly asked: Notice; readonly became: Notice } | null
}

/**
 * A press on a button of ours. Who may is judged from the operator in the envelope alone: never from the value, which
 * names only what is to be done. The first press of a card decides; the same press again carries on what it began, and
 * every other one hears what was decided.
 *
 * @param earlier accepts what arrived before it, for an act that goes by the order of arrival
 * @returns null for a button that is none of ours
 * @source Lark: card.action.trigger; cases 04, 21
 */
export async function click(
  x: Exchange,
  event: Click,
  row: IngressRow,
  earlier: () => Promise<void>,
): Promise<Clicked | null> {
  const choice = choiceOfValue(event.value)
  if (choice === null) return null
  const about = await subjectOf(x, event.bot, choice)
  if (about === null) {
    const language = (await conversationAt(x.db.sql, event.bot, event.chatId))?.language ?? 'en'
    return { tone: 'info', toast: { kind: 'choice-unknown' }, language, card: null }
  }
  const { conversation } = about
  const { language } = conversation
  if (!(await mayChoose(x, event, about))) {
    x.meter.count('routing_refused_total', 'choice-not-yours')
    await writeAudit(x.db.sql, {
      id: uuidFrom('choice-refused', row.id),
      at: x.clock.now(),
      who: event.openId,
      act: `refused: ${choice.act} is an owner's choice`,
      subject: `conversation ${conversation.id}`,
    })
    return { tone: 'warning', toast: { kind: 'choice-not-yours' }, language, card: null }
  }
  const said: Said = {
    ingress: row.id,
    cause: event.eventId,
    conversation,
    position: row.position,
    writtenAt: row.receivedAt,
    actor: { kind: 'person', bot: event.bot, openId: event.openId },
  }
  if (choice.act === 'stop') {
    // No card of ours closes with it: the same button stops the next turn, and the end is told in the chat.
    await stopConversation(x, said, earlier)
    return { tone: 'success', toast: { kind: 'stopping', turns: 1 }, language, card: null }
  }
  const asked = (await noticeOfMessage(x.db.sql, event.bot, event.messageId))?.notice ?? null
  const decided = await chooseOnCard(x.db.sql, {
    bot: event.bot,
    // A card without an id of its own is decided by its press alone.
    messageId: event.messageId === '' ? event.eventId : event.messageId,
    eventId: event.eventId,
    act: choice.act,
    openId: event.openId,
    chosenAt: x.clock.now(),
  })
  if (decided.eventId !== event.eventId) {
    const card = asked === null || decided.became === null ? null : { asked, became: decided.became }
    return { tone: 'info', toast: { kind: 'choice-made', act: decided.act }, language, card }
  }
  const became = decided.became ?? (await carryOut(x, choice, said))
  await noteBecame(x.db.sql, event.bot, decided.messageId, became)
  const tone = became.kind === 'nothing-held' ? 'info' : 'success'
  return { tone, toast: became, language, card: asked === null ? null : { asked, became } }
}

interface Subject {
  readonly conversation: Conversation
  /** Whose word counts, when the choice is about one request; null: any owner's who is in that conversation. */
  readonly owner: string | null
}

/** What a choice is about, if this bot knows it. */
async function subjectOf(x: Exchange, bot: BotId, choice: Choice): Promise<Subject | null> {
  if ('ask' in choice) {
    const ask = await askOf(x.db.sql, choice.ask)
    const chat = ask === null || ask.bot !== bot ? null : await directChatOf(x.db.sql, bot, ask.owner)
    if (ask === null || chat === null) return null
    // An owner who was bound by the setup may not have said a word there.
    const unspoken = { id: '', bot, chatId: chat, threadKey: '', chatType: 'p2p', language: 'en' } as const
    return { conversation: (await conversationAt(x.db.sql, bot, chat)) ?? unspoken, owner: ask.owner }
  }
  if (!('request' in choice)) {
    const conversation = await conversationOf(x.db.sql, choice.conversation)
    return conversation?.bot === bot ? { conversation, owner: null } : null
  }
  const { request } = await stateOfRequest(x.db.sql, choice.request as RequestId)
  const conversation = request === null ? null : await conversationOf(x.db.sql, request.conversation)
  if (request === null || conversation?.bot !== bot) return null
  // A member operates nothing, their own request neither: that is for the owners of the place.
  return { conversation, owner: request.authority.principal === 'member' ? null : request.authority.openId }
}

/** A bound owner that is listed now; in a direct chat the one it belongs to, and for one request its own. */
async function mayChoose(x: Exchange, event: Click, about: Subject): Promise<boolean> {
  const { bot, openId } = event
  if (!(await mayOperateNow(x, { app: bot, tenantKey: event.tenantKey ?? null, openId }))) return false
  if (about.owner !== null && about.owner !== openId) return false
  if (about.conversation.chatType !== 'p2p') return true
  return (await directChatOf(x.db.sql, bot, openId)) === about.conversation.chatId
}

async function carryOut(x: Exchange, choice: Exclude<Choice, { act: 'stop' }>, said: Said): Promise<Notice> {
  switch (choice.act) {
    case 'run-held':
      return await runHeld(x, said)
    case 'skip-held':
      return await skipHeld(x, said)
    case 'run-newest':
      return await runNewest(x, said)
    case 'show-result':
    case 'drop-result': {
      const request = choice.request as RequestId
      await settleWithheld(x, request, choice.act === 'show-result' ? 'shown' : 'dropped', said)
      // Settled by this very press, or by the owner's word in the chat before it.
      const done = await eventsOnRecord(x.db.sql, [eventIdOf('settle-withheld', said.cause, request)])
      if (done.length === 0) return { kind: 'nothing-held' }
      return { kind: choice.act === 'show-result' ? 'late-released' : 'late-skipped', count: 0, results: 1 }
    }
    case 'take-edit':
      return await takeUpEdit(x, choice.request as RequestId)
    case 'leave-edit':
      return { kind: 'edit-left' }
    case 'allow-once':
    case 'allow-always':
    case 'allow-offered':
    case 'refuse':
      return await answerApproval(x, choice, said)
    case 'admit-here':
    case 'admit-trial':
    case 'admit-everywhere':
    case 'admit-refuse':
      return await answerAdmission(x, choice, said.actor.kind === 'person' ? said.actor.openId : '')
    default:
      return unreachable(choice)
  }
}
