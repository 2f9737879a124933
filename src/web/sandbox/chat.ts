/**
 * The people's side of the local Lark platform, as the chat page needs it. `app` hands the sandbox's world to it.
 * Synchronous: everything lives in this process. Unknown ids throw; the page asks only for what it was given.
 */
export interface SandboxChat {
  people(): readonly { readonly openId: string; readonly name: string }[]
  chats(): readonly ChatRoom[]
  /** Oldest first. */
  messages(chatId: string): readonly ChatMessage[]
  say(said: Said): ChatMessage
  sayFile(file: SaidFile): ChatMessage
  recall(messageId: string, by: string): void
  react(messageId: string, by: string, emoji: string): void
  unreact(messageId: string, by: string, emoji: string): void
  /** What the clicking person's client shows: the app's answer, or the platform's number of what went wrong. */
  click(click: {
    readonly messageId: string
    readonly by: string
    readonly value: unknown
  }): Promise<
    { readonly shown: 'answer'; readonly answer: unknown } | { readonly shown: 'error'; readonly code: number }
  >
  /** Uploaded by people or by the bot. */
  uploads(): readonly { readonly key: string; readonly fileName: string; readonly bytes: Uint8Array }[]
  /** What the next message of the bot meets, once. */
  trouble(what: Trouble): void
  /** Called after every change; returns what ends the calls. */
  onChange(listener: (change: { readonly chatId: string }) => void): () => void
}

/**
 * Faults of the platform that anybody may try: its content check refuses the words; it takes the message and the line
 * is cut before it says so; it asks to wait.
 */
export const troubles = ['refused', 'line-cut', 'slow-down'] as const
export type Trouble = (typeof troubles)[number]

export interface ChatRoom {
  readonly chatId: string
  readonly mode: 'p2p' | 'group' | 'topic'
  readonly name: string
  readonly members: ReadonlySet<string>
}

export interface Said {
  readonly chatId: string
  /** open_id of a member. */
  readonly from: string
  readonly text: string
  readonly mentionBot?: boolean
  /** A message id: the answer goes into its thread. */
  readonly threadOf?: string
  /** A message id: a quote. */
  readonly replyTo?: string
}

export interface SaidFile {
  readonly chatId: string
  readonly from: string
  readonly fileName: string
  readonly bytes: Uint8Array
  readonly kind: 'file' | 'image'
  readonly threadOf?: string
  readonly replyTo?: string
}

export interface ChatMessage {
  readonly id: string
  readonly chatId: string
  /** 'bot' or an open_id. */
  readonly sender: string
  readonly msgType: string
  /** The provider's own JSON. */
  readonly content: string
  readonly threadId: string | null
  readonly rootId: string | null
  readonly parentId: string | null
  readonly createTime: number
  readonly deleted: boolean
  readonly edited: boolean
  readonly reactions: readonly { readonly emoji: string; readonly by: string }[]
}
