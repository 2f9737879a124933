import { DAY } from '../../lib/time.js'
import { parseObject, isObject } from '../card-check.js'
import { bodyLimits, checkContent, checkSize } from '../content.js'
import { no, ok, type Handler } from '../platform.js'
import { recall } from '../posting.js'
import type { Message } from '../state.js'
import { cardRefused } from '../answer.js'
import { checkOpen } from './send.js'
import { readBack } from './read-back.js'

const MAX_EDITS = 20
const CARD_LIFE = 14 * DAY

/** PATCH messages/:id: replace an own card, at most 14 days old, `update_multi: true` before and after. */
export const patchCard: Handler = (platform, call) => {
  const message = platform.state.messages.get(call.params['messageId'] ?? '')
  if (message === undefined) return no(platform, 99992354)
  const chat = platform.state.chats.get(message.chatId)
  const closed = chat === undefined ? null : checkOpen(chat)
  if (closed !== null) return no(platform, closed)
  if (message.erased) return no(platform, 230110)
  if (message.deleted) return no(platform, 230011)
  if (message.sender !== 'bot') return no(platform, 230012)
  if (message.msgType !== 'interactive') return no(platform, 230054)
  if (platform.clock.now() - message.createTime > CARD_LIFE) return no(platform, 230031)
  const content = call.json?.['content']
  if (typeof content !== 'string') return no(platform, 230001, 'ext=content is not a string in json format')
  if (call.bytes.length > bodyLimits.other) return no(platform, 230025)
  const checked = checkContent(platform.state, platform.book, 'interactive', content)
  if ('refused' in checked) return no(platform, checked)
  if (!isShared(message.content) || !isShared(content))
    return no(platform, cardRefused(300302, 'update_multi must be true', 'config'))
  if (!platform.rates.target(`patch:${message.messageId}`)) return no(platform, 230020)
  replace(message, checked, platform.clock.now())
  platform.changed({ kind: 'message-updated', chatId: message.chatId, messageId: message.messageId })
  return ok(platform, {})
}

/** PUT messages/:id: edit an own text or post, at most 20 times. */
export const updateMessage: Handler = (platform, call) => {
  const message = platform.state.messages.get(call.params['messageId'] ?? '')
  if (message === undefined) return no(platform, 99992354)
  const chat = platform.state.chats.get(message.chatId)
  const closed = chat === undefined ? null : checkOpen(chat)
  if (closed !== null) return no(platform, closed)
  if (message.erased) return no(platform, 230110)
  if (message.deleted) return no(platform, 230011)
  if (message.sender !== 'bot') return no(platform, 230071)
  const { msg_type: msgType, content } = call.json ?? {}
  if (msgType !== 'text' && msgType !== 'post') return no(platform, 230054)
  if (message.msgType !== 'text' && message.msgType !== 'post') return no(platform, 230054)
  if (typeof content !== 'string') return no(platform, 230001, 'ext=content is not a string in json format')
  const tooLong = checkSize(msgType, call.bytes.length)
  if (tooLong !== null) return no(platform, tooLong)
  if (message.edits >= MAX_EDITS) return no(platform, 230072)
  const checked = checkContent(platform.state, platform.book, msgType, content)
  if ('refused' in checked) return no(platform, checked)
  replace(message, checked, platform.clock.now())
  platform.changed({ kind: 'message-updated', chatId: message.chatId, messageId: message.messageId })
  return ok(platform, readBack(platform, message))
}

/** DELETE messages/:id: recall an own message; a second time is an error. */
export const deleteMessage: Handler = (platform, call) => {
  const message = platform.state.messages.get(call.params['messageId'] ?? '')
  if (message === undefined) return no(platform, 99992354)
  const chat = platform.state.chats.get(message.chatId)
  const closed = chat === undefined ? null : checkOpen(chat)
  if (closed !== null) return no(platform, closed)
  if (message.erased) return no(platform, 230110)
  if (message.deleted) return no(platform, 230011)
  if (message.sender !== 'bot') return no(platform, 230026)
  recall(platform, message, 'message_owner')
  return ok(platform, {})
}

function replace(message: Message, by: Pick<Message, 'content' | 'shown' | 'mentions'>, now: number): void {
  message.content = by.content
  message.shown = by.shown
  message.mentions = by.mentions
  message.edits += 1
  message.updateTime = now
}

/** Exclusive cards cannot be patched for everybody. Entities are always shared. */
function isShared(content: string): boolean {
  const card = parseObject(content)
  if (card?.['type'] === 'card') return true
  return isObject(card?.['config']) && card['config']['update_multi'] === true
}
