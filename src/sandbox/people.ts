import { sha256 } from '../lib/digest.js'
import { parseObject } from './card-check.js'
import { shownCard } from './card-shown.js'
import { currentCard } from './content.js'
import { createClicks } from './click.js'
import type { MentionedPerson } from './events.js'
import type { Platform } from './platform.js'
import { place, recall, store } from './posting.js'
import type { Carrier } from './push.js'
import { spoken, type Spoken } from './spoken.js'
import { messagesOf, type Chat, type Mention, type Message, type Person } from './state.js'
import type { StatsBook } from './stats.js'
import { lookUp, shownMessage, type SayOptions, type World, type WorldMessage } from './world.js'

/** The world over the shared state: what people do reaches the app as events, unless the bot is not there to hear. */
export function createWorld(platform: Platform, carrier: Carrier, stats: StatsBook): World {
  const { state, events, ids, clock } = platform
  const find = lookUp(state)
  const view = (message: Message): WorldMessage => shownMessage(message, contentOf(message))
  const contentOf = (message: Message): string => {
    const reference = message.msgType === 'interactive' ? parseObject(message.content) : null
    if (reference?.['type'] !== 'card') return message.content
    const entity = state.cards.get(String((reference['data'] as { card_id?: unknown } | undefined)?.card_id))
    return entity === undefined ? message.content : currentCard(entity)
  }
  const hears = (chat: Chat): boolean => chat.botInChat && chat.status === 'normal'
  const firstMember = (chat: Chat): Person => find.person([...chat.members][0] ?? '')

  const post = (options: Omit<SayOptions, 'text' | 'post' | 'raw'>, said: Spoken): Message => {
    const chat = find.chat(options.chatId)
    const sender = find.person(options.from)
    if (!chat.members.has(options.from)) throw new Error(`${options.from} is not a member of ${options.chatId}`)
    const target = options.threadOf ?? options.replyTo
    const createTime = options.createTime ?? clock.now()
    const base = { chatId: chat.chatId, createTime, mentions: [] }
    const children = options.children?.map(({ from, msgType, content }): Message => ({
      ...base,
      messageId: ids.message(),
      sender: from,
      msgType,
      content,
      shown: content,
      updateTime: createTime,
      opensThread: false,
      deleted: false,
      erased: false,
      edits: 0,
      reactions: [],
    }))
    const message = store(platform, {
      ...base,
      sender: sender.openId,
      msgType: said.msgType,
      content: said.content,
      shown: said.content,
      mentions: said.mentions,
      ...place(platform, chat, target === undefined ? null : find.message(target), options.threadOf !== undefined),
      ...(children === undefined ? {} : { children }),
    })
    stats.said(message.messageId)
    if (hears(chat) && options.silent !== true)
      platform.push(events.received(message, chat, sender, said.mentions.map(inFull)))
    return message
  }
  const inFull = (mention: Mention): MentionedPerson => {
    const person = state.people.get(mention.openId)
    return {
      ...mention,
      unionId: person?.unionId ?? `on_${sha256(mention.openId).slice(0, 32)}`,
      userId: person?.userId ?? '',
    }
  }

  const upload: World['upload'] = ({ from, fileName, bytes, kind }) => {
    const key = kind === 'image' ? ids.imageKey() : ids.fileKey()
    const fileType = kind === 'image' ? 'image' : 'stream'
    state.uploads.set(key, { key, kind, fileType, fileName, bytes, by: from, at: clock.now() })
    return key
  }

  return {
    addPerson({ name, openId = ids.openId(), unionId, userId, bot = false }) {
      const digest = sha256(openId)
      const person: Person = {
        openId,
        unionId: unionId ?? `on_${digest.slice(0, 32)}`,
        userId: userId ?? digest.slice(32, 40),
        name,
        bot,
        available: true,
      }
      state.people.set(openId, person)
      return person
    },
    addChat({ mode, name, members, chatId = ids.chat(), botInChat = true, threadReplies = true }) {
      for (const openId of members) find.person(openId)
      const chat: Chat = {
        chatId,
        mode,
        name,
        threadStyle: false,
        members: new Set(members),
        botInChat,
        status: 'normal',
        threadReplies,
      }
      state.chats.set(chatId, chat)
      platform.changed({ kind: 'chat-changed', chatId })
      return chat
    },
    people: () => [...state.people.values()],
    chats: () => [...state.chats.values()],
    messages: (chatId) =>
      messagesOf(state, chatId)
        .filter(({ erased }) => !erased)
        .map(view),
    say: (options) => view(post(options, spoken(options, platform.book))),
    sayFile(options) {
      const { kind, fileName } = options
      const key = upload({ ...options, kind: kind === 'image' ? 'image' : 'file' })
      const duration = options.duration ?? 1_000
      const content = {
        image: { image_key: key },
        file: { file_key: key, file_name: fileName },
        audio: { file_key: key, duration },
        media: { file_key: key, file_name: fileName, duration },
      }[kind]
      const message = post(options, { msgType: kind, content: JSON.stringify(content), mentions: [] })
      return { ...view(message), key }
    },
    upload,
    pushAgain(messageId) {
      const message = find.message(messageId)
      const { sender, mentions } = message
      const again = events.received(message, find.chat(message.chatId), find.person(sender), mentions.map(inFull))
      platform.push(again)
    },
    edit(messageId, text, { told = false } = {}) {
      const message = find.message(messageId)
      if (message.msgType !== 'text') throw new Error(`${messageId} is not a text`)
      // Its mentions stay: whoever edits keeps the keys or leaves them out.
      message.content = message.shown = JSON.stringify({ text })
      message.edits += 1
      message.updateTime = clock.now()
      platform.changed({ kind: 'message-updated', chatId: message.chatId, messageId })
      if (told && hears(find.chat(message.chatId))) platform.push(events.edited(message))
    },
    recall(messageId, by) {
      const message = find.message(messageId)
      if (!message.deleted) recall(platform, message, message.sender === by ? 'message_owner' : 'group_owner')
    },
    erase(messageId) {
      const message = find.message(messageId)
      message.erased = true
      platform.changed({ kind: 'message-recalled', chatId: message.chatId, messageId })
    },
    react(messageId, by, emoji) {
      const message = find.message(messageId)
      message.reactions.push({ id: ids.reaction(), emoji, by, at: clock.now() })
      platform.changed({ kind: 'reaction-added', chatId: message.chatId, messageId, emoji, by })
      platform.push(events.reaction('created', message, emoji, find.person(by)))
    },
    unreact(messageId, by, emoji) {
      const message = find.message(messageId)
      const at = message.reactions.findIndex((reaction) => reaction.by === by && reaction.emoji === emoji)
      if (at === -1) return
      message.reactions.splice(at, 1)
      platform.changed({ kind: 'reaction-removed', chatId: message.chatId, messageId, emoji, by })
      platform.push(events.reaction('deleted', message, emoji, find.person(by)))
    },
    click: createClicks(platform, carrier, (message, card) => {
      message.content = card
      message.shown = shownCard(card)
      message.updateTime = clock.now()
      platform.changed({ kind: 'message-updated', chatId: message.chatId, messageId: message.messageId })
    }),
    setAvailable: (openId, available) => void (find.person(openId).available = available),
    removeBot(chatId) {
      const chat = find.chat(chatId)
      chat.botInChat = false
      platform.changed({ kind: 'chat-changed', chatId })
      platform.push(events.bot('deleted', chat, firstMember(chat)))
    },
    addBot(chatId) {
      const chat = find.chat(chatId)
      chat.botInChat = true
      platform.changed({ kind: 'chat-changed', chatId })
      platform.push(events.bot('added', chat, firstMember(chat)))
    },
    dissolve(chatId) {
      const chat = find.chat(chatId)
      chat.status = 'dissolved'
      platform.changed({ kind: 'chat-changed', chatId })
      platform.push(events.disbanded(chat, firstMember(chat)))
    },
    setThreadStyle(chatId, on) {
      const chat = find.chat(chatId)
      if (chat.mode !== 'group') throw new Error(`${chatId} is not an ordinary group`)
      if (chat.threadStyle === on) return
      chat.threadStyle = on
      platform.changed({ kind: 'chat-changed', chatId })
      platform.push(events.messageType(chat, firstMember(chat)))
    },
    enterP2p(chatId) {
      const chat = find.chat(chatId)
      platform.push(events.p2pEntered(chat, firstMember(chat), messagesOf(state, chatId).at(-1)))
    },
    bytesOf(key) {
      const upload = state.uploads.get(key)
      if (upload === undefined) throw new Error(`missing: upload ${key}`)
      return upload.bytes
    },
    uploads: () => [...state.uploads.values()],
    pushEvent: (envelope) => platform.push(envelope),
  }
}
