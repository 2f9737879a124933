import { z } from 'zod'
import type { IncomingEvent, IncomingMessage, TurnAuthority } from '../../collab/message.js'
import type { BotIdentity } from '../../collab/channel.js'
import type { BotId } from '../../collab/refs.js'
import { Fields } from './content/read.js'
import { toIncomingMessage } from './message.js'
import { fieldOf, id, rawFromEvent, typeName } from './raw.js'

export type EventReading =
  | { readonly read: 'event'; readonly event: IncomingEvent }
  /** `field` is a path of field names, never a value. */
  | { readonly read: 'malformed'; readonly field: string }

export interface EventContext {
  readonly bot: BotId
  readonly self: BotIdentity | null
  /** When the event came, in milliseconds since the epoch. */
  readonly now: number
  readonly judge: (message: IncomingMessage) => TurnAuthority
}

const person = z.object({ open_id: z.string().nullish() }).nullish()

const v2 = z.object({
  header: z.object({ event_id: id, event_type: typeName, app_id: z.string().nullish() }),
  event: z.unknown(),
})
const v1 = z.object({
  uuid: id,
  type: z.literal('event_callback'),
  event: z.looseObject({ type: typeName, app_id: z.string().nullish() }),
})
const recalled = z.object({ message_id: id, chat_id: id })
const chat = z.object({ chat_id: id, operator_id: person, operator: person })
const cardAction = z.object({
  operator: z.object({ open_id: id, union_id: z.string().nullish(), tenant_key: z.string().nullish() }),
  context: z.object({ open_message_id: z.string().nullish(), open_chat_id: z.string().nullish() }).nullish(),
  // Legacy places of the same two ids.
  open_message_id: z.string().nullish(),
  open_chat_id: z.string().nullish(),
  action: z.looseObject({ value: z.unknown() }).nullish(),
})

const chatEvents: Readonly<Record<string, 'bot-added' | 'bot-removed' | 'chat-disbanded' | 'chat-entered'>> = {
  'im.chat.member.bot.added_v1': 'bot-added',
  'im.chat.member.bot.deleted_v1': 'bot-removed',
  'im.chat.disbanded_v1': 'chat-disbanded',
  'im.chat.access_event.bot_p2p_chat_entered_v1': 'chat-entered',
  // Envelope v1 (Lark: bot-events).
  p2p_chat_create: 'chat-entered',
}

/**
 * One verified envelope, v2 or v1, as one of our events. Extra fields are ignored; an event type that we do not
 * know is stored as `other`. Refused: an envelope without its ids, and one that was meant for another app.
 */
export function readEvent(envelope: unknown, context: EventContext): EventReading {
  // Looked at first: a refusal by a schema costs more than the whole reading of a good event.
  const legacy = new Fields(envelope).string('type') === 'event_callback' ? v1.safeParse(envelope) : null
  if (legacy?.success === true) {
    const { uuid, event } = legacy.data
    return readBody(uuid, event.type, event.app_id, event, context)
  }
  const parsed = v2.safeParse(envelope)
  if (!parsed.success) return { read: 'malformed', field: fieldOf(parsed.error) }
  const { header, event } = parsed.data
  return readBody(header.event_id, header.event_type, header.app_id, event, context)
}

function readBody(
  eventId: string,
  eventType: string,
  appId: string | null | undefined,
  body: unknown,
  context: EventContext,
): EventReading {
  if (appId !== undefined && appId !== null && appId !== '' && appId !== context.bot) {
    return { read: 'malformed', field: 'header.app_id' }
  }
  const base = { bot: context.bot, key: eventId, eventId, eventType }
  if (eventType === 'im.message.receive_v1') {
    const raw = rawFromEvent(body, context.now)
    if (!raw.ok) return { read: 'malformed', field: `event.${raw.field}` }
    const message = toIncomingMessage(raw.value, context)
    const turnAuthority = context.judge(message)
    return { read: 'event', event: { ...base, key: message.messageId, kind: 'message', message, turnAuthority } }
  }
  if (eventType === 'im.message.recalled_v1') {
    const parsed = recalled.safeParse(body)
    if (!parsed.success) return { read: 'malformed', field: `event.${fieldOf(parsed.error)}` }
    const { message_id: messageId, chat_id: chatId } = parsed.data
    return { read: 'event', event: { ...base, kind: 'recalled', messageId, chatId } }
  }
  if (eventType === 'im.message.updated_v1') return { read: 'event', event: readUpdate(base, body) }
  if (eventType === 'card.action.trigger') return readCardAction(base, body)
  const kind = Object.hasOwn(chatEvents, eventType) ? chatEvents[eventType] : undefined
  if (kind !== undefined) {
    const parsed = chat.safeParse(body)
    if (!parsed.success) return { read: 'malformed', field: `event.${fieldOf(parsed.error)}` }
    const openId = parsed.data.operator_id?.open_id || parsed.data.operator?.open_id || null
    return { read: 'event', event: { ...base, kind, chatId: parsed.data.chat_id, openId } }
  }
  return { read: 'event', event: { ...base, kind: 'other' } }
}

/** An edit. Its payload is documented nowhere: wherever the ids stand they are a hint, and the message is read back. */
function readUpdate(
  base: { readonly bot: BotId; readonly key: string; readonly eventId: string; readonly eventType: string },
  body: unknown,
): IncomingEvent {
  const fields = new Fields(body)
  const parsed = recalled.safeParse(fields.has('message_id') ? body : fields.object('message').raw)
  if (!parsed.success) return { ...base, kind: 'other' }
  const { message_id: messageId, chat_id: chatId } = parsed.data
  return { ...base, kind: 'edited', messageId, chatId }
}

/** A click. What a form holds comes under the provider's own names, after the button's value, so neither hides. */
function readCardAction(
  base: { readonly bot: BotId; readonly key: string; readonly eventId: string; readonly eventType: string },
  body: unknown,
): EventReading {
  const parsed = cardAction.safeParse(body)
  if (!parsed.success) return { read: 'malformed', field: `event.${fieldOf(parsed.error)}` }
  const { operator, action, context } = parsed.data
  const given = action?.value
  const own = typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {}
  const value: Record<string, unknown> = { ...own, ...(typeof given === 'string' ? { value: given } : {}) }
  for (const name of ['form_value', 'input_value', 'option', 'options', 'checked']) {
    const said = action?.[name]
    if (said !== undefined) value[name] = said
  }
  return {
    read: 'event',
    event: {
      ...base,
      kind: 'card-action',
      openId: operator.open_id,
      tenantKey: operator.tenant_key || null,
      unionId: operator.union_id || null,
      messageId: context?.open_message_id ?? parsed.data.open_message_id ?? '',
      chatId: context?.open_chat_id ?? parsed.data.open_chat_id ?? '',
      value,
    },
  }
}
