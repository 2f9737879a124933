import type { Clock } from '../lib/time.js'
import type { Ids } from './ids.js'
import type { Chat, Mention, Message, Person } from './state.js'

/** The tenant of the sandbox, as in the recorded payloads. */
export const TENANT_KEY = '1a2b3c4d5e6f7081'

export interface AppIdentity {
  readonly appId: string
  readonly botOpenId: string
  readonly botName: string
  /** Empty over the long connection. */
  readonly token: string
}

/** Event bodies, schema 2.0, in the platform's field order. Source: im-v1/message/events and the recorded payloads. */
export interface Events {
  received(message: Message, chat: Chat, sender: Person, mentions: readonly MentionedPerson[]): object
  /** Source: reports only; the payload is documented nowhere. */
  edited(message: Message): object
  recalled(message: Message, type: 'message_owner' | 'group_owner'): object
  reaction(kind: 'created' | 'deleted', message: Message, emoji: string, by: Person | 'bot'): object
  bot(kind: 'added' | 'deleted', chat: Chat, operator: Person): object
  disbanded(chat: Chat, operator: Person): object
  /** group_message_type became what the chat now says. */
  messageType(chat: Chat, operator: Person): object
  p2pEntered(chat: Chat, operator: Person, last: Message | undefined): object
  cardAction(message: Message, operator: Person, token: string, action: object): object
}

export interface MentionedPerson extends Mention {
  readonly unionId: string
  readonly userId: string
}

export function createEvents(clock: Clock, ids: Ids, app: AppIdentity): Events {
  const envelope = (eventType: string, event: object, createTime = String(clock.now())): object => ({
    schema: '2.0',
    header: {
      event_id: ids.event(),
      event_type: eventType,
      create_time: createTime,
      token: app.token,
      app_id: app.appId,
      tenant_key: TENANT_KEY,
    },
    event,
  })
  const chatEvent = (chat: Chat, operator: Person): object => ({
    chat_id: chat.chatId,
    operator_id: idsOf(operator),
    external: false,
    operator_tenant_key: TENANT_KEY,
    name: chat.name,
    i18n_names: { zh_cn: chat.name, en_us: chat.name, ja_jp: '' },
  })
  return {
    received: (message, chat, sender, mentions) =>
      envelope('im.message.receive_v1', {
        sender: { sender_id: idsOf(sender), sender_type: sender.bot ? 'bot' : 'user', tenant_key: TENANT_KEY },
        message: {
          message_id: message.messageId,
          ...(message.rootId === undefined ? {} : { root_id: message.rootId, parent_id: message.parentId }),
          create_time: String(message.createTime),
          update_time: String(message.updateTime),
          chat_id: message.chatId,
          ...(message.threadId === undefined ? {} : { thread_id: message.threadId }),
          chat_type: chat.mode === 'p2p' ? 'p2p' : 'group',
          message_type: message.msgType,
          content: message.shown,
          ...(mentions.length === 0 ? {} : { mentions: mentions.map(mentionInEvent) }),
        },
      }),
    edited: (message) =>
      envelope('im.message.updated_v1', {
        message: {
          message_id: message.messageId,
          chat_id: message.chatId,
          update_time: String(message.updateTime),
        },
      }),
    recalled: (message, type) =>
      envelope('im.message.recalled_v1', {
        message_id: message.messageId,
        chat_id: message.chatId,
        recall_time: String(clock.now()),
        recall_type: type,
      }),
    reaction: (kind, message, emoji, by) =>
      envelope(`im.message.reaction.${kind}_v1`, {
        message_id: message.messageId,
        reaction_type: { emoji_type: emoji },
        operator_type: by === 'bot' ? 'app' : 'user',
        user_id: by === 'bot' ? { open_id: '', union_id: '', user_id: '' } : idsOf(by),
        ...(by === 'bot' ? { app_id: app.appId } : {}),
        action_time: String(clock.now()),
      }),
    bot: (kind, chat, operator) => envelope(`im.chat.member.bot.${kind}_v1`, chatEvent(chat, operator)),
    disbanded: (chat, operator) => envelope('im.chat.disbanded_v1', chatEvent(chat, operator)),
    messageType: (chat, operator) =>
      envelope('im.chat.updated_v1', {
        chat_id: chat.chatId,
        operator_id: idsOf(operator),
        external: false,
        operator_tenant_key: TENANT_KEY,
        after_change: { group_message_type: chat.threadStyle ? 'thread' : 'chat' },
        before_change: { group_message_type: chat.threadStyle ? 'chat' : 'thread' },
      }),
    p2pEntered: (chat, operator, last) =>
      envelope('im.chat.access_event.bot_p2p_chat_entered_v1', {
        chat_id: chat.chatId,
        operator_id: idsOf(operator),
        last_message_id: last?.messageId ?? '',
        last_message_create_time: last === undefined ? '' : String(last.createTime),
      }),
    cardAction: (message, operator, token, action) =>
      envelope(
        'card.action.trigger',
        {
          operator: { tenant_key: TENANT_KEY, ...idsOf(operator) },
          token,
          action,
          host: 'im_message',
          context: { open_message_id: message.messageId, open_chat_id: message.chatId },
        },
        // Documented in microseconds for this event alone.
        `${clock.now()}000`,
      ),
  }
}

const idsOf = (person: Person): object => ({
  union_id: person.unionId,
  user_id: person.userId,
  open_id: person.openId,
})

const mentionInEvent = (mention: MentionedPerson): object => ({
  key: mention.key,
  id: { union_id: mention.unionId, open_id: mention.openId, user_id: mention.userId },
  mentioned_type: mention.bot ? 'bot' : 'user',
  name: mention.name,
  tenant_key: TENANT_KEY,
})
