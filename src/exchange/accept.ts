import type { BotId } from '../collab/refs.js'
import type { IncomingEvent, IncomingMessage } from '../collab/message.js'
import type { JobOutcome } from '../collab/jobs.js'
import { languageOf } from '../collab/project/language.js'
import { DAY, MINUTE } from '../lib/time.js'
import { sha256, uuidFrom } from '../lib/digest.js'
import { errorLabel } from '../lib/log.js'
import { ensureConversation, type Conversation } from '../stores/conversations/conversations.js'
import { isTold } from '../stores/deliveries/deliveries.js'
import { personWrote } from '../stores/ingress/bot-turns.js'
import { putContextItem } from '../stores/ingress/context-items.js'
import { anyOurs, dispose, ingressRow, owedUpTo, type IngressRow } from '../stores/ingress/ingress.js'
import { forgetPlace, hear } from '../stores/presence/places.js'
import { bindOwner, isBoundOwner } from '../stores/principals/principals.js'
import { putWake } from '../stores/wakes/wakes.js'
import { click, type Click, type Clicked } from './click.js'
import { controlWordOf, obey } from './control.js'
import type { Exchange } from './deps.js'
import { conversationIdOf, returnRefOf, threadKeyOf } from './ids.js'
import { latenessOf } from './late.js'
import { openRequest } from './open.js'
import { admitBot } from './other-bots.js'
import { heedEdit } from './edited.js'
import { recall } from './recall.js'
import { redrawCard } from './redraw.js'
import { say } from './say.js'
import { bindsNow, parentsOf } from './take.js'

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

async function acceptMessage(
  x: Exchange,
  event: Extract<IncomingEvent, { kind: 'message' }>,
  row: Owed,
): Promise<string | null> {
  const { message, turnAuthority } = event
  if (turnAuthority.verdict === 'unjudged') return null
  if (turnAuthority.verdict === 'ignored') return 'ignored'
  await hearIn(x, message, row)
  switch (turnAuthority.verdict) {
    case 'context-only':
      return await keepAsContext(x, message)
    case 'if-parent-ours':
      if (!(await anyOurs(x.db.sql, parentsOf(message)))) return await keepAsContext(x, message)
      return await acceptAddressed(x, message, row)
    case 'addressed':
      if (turnAuthority.because === 'other-bot') return await acceptFromBot(x, message, row)
      if (turnAuthority.because === 'configured-group' && !(await isOwnerNow(x, message.bot, message.sender.openId))) {
        // In a chat where nobody has to name the bot, most of what is said is said to somebody else.
        return await keepAsContext(x, message)
      }
      return await acceptAddressed(x, message, row)
  }
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
async function acceptFromBot(x: Exchange, message: IncomingMessage, row: IngressRow): Promise<string> {
  if (message.recalled || isBlank(message)) return 'ignored'
  const admission = await admitBot(x, message, row)
  if (!admission.admitted) return admission.disposition
  const conversation = await conversationFor(x, message, row.receivedAt)
  const { owner } = admission
  await openRequest(x, {
    message,
    conversation,
    receivedAt: row.receivedAt,
    position: row.position,
    late: false,
    owner,
  })
  return 'request'
}

const isBlank = (message: IncomingMessage): boolean =>
  message.text.trim() === '' && message.attachments.length === 0 && message.expand === null

async function acceptAddressed(x: Exchange, message: IncomingMessage, row: Owed): Promise<string> {
  if (message.recalled) return 'ignored'
  const { bot, sender } = message
  if (bindsNow(x, message)) {
    await bindOwner(x.db.sql, { bot, openId: sender.openId, directChat: message.chatId }, row.receivedAt)
  } else if (!(await isOwnerNow(x, bot, sender.openId))) {
    return await refuse(x, message)
  } else if (message.chatType === 'p2p') {
    await bindOwner(x.db.sql, { bot, openId: sender.openId, directChat: message.chatId }, row.receivedAt)
  }
  const conversation = await conversationFor(x, message, row.receivedAt)
  const lateness = await latenessOf(x, message, row)
  const late = lateness === 'held'
  const word = controlWordOf(message.text)
  if (word !== null) {
    if (late) return await refuseLateControl(x, message, conversation, row)
    const { id: ingress, position, earlier = async () => {} } = row
    return await obey(x, { word, message, conversation, ingress, position, earlier })
  }
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
  await openRequest(x, { message, conversation, receivedAt: row.receivedAt, position: row.position, late })
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

/** Bound once, and listed now: taking an id off the list takes its authority away. */
async function isOwnerNow(x: Exchange, bot: BotId, openId: string): Promise<boolean> {
  return x.settings.ownerOpenIds.has(openId) && (await isBoundOwner(x.db.sql, bot, openId))
}

/** One conversation per (bot, chat, thread): a topic does not see the main flow, nor the other way round. */
async function conversationFor(x: Exchange, message: IncomingMessage, at: number): Promise<Conversation> {
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
    languageOf(message.text),
    at,
  )
}

/** One calm line, at most once a day per person and chat; no receipt of work, no turn. */
async function refuse(x: Exchange, message: IncomingMessage): Promise<string> {
  const day = Math.floor(message.createTime / DAY)
  const listed = x.settings.ownerOpenIds.has(message.sender.openId)
  const { bot, chatId, sender, messageId } = message
  const causeId = uuidFrom('refused', bot, chatId, sender.openId, message.chatType === 'p2p' ? messageId : day)
  x.meter.count('routing_refused_total', 'not-an-owner')
  // Another topic of the same group is another route, and no reason to say it again.
  if (message.chatType !== 'p2p' && (await isTold(x.db.sql, bot, 'notice', causeId))) return 'refused'
  await say(x, {
    causeKind: 'notice',
    causeId,
    // One line for the person and the day: the route is the chat, so that a second trigger is the same delivery.
    route: {
      ...returnRefOf(message),
      replyTo: refusalAnchor(message),
    },
    notice:
      message.chatType === 'p2p'
        ? { kind: 'not-an-owner', openId: message.sender.openId }
        : listed
          ? { kind: 'owner-not-bound-yet' }
          : { kind: 'owner-only-in-group' },
    language: languageOf(message.text) ?? 'en',
    endsReceipt: null,
    request: null,
  })
  return 'refused'
}

/** What the refusal replies to: the message itself in a direct chat, the topic's root in a topic, else nothing. */
function refusalAnchor(message: IncomingMessage): string | null {
  if (message.chatType === 'p2p') return message.messageId
  return message.threadId === null ? null : (message.rootId ?? message.messageId)
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
