import { objectIn } from '../../render/html/card.js'
import { excerptOf, type ShownMessage } from '../../render/html/chat-message.js'
import type { ChatMessage, ChatRoom, SandboxChat } from './chat.js'

/** The messages of a room as they are shown: topics under the message that began them, the newest last. */
export function shownMessages(chat: SandboxChat, room: ChatRoom): readonly ShownMessage[] {
  const all = chat.messages(room.chatId)
  const names = new Map(chat.people().map((person) => [person.openId, person.name]))
  const files = new Map(chat.uploads().map((upload) => [upload.key, upload.fileName]))
  const owner = chat.people()[0]?.openId
  const byId = new Map(all.map((message) => [message.id, message]))
  const isReply = (message: ChatMessage): boolean =>
    message.threadId !== null && message.rootId !== null && byId.has(message.rootId)
  const show = (message: ChatMessage): ShownMessage => {
    const parent = message.parentId === null ? undefined : byId.get(message.parentId)
    const quoted = parent !== undefined && parent.id !== message.rootId
    return {
      id: message.id,
      sender: message.sender,
      senderName: names.get(message.sender) ?? null,
      mine: message.sender === owner,
      msgType: message.msgType,
      content: message.content,
      fileName: fileNameOf(message, files),
      at: message.createTime,
      deleted: message.deleted,
      edited: message.edited,
      quote: parent !== undefined && (quoted || !isReply(message)) ? excerptOf(parent) : null,
      canReply: room.mode !== 'p2p',
      reactions: reactionsOf(message, names),
      replies: isReply(message) ? [] : all.filter((one) => isReply(one) && one.rootId === message.id).map(show),
    }
  }
  return all.filter((message) => !isReply(message)).map(show)
}

function fileNameOf(message: ChatMessage, files: ReadonlyMap<string, string>): string | null {
  const key = objectIn(message.content)?.['file_key']
  return typeof key === 'string' ? (files.get(key) ?? null) : null
}

function reactionsOf(message: ChatMessage, names: ReadonlyMap<string, string>): ShownMessage['reactions'] {
  const by = new Map<string, string[]>()
  for (const reaction of message.reactions) {
    by.set(reaction.emoji, [...(by.get(reaction.emoji) ?? []), names.get(reaction.by) ?? reaction.by])
  }
  return [...by].map(([emoji, people]) => ({ emoji, names: people.join(', ') }))
}
