import { chatCommandOf } from '../collab/chat-command.js'
import { isMeant, mayOperate, type ChatPolicy } from '../collab/chat-policy.js'
import type { IncomingEvent, IncomingMessage } from '../collab/message.js'
import type { JobOutcome } from '../collab/jobs.js'
import { languageOf } from '../collab/project/language.js'
import { MINUTE } from '../lib/time.js'
import { sha256, uuidFrom } from '../lib/digest.js'
import { errorLabel } from '../lib/log.js'
import { ensureConversation, type Conversation } from '../stores/conversations/conversations.js'
import { personWrote } from '../stores/ingress/bot-turns.js'
import { putContextItem } from '../stores/ingress/context-items.js'
import { dispose, ingressRow, owedUpTo, type IngressRow } from '../stores/ingress/ingress.js'
import { forgetPlace, hear } from '../stores/presence/places.js'
import { bindOwner } from '../stores/principals/principals.js'
import { putWake } from '../stores/wakes/wakes.js'
import { authorityOf, judge, speakerOf, takeStart, type Judged } from './admission.js'
import { refuseCommand, refuseStart } from './admission-refused.js'
import { obeyChat } from './chat-word.js'
import { click, type Click, type Clicked } from './click.js'
import { controlWordOf, obey } from './control.js'
import type { Exchange } from './deps.js'
import { conversationIdOf, returnRefOf, threadKeyOf } from './ids.js'
import { latenessOf } from './late.js'
import { openRequest } from './open.js'
import { guardBots } from './other-bots.js'
import { privatePlaceOf, sayTakenPrivately } from './private-return.js'
import { heedEdit } from './edited.js'
import { recall } from './recall.js'
import { redrawCard } from './redraw.js'
import { say } from './say.js'
import { bindsNow, forgetReceipt, receiveNow } from './take.js'

/**
 * Turns stored events into what they are: a request, a context item, a refusal, a control word. All that is owed in
 * the chat up to this event is done in the order of arrival, whichever job comes first; each step is repeatable.
 */
export async function accept(x: Exchange, ingressId: string): Promise<JobOutcome> {
  let done = 0
  for (const row of await owedUpTo(x.db.sql, ingressId)) {
    // The order of arrival says nothing about a press, and whoever pressed waits for its own run.
    if (row.event.kind === 'card-action' && row.id !== ingressId) continue
    const disposition = await acceptOne(x, row)
    if (disposition === null) continue
    await dispose(x.db.sql, row.id, disposition, x.clock.now())
    done += 1
  }
  return { outcome: 'done', note: done === 0 ? 'nothing owed' : `${done} accepted` }
}

/** One event alone, before what its chat still owes: for a word that waits for nothing. */
export async function acceptAtOnce(x: Exchange, ingressId: string): Promise<void> {
  const row = await ingressRow(x.db.sql, ingressId)
  if (row === null || row.disposition !== null) return
  const disposition = await acceptOne(x, { ...row, earlier: () => acceptEarlier(x, row) })
  if (disposition !== null) await dispose(x.db.sql, row.id, disposition, x.clock.now())
}

/** A press alone: what it did is said to whoever waits for the answer. */
export async function clickAtOnce(x: Exchange, event: Click, row: IngressRow): Promise<Clicked | null> {
  const clicked = await click(x, event, row, () => acceptEarlier(x, row))
  await dispose(x.db.sql, row.id, clicked === null ? 'noted' : 'control', x.clock.now())
  return clicked
}

/** What arrived in the chat before an event. One that cannot be accepted now must not keep a stop from acting. */
async function acceptEarlier(x: Exchange, before: IngressRow): Promise<void> {
  for (const row of await owedUpTo(x.db.sql, before.id)) {
    if (row.id === before.id || row.event.kind === 'card-action') continue
    try {
      const disposition = await acceptOne(x, row)
      if (disposition !== null) await dispose(x.db.sql, row.id, disposition, x.clock.now())
    } catch (error) {
      x.log.warn('an event was left to its job', { eventId: row.event.eventId, error: errorLabel(error) })
    }
  }
}

type MessageEvent = Extract<IncomingEvent, { kind: 'message' }>

/** An event with what must be accepted before it, when it is taken out of its order. */
type Owed = IngressRow & { readonly earlier?: () => Promise<void> }

/** Null leaves the event owed. */
async function acceptOne(x: Exchange, row: Owed): Promise<string | null> {
  const event: IncomingEvent = row.event
  switch (event.kind) {
    case 'message':
      return await acceptMessage(x, event, row)
    case 'recalled':
      return await recall(x, event)
    case 'card-action':
      return await pressLeft(x, event, row)
    case 'edited':
      return await heedEdit(x, event)
    case 'bot-added':
    case 'bot-removed':
    case 'chat-disbanded':
      return await changePlaces(x, event, row)
    default:
      return 'noted'
  }
}

async function acceptMessage(x: Exchange, event: MessageEvent, row: Owed): Promise<string | null> {
  const { message, turnAuthority } = event
  const { verdict } = turnAuthority
  if (verdict === 'unjudged') return null
  if (verdict === 'ignored' && (turnAuthority.because === 'own-message' || !namedByBot(message))) return 'ignored'
  if (verdict !== 'ignored') await hearIn(x, message, row)
  if (message.recalled) return 'ignored'
  if (bindsNow(x, message)) await bind(x, message, row.receivedAt)
  const judged = await judge(x, message, verdict)
  const { admission, addressed, standing, owners } = judged
  const operates = mayOperate(speakerOf(message), owners)
  const meant = isMeant(addressed, standing.policy)
  // Operating is another right than starting: an owner stops what runs also where nobody may start anything.
  if (meant && operates && isCommand(message.text)) return await acceptCommand(x, message, row, standing.policy)
  if (!admission.admitted) {
    if (message.sender.type === 'bot') return 'ignored'
    if (admission.because !== 'not-addressed') return await refuseStart(x, message, judged, admission.because)
    await forgetReceipt(x, event)
    return await keepAsContext(x, message)
  }
  if (admission.as === 'bot') return await acceptFromBot(x, message, row, judged)
  if (isCommand(message.text)) return await refuseCommand(x, message)
  return await acceptAddressed(x, event, row, judged)
}

/** Another bot named this one in a group; the chat's policy says whether that counts. */
const namedByBot = ({ chatType, sender, mentionsSelf }: IncomingMessage): boolean =>
  sender.type === 'bot' && chatType !== 'p2p' && mentionsSelf

const isCommand = (text: string): boolean => controlWordOf(text) !== null || chatCommandOf(text) !== null

async function bind(x: Exchange, message: IncomingMessage, at: number): Promise<void> {
  const { openId, tenantKey, unionId } = message.sender
  await bindOwner(x.db.sql, { bot: message.bot, openId, tenantKey, unionId, directChat: message.chatId }, at)
}

/** The place is known from now on: its history is read after an absence. */
async function hearIn(x: Exchange, message: IncomingMessage, row: IngressRow): Promise<void> {
  const { bot, chatId, chatType, threadId, sender } = message
  const at = { heardAt: row.receivedAt, readUntil: Math.min(row.receivedAt, message.createTime) }
  for (const key of threadId === null ? [''] : ['', threadId]) {
    await hear(x.db.sql, { id: conversationIdOf(bot, chatId, key), bot, chatId, chatType, threadId: key }, at)
  }
  if (sender.type === 'user') await personWrote(x.db.sql, bot, chatId, row.position)
}

/** The bot came into a group, or left it: what was said there without it was never meant for it. */
async function changePlaces(
  x: Exchange,
  event: Extract<IncomingEvent, { kind: 'bot-added' | 'bot-removed' | 'chat-disbanded' | 'chat-entered' }>,
  row: IngressRow,
): Promise<string> {
  const { bot, chatId } = event
  await forgetPlace(x.db.sql, bot, chatId)
  if (event.kind === 'bot-added') {
    const place = { id: conversationIdOf(bot, chatId, ''), bot, chatId, chatType: 'group', threadId: '' } as const
    await hear(x.db.sql, place, { heardAt: row.receivedAt, readUntil: row.receivedAt })
  }
  return 'noted'
}

/** Another bot named this one, in a chat where it may. */
async function acceptFromBot(x: Exchange, message: IncomingMessage, row: IngressRow, judged: Judged): Promise<string> {
  const authority = authorityOf(message, judged)
  if (isBlank(message) || authority === null) return 'ignored'
  const disposition = await guardBots(x, message, row)
  if (disposition !== null) return disposition
  const conversation = await conversationFor(x, message, row.receivedAt, judged.standing.policy)
  const { receivedAt, position } = row
  const returns = judged.standing.policy.returns
  await openRequest(x, { message, conversation, receivedAt, position, late: false, authority, returns })
  return 'request'
}

const isBlank = (message: IncomingMessage): boolean =>
  message.text.trim() === '' && message.attachments.length === 0 && message.expand === null

/** A control word or a setting of an owner. */
async function acceptCommand(x: Exchange, message: IncomingMessage, row: Owed, policy: ChatPolicy): Promise<string> {
  const conversation = await conversationFor(x, message, row.receivedAt, policy)
  if ((await latenessOf(x, message, row)) === 'held') return await refuseLateControl(x, message, conversation, row)
  const { id: ingress, position, earlier = async () => {} } = row
  const word = controlWordOf(message.text)
  if (word !== null) return await obey(x, { word, message, conversation, ingress, position, earlier })
  return await obeyChat(x, message, conversation)
}

async function acceptAddressed(x: Exchange, event: MessageEvent, row: Owed, judged: Judged): Promise<string> {
  const { message } = event
  const { policy } = judged.standing
  const authority = authorityOf(message, judged)
  if (authority === null) return 'ignored'
  const lateness = await latenessOf(x, message, row)
  const late = lateness === 'held'
  // What waits for a word waits for an owner's, and a member's own moment has passed.
  if (late && authority.principal === 'member') return await keepAsContext(x, message)
  const conversation = await conversationFor(x, message, row.receivedAt, policy)
  if (isBlank(message)) {
    await say(x, {
      causeKind: 'notice',
      causeId: `empty-${message.messageId}`,
      route: returnRefOf(message),
      notice: { kind: 'empty-message' },
      language: conversation.language,
      endsReceipt: { messageId: message.messageId, chatId: message.chatId, end: 'withdrawn' },
      request: null,
    })
    return 'refused'
  }
  if (!(await takeStart(x, judged, row))) return await refuseStart(x, message, judged, 'membership-used-up')
  await receiveNow(x, event)
  const { receivedAt, position } = row
  const asked = { message, conversation, receivedAt, position, authority }
  const place = late ? null : await privatePlaceOf(x, asked)
  await openRequest(x, { ...asked, late, returns: policy.returns, ...place })
  if (place !== null) await sayTakenPrivately(x, message, conversation)
  if (message.messageType === 'audio') await sayVoiceUnread(x, message, conversation)
  if (!late) return 'request'
  const wake = await putWake(x.db.sql, 'upkeep', `late-${conversation.id}`, x.clock.now())
  x.wake.kick([wake])
  return 'held'
}

/** A press whose door is gone: it acts all the same, and the card is drawn anew by a call. */
async function pressLeft(x: Exchange, event: Click, row: IngressRow): Promise<string> {
  const clicked = await click(x, event, row, async () => {})
  if (clicked === null) return 'noted'
  await redrawCard(x, event, clicked)
  return 'control'
}

/** One conversation per (bot, chat, thread): a topic does not see the main flow, nor the other way round. */
async function conversationFor(
  x: Exchange,
  message: IncomingMessage,
  at: number,
  policy: ChatPolicy,
): Promise<Conversation> {
  const threadKey = threadKeyOf(message)
  return await ensureConversation(
    x.db.sql,
    {
      id: conversationIdOf(message.bot, message.chatId, threadKey),
      bot: message.bot,
      chatId: message.chatId,
      threadKey,
      chatType: message.chatType,
    },
    policy.language ?? languageOf(message.text),
    at,
  )
}

async function keepAsContext(x: Exchange, message: IncomingMessage): Promise<string> {
  const body = message.text
  if (body.trim() === '') return 'ignored'
  await putContextItem(
    x.db.sql,
    {
      id: uuidFrom('context', message.bot, message.messageId),
      bot: message.bot,
      chatId: message.chatId,
      threadKey: threadKeyOf(message),
      messageId: message.messageId,
      senderOpenId: message.sender.openId,
      senderType: message.sender.type,
      textDigest: sha256(body),
      body,
      writtenAt: message.createTime,
    },
    x.clock.now(),
  )
  return 'context-item'
}

/** An order that comes too late is not carried out: its sender is told so, and its receipt goes. */
async function refuseLateControl(
  x: Exchange,
  message: IncomingMessage,
  conversation: Conversation,
  row: IngressRow,
): Promise<string> {
  const { messageId, chatId } = message
  const minutes = Math.max(1, Math.round((row.receivedAt - message.createTime) / MINUTE))
  await say(x, {
    causeKind: 'notice',
    causeId: `late-control-${messageId}`,
    route: returnRefOf(message),
    notice: { kind: 'late-control', word: message.text.trim(), minutes },
    language: conversation.language,
    endsReceipt: { messageId, chatId, end: 'withdrawn' },
    request: null,
  })
  return 'late-control'
}

/** Nobody here turns speech into words: the agent gets the sound, and its sender knows that. */
async function sayVoiceUnread(x: Exchange, message: IncomingMessage, conversation: Conversation): Promise<void> {
  await say(x, {
    causeKind: 'notice',
    causeId: `voice-${message.messageId}`,
    route: returnRefOf(message),
    notice: { kind: 'voice-without-words' },
    language: conversation.language,
    endsReceipt: null,
    request: null,
  })
}
