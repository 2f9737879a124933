/** Everything the sandbox remembers. Plain records in maps; the rules live beside the calls that use them. */
export interface Person {
  readonly openId: string
  readonly unionId: string
  readonly userId: string
  readonly name: string
  /** Another app's bot, as our bot sees it. */
  readonly bot: boolean
  /** false: outside the app's availability range, a direct send answers 230013. */
  available: boolean
}

export type ChatMode = 'p2p' | 'group' | 'topic'

export interface Chat {
  readonly chatId: string
  readonly mode: ChatMode
  name: string
  /** An ordinary group that shows every message as a topic; it can change at any time. */
  threadStyle: boolean
  readonly members: Set<string>
  botInChat: boolean
  status: 'normal' | 'dissolved'
  /** false: a reply with reply_in_thread answers 230071. */
  threadReplies: boolean
}

export interface Mention {
  readonly key: string
  readonly openId: string
  readonly name: string
  readonly bot: boolean
}

export interface Reaction {
  readonly id: string
  readonly emoji: string
  /** 'bot' or the person's open_id. */
  readonly by: string
  readonly at: number
}

export interface Message {
  readonly messageId: string
  readonly chatId: string
  /** 'bot' or the person's open_id. */
  readonly sender: string
  readonly msgType: string
  /** As sent: the card's own JSON, the post with its locale. */
  content: string
  /** As events and read-back show it: post without locale, text with mention keys. */
  shown: string
  mentions: readonly Mention[]
  readonly createTime: number
  updateTime: number
  threadId?: string
  /** The thread's own root, which may itself be a quote. */
  opensThread: boolean
  readonly rootId?: string
  readonly parentId?: string
  readonly uuid?: string
  /** Recalled: still there, without its content. */
  deleted: boolean
  /** Removed for good, by an administrator or by age: every call about it answers 230110. */
  erased: boolean
  edits: number
  readonly reactions: Reaction[]
  /** Of a forwarded bundle: its descendants, without their own place in a chat. */
  readonly children?: readonly Message[]
}

export interface Upload {
  readonly key: string
  readonly kind: 'image' | 'file'
  readonly fileType: string
  readonly fileName: string
  readonly bytes: Uint8Array
  /** 'bot' or the person's open_id. */
  readonly by: string
  readonly at: number
}

export interface CardEntity {
  readonly cardId: string
  data: string
  readonly createdAt: number
  sequence: number
  streamingSince: number | null
  readonly texts: Map<string, string>
}

export interface State {
  readonly people: Map<string, Person>
  readonly chats: Map<string, Chat>
  readonly messages: Map<string, Message>
  readonly uploads: Map<string, Upload>
  readonly cards: Map<string, CardEntity>
}

export const createState = (): State => ({
  people: new Map(),
  chats: new Map(),
  messages: new Map(),
  uploads: new Map(),
  cards: new Map(),
})

/** Source: get-chat. Either makes every message a topic of its own. */
export const isTopicLike = (chat: Chat): boolean => chat.mode === 'topic' || chat.threadStyle

/** Messages of one chat, oldest first. Equal times keep the order of arrival. */
export function messagesOf(state: State, chatId: string): Message[] {
  return [...state.messages.values()]
    .filter((message) => message.chatId === chatId)
    .sort((a, b) => a.createTime - b.createTime)
}

export function threadRoot(state: State, threadId: string): Message | undefined {
  return [...state.messages.values()].find((m) => m.threadId === threadId && m.opensThread)
}

/** Something a watcher of the chat page wants to redraw. */
export type SandboxChange =
  | { readonly kind: 'message-added' | 'message-updated' | 'message-recalled'; chatId: string; messageId: string }
  | {
      readonly kind: 'reaction-added' | 'reaction-removed'
      chatId: string
      messageId: string
      emoji: string
      by: string
    }
  | { readonly kind: 'chat-changed'; chatId: string }
