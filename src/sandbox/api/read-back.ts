import { TENANT_KEY } from '../events.js'
import { sha256 } from '../../lib/digest.js'
import type { Platform } from '../platform.js'
import type { Message } from '../state.js'

/**
 * A message as REST answers it: body.content, sender by id with id_type, mention ids as plain strings.
 * The uuid is never given back.
 * Source: message/get-message, message/list.
 */
export function readBack(platform: Platform, message: Message, upper?: string): object {
  const byApp = message.sender === 'bot' || platform.book.isBot(message.sender)
  return {
    message_id: message.messageId,
    ...(message.rootId === undefined ? {} : { root_id: message.rootId, parent_id: message.parentId }),
    ...(message.threadId === undefined ? {} : { thread_id: message.threadId }),
    msg_type: message.msgType,
    create_time: String(message.createTime),
    update_time: String(message.updateTime),
    deleted: message.deleted,
    updated: message.edits > 0,
    chat_id: message.chatId,
    sender: {
      id: message.sender === 'bot' ? platform.appId : byApp ? otherAppId(message.sender) : message.sender,
      id_type: byApp ? 'app_id' : 'open_id',
      sender_type: byApp ? 'app' : 'user',
      tenant_key: TENANT_KEY,
    },
    body: { content: message.deleted ? 'This message was recalled' : message.shown },
    ...(message.mentions.length === 0 || message.deleted
      ? {}
      : {
          mentions: message.mentions.map((mention) => ({
            key: mention.key,
            id: mention.openId,
            id_type: 'open_id',
            name: mention.name,
            tenant_key: TENANT_KEY,
          })),
        }),
    ...(upper === undefined ? {} : { upper_message_id: upper }),
  }
}

/** Another bot is read back by its app id, which its open id does not tell. */
const otherAppId = (openId: string): string => `cli_${sha256(openId).slice(0, 16)}`
