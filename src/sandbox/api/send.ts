import { refused, type Answer, type Refused } from '../answer.js'
import { checkContent, checkSize } from '../content.js'
import { no, ok, type Call, type Platform } from '../platform.js'
import { place, store } from '../posting.js'
import type { Chat, Message } from '../state.js'
import { createUuidWindow, type UuidWindow } from '../uuid-window.js'
import { readBack } from './read-back.js'

export interface Draft {
  readonly msgType: string
  readonly content: string
  readonly uuid: string | undefined
}

/** POST messages and POST messages/:id/reply share the checks after the target is known. */
export interface Sending {
  create(call: Call): Answer
  reply(call: Call): Answer
  readonly uuids: UuidWindow
}

const receiveIdTypes = ['open_id', 'union_id', 'user_id', 'email', 'chat_id']

export function createSending(platform: Platform): Sending {
  const uuids = createUuidWindow(platform.clock)
  const { state } = platform

  const send = (draft: Draft, chat: Chat, target: Message | null, inThread: boolean): Answer => {
    const first = draft.uuid === undefined ? undefined : uuids.sent(draft.uuid)
    const known = first === undefined ? undefined : state.messages.get(first)
    if (known !== undefined) return ok(platform, readBack(platform, known))
    const content = checkContent(state, platform.book, draft.msgType, draft.content)
    if ('refused' in content) return no(platform, content)
    if (!platform.rates.target(chat.chatId)) return no(platform, 230020)
    const message = store(platform, {
      chatId: chat.chatId,
      sender: 'bot',
      msgType: draft.msgType,
      ...content,
      createTime: platform.clock.now(),
      ...place(platform, chat, target, inThread),
      ...(draft.uuid === undefined ? {} : { uuid: draft.uuid }),
    })
    if (draft.uuid !== undefined) uuids.remember(draft.uuid, message.messageId)
    return ok(platform, readBack(platform, message))
  }

  return {
    uuids,
    create(call) {
      const draft = readDraft(call)
      if ('refused' in draft) return no(platform, draft)
      const type = call.url.searchParams.get('receive_id_type') ?? ''
      if (!receiveIdTypes.includes(type)) return no(platform, 99992402, 'receive_id_type is invalid')
      const id = call.json?.['receive_id']
      if (typeof id !== 'string' || id === '') return no(platform, 99992402, 'receive_id is required')
      const chat = findChat(platform, type, id)
      if ('refused' in chat) return no(platform, chat)
      const closed = checkOpen(chat) ?? checkReach(platform, chat)
      return closed === null ? send(draft, chat, null, false) : no(platform, closed)
    },
    reply(call) {
      const draft = readDraft(call)
      if ('refused' in draft) return no(platform, draft)
      const inThread = call.json?.['reply_in_thread'] ?? false
      if (typeof inThread !== 'boolean') return no(platform, 99992402, 'reply_in_thread is not a boolean')
      const target = state.messages.get(call.params['messageId'] ?? '')
      if (target === undefined) return no(platform, 99992354)
      const chat = state.chats.get(target.chatId)
      if (chat === undefined) return no(platform, 99992354)
      const closed = checkOpen(chat) ?? checkReach(platform, chat)
      if (closed !== null) return no(platform, closed)
      if (target.erased) return no(platform, 230110)
      if (target.deleted) return no(platform, 230011)
      if (inThread && !chat.threadReplies) return no(platform, 230071)
      return send(draft, chat, target, inThread)
    },
  }
}

/** The bot can speak here. Dissolved is told before membership, as a dissolved chat has no members. */
export function checkOpen(chat: Chat): Refused | null {
  if (chat.status === 'dissolved') return refused(232009)
  return chat.botInChat ? null : refused(230002)
}

/** The person of a direct chat is still within the app's availability range. */
function checkReach(platform: Platform, chat: Chat): Refused | null {
  if (chat.mode !== 'p2p') return null
  return [...chat.members].every((openId) => platform.state.people.get(openId)?.available) ? null : refused(230013)
}

function readDraft(call: Call): Draft | Refused {
  const { json } = call
  if (json === null) return refused(99992402, 'the body is not a json object')
  const { msg_type: msgType, content, uuid } = json
  if (typeof msgType !== 'string' || msgType === '') return refused(99992402, 'msg_type is required')
  if (content === undefined) return refused(99992402, 'content is required')
  if (typeof content !== 'string') return refused(230001, 'ext=content is not a string in json format')
  if (uuid !== undefined && (typeof uuid !== 'string' || uuid.length > 50))
    return refused(99992402, 'the max length of uuid is 50')
  return checkSize(msgType, call.bytes.length) ?? { msgType, content, uuid: uuid === '' ? undefined : uuid }
}

/** A person's direct chat comes into being with the first message to them. */
function findChat(platform: Platform, type: string, id: string): Chat | Refused {
  const { state } = platform
  if (type === 'chat_id') return state.chats.get(id) ?? refused(230034)
  const person = [...state.people.values()].find((one) =>
    type === 'open_id' ? one.openId === id : type === 'union_id' ? one.unionId === id : one.userId === id,
  )
  if (person === undefined) return refused(99992351)
  if (!person.available) return refused(230013)
  const known = [...state.chats.values()].find((chat) => chat.mode === 'p2p' && chat.members.has(person.openId))
  if (known !== undefined) return known
  const chat: Chat = {
    chatId: platform.ids.chat(),
    mode: 'p2p',
    name: '',
    threadStyle: false,
    members: new Set([person.openId]),
    botInChat: true,
    status: 'normal',
    threadReplies: true,
  }
  state.chats.set(chat.chatId, chat)
  platform.changed({ kind: 'chat-changed', chatId: chat.chatId })
  return chat
}
