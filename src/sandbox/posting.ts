import type { Platform } from './platform.js'
import { isTopicLike, threadRoot, type Chat, type Message } from './state.js'

type Place = Pick<Message, 'threadId' | 'opensThread' | 'rootId' | 'parentId'>

/**
 * Where a message stands.
 *
 * A topic group makes a topic of every message that answers nothing, and keeps every reply in its topic.
 * Elsewhere a reply into a thread, or one that asks for a thread, has thread_id and both ids equal to the root;
 * a plain quote has root_id and parent_id without thread_id.
 * Source: im-v1/message/thread-introduction; message/reply.
 */
export function place(platform: Platform, chat: Chat, target: Message | null, inThread: boolean): Place {
  if (target === null)
    return isTopicLike(chat) ? { threadId: platform.ids.thread(), opensThread: true } : { opensThread: false }
  if (target.threadId === undefined && (inThread || isTopicLike(chat))) {
    target.threadId = platform.ids.thread()
    target.opensThread = true
  }
  if (target.threadId === undefined)
    return { opensThread: false, rootId: target.rootId ?? target.messageId, parentId: target.messageId }
  const rootId = threadRoot(platform.state, target.threadId)?.messageId ?? target.messageId
  return { threadId: target.threadId, opensThread: false, rootId, parentId: rootId }
}

/** Puts the message where everybody sees it. */
export function store(
  platform: Platform,
  message: Omit<Message, 'messageId' | 'deleted' | 'erased' | 'edits' | 'reactions' | 'updateTime'>,
): Message {
  const stored: Message = {
    ...message,
    messageId: platform.ids.message(),
    updateTime: message.createTime,
    deleted: false,
    erased: false,
    edits: 0,
    reactions: [],
  }
  platform.state.messages.set(stored.messageId, stored)
  platform.changed({ kind: 'message-added', chatId: stored.chatId, messageId: stored.messageId })
  return stored
}

/** Takes a message back. The receiver hears of it whoever did it. */
export function recall(platform: Platform, message: Message, type: 'message_owner' | 'group_owner'): void {
  message.deleted = true
  message.updateTime = platform.clock.now()
  platform.changed({ kind: 'message-recalled', chatId: message.chatId, messageId: message.messageId })
  platform.push(platform.events.recalled(message, type))
}
