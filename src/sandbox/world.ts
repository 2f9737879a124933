import { must } from '../lib/assert.js'
import type { Chat, ChatMode, Message, Person, Upload } from './state.js'

export interface SayOptions {
  readonly chatId: string
  /** open_id of a member. */
  readonly from: string
  readonly text?: string
  /** A rich text in the received shape, without a locale. */
  readonly post?: { readonly title?: string; readonly content: readonly (readonly object[])[] }
  /** Any other type, content as events carry it. */
  readonly raw?: { readonly msgType: string; readonly content: string }
  readonly mentionBot?: boolean
  /** open_ids of people mentioned. `@Name` in the text becomes the key, else the key is put in front. */
  readonly mentions?: readonly string[]
  /** A message id: the reply goes into its thread, which is made when there is none. */
  readonly threadOf?: string
  /** A message id: a quote, or a reply in the thread when the message stands in one. */
  readonly replyTo?: string
  /** Milliseconds; the clock's time when left out. */
  readonly createTime?: number
  /** Of a forwarded bundle. */
  readonly children?: readonly { readonly from: string; readonly msgType: string; readonly content: string }[]
  /** Stored but not pushed: what a lost event looks like. */
  readonly silent?: boolean
}

export interface SayFileOptions {
  readonly chatId: string
  readonly from: string
  readonly fileName: string
  readonly bytes: Uint8Array
  readonly kind: 'file' | 'image' | 'audio' | 'media'
  /** Milliseconds, of audio and video; 1 000 when left out. */
  readonly duration?: number
  readonly threadOf?: string
  readonly replyTo?: string
}

export interface ClickOptions {
  readonly messageId: string
  /** open_id of the person who clicks. */
  readonly by: string
  readonly value: unknown
  readonly tag?: string
  readonly name?: string
  readonly formValue?: Readonly<Record<string, unknown>>
  readonly inputValue?: string
  readonly option?: string
}

/** What the clicking person sees: the app's answer, or one of the client's own error numbers. */
export type ClickAnswer =
  | { readonly shown: 'answer'; readonly answer: unknown }
  | { readonly shown: 'error'; readonly code: 200340 | 200341 | 200342 | 200671 | 200672 | 200673 | 200830 }

export interface WorldMessage {
  readonly id: string
  readonly chatId: string
  /** 'bot' or an open_id. */
  readonly sender: string
  readonly msgType: string
  /** As sent; a card entity's current card for a card sent by reference. */
  readonly content: string
  readonly threadId: string | null
  readonly rootId: string | null
  readonly parentId: string | null
  readonly createTime: number
  readonly updateTime: number
  readonly deleted: boolean
  readonly edited: boolean
  readonly reactions: readonly { readonly id: string; readonly emoji: string; readonly by: string }[]
  readonly uuid: string | null
}

/** The people's side of the platform: synchronous, for the chat page and for tests. Unknown ids are bugs and throw. */
export interface World {
  addPerson(person: { name: string; openId?: string; unionId?: string; userId?: string; bot?: boolean }): Person
  addChat(chat: {
    mode: ChatMode
    name: string
    members: readonly string[]
    chatId?: string
    botInChat?: boolean
    threadReplies?: boolean
  }): Chat
  people(): readonly Person[]
  chats(): readonly Chat[]
  messages(chatId: string): readonly WorldMessage[]
  say(options: SayOptions): WorldMessage
  sayFile(options: SayFileOptions): WorldMessage & { readonly key: string }
  /** The same message once more under a new event id, as the platform does after inner failures. */
  pushAgain(messageId: string): void
  /** A person changes an own text; `told: true` pushes im.message.updated_v1, which not every tenant gets. */
  edit(messageId: string, text: string, options?: { readonly told?: boolean }): void
  recall(messageId: string, by: string): void
  /** Removes a message for good, without an event: calls about it answer 230110, lists leave it out. */
  erase(messageId: string): void
  react(messageId: string, by: string, emoji: string): void
  unreact(messageId: string, by: string, emoji: string): void
  click(options: ClickOptions): Promise<ClickAnswer>
  /** A person leaves the app's availability range, or comes back: direct sends answer 230013. */
  setAvailable(openId: string, available: boolean): void
  removeBot(chatId: string): void
  addBot(chatId: string): void
  dissolve(chatId: string): void
  /** An ordinary group begins, or ceases, to show every message as a topic. */
  setThreadStyle(chatId: string, on: boolean): void
  enterP2p(chatId: string): void
  /** Puts bytes there without a message, for a rich text or a raw content that names the key. */
  upload(file: Pick<SayFileOptions, 'fileName' | 'bytes'> & { from: string; kind: Upload['kind'] }): string
  bytesOf(key: string): Uint8Array
  uploads(): readonly Upload[]
  /** Pushes a body as it is, to replay a recorded one. */
  pushEvent(envelope: object): void
}

export function shownMessage(message: Message, content: string): WorldMessage {
  return {
    id: message.messageId,
    chatId: message.chatId,
    sender: message.sender,
    msgType: message.msgType,
    content,
    threadId: message.threadId ?? null,
    rootId: message.rootId ?? null,
    parentId: message.parentId ?? null,
    createTime: message.createTime,
    updateTime: message.updateTime,
    deleted: message.deleted,
    edited: message.edits > 0,
    reactions: message.reactions.map(({ id, emoji, by }) => ({ id, emoji, by })),
    uuid: message.uuid ?? null,
  }
}

/** Looks up what a caller must know to exist. */
export function lookUp(state: {
  readonly people: ReadonlyMap<string, Person>
  readonly chats: ReadonlyMap<string, Chat>
  readonly messages: ReadonlyMap<string, Message>
}) {
  return {
    person: (openId: string): Person => must(state.people.get(openId), `person ${openId}`),
    chat: (chatId: string): Chat => must(state.chats.get(chatId), `chat ${chatId}`),
    message: (messageId: string): Message => must(state.messages.get(messageId), `message ${messageId}`),
  }
}
