import type { Answer } from '../answer.js'
import { no, ok, type Handler, type Platform } from '../platform.js'
import { isTopicLike, messagesOf, type Message } from '../state.js'
import { readBack } from './read-back.js'

/** GET messages/:id. A forwarded bundle gives its descendants after itself; a card's own JSON only on request. */
export const getMessage: Handler = (platform, call) => {
  const message = platform.state.messages.get(call.params['messageId'] ?? '')
  if (message === undefined) return no(platform, 99992354)
  const chat = platform.state.chats.get(message.chatId)
  if (chat?.botInChat !== true) return no(platform, 230002)
  if (message.erased) return no(platform, 230110)
  const original = call.url.searchParams.get('card_msg_content_type') === 'user_card_content'
  const self = original && message.msgType === 'interactive' ? { ...message, shown: message.content } : message
  const children = (message.children ?? []).map((child) => readBack(platform, child, message.messageId))
  return ok(platform, { items: [readBack(platform, self), ...children] })
}

/**
 * GET messages. The chat container of ordinary groups gives only thread roots; replies need the thread container,
 * which takes no time range. Times are whole seconds, both ends included.
 */
export const listMessages: Handler = (platform, call) => {
  const query = call.url.searchParams
  const type = query.get('container_id_type')
  const id = query.get('container_id') ?? ''
  const sort = query.get('sort_type') ?? 'ByCreateTimeAsc'
  const pageSize = Number(query.get('page_size') ?? '20')
  const [start, end] = [query.get('start_time'), query.get('end_time')]
  if (type !== 'chat' && type !== 'thread') return no(platform, 99992402, 'container_id_type is invalid')
  if (id === '') return no(platform, 99992402, 'container_id is required')
  if (sort !== 'ByCreateTimeAsc' && sort !== 'ByCreateTimeDesc') return no(platform, 99992402, 'sort_type is invalid')
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 50)
    return no(platform, 99992402, 'page_size must be from 1 to 50')
  if ([start, end].some((time) => time !== null && !/^\d{1,10}$/.test(time)))
    return no(platform, 230001, 'ext=start_time and end_time are seconds')
  if (type === 'thread' && (start !== null || end !== null))
    return no(platform, 230001, 'ext=a thread takes no time range')
  if (start !== null && end !== null && Number(start) > Number(end))
    return no(platform, 230001, 'ext=start_time is after end_time')
  if (!platform.readableHistory) return no(platform, 99991672)

  const found = type === 'chat' ? inChat(platform, id, query) : inThread(platform, id)
  if (!Array.isArray(found)) return found
  const since = start === null ? 0 : Number(start) * 1_000
  const until = end === null ? Infinity : Number(end) * 1_000 + 999
  const ordered = found.filter(({ createTime, erased }) => !erased && createTime >= since && createTime <= until)
  if (sort === 'ByCreateTimeDesc') ordered.reverse()
  const token = query.get('page_token')
  const from = token === null || token === '' ? 0 : pageStart(ordered, token, `${type}:${id}:${sort}`)
  if (from === null) return no(platform, 230001, 'ext=page_token is invalid')
  const items = ordered.slice(from, from + pageSize)
  const last = items.at(-1)
  const hasMore = from + pageSize < ordered.length
  const next = hasMore && last !== undefined ? pageToken(`${type}:${id}:${sort}`, last.messageId) : ''
  return ok(platform, {
    has_more: hasMore,
    page_token: next,
    items: items.map((message) => readBack(platform, message)),
  })
}

function inChat(platform: Platform, chatId: string, query: URLSearchParams): Message[] | Answer {
  const chat = platform.state.chats.get(chatId)
  if (chat === undefined) return no(platform, 230001, 'ext=container_id is invalid')
  if (chat.status === 'dissolved') return no(platform, 232009)
  if (!chat.botInChat) return no(platform, 230002)
  const rootsOnly = !isTopicLike(chat) || query.get('only_thread_root_messages') === 'true'
  const isThreadReply = (message: Message): boolean => message.threadId !== undefined && !message.opensThread
  return messagesOf(platform.state, chatId).filter((message) => !(rootsOnly && isThreadReply(message)))
}

function inThread(platform: Platform, threadId: string): Message[] | Answer {
  const root = [...platform.state.messages.values()].find((message) => message.threadId === threadId)
  if (root === undefined) return no(platform, 230019)
  const chat = platform.state.chats.get(root.chatId)
  if (chat?.status === 'dissolved') return no(platform, 232009)
  if (chat?.botInChat !== true) return no(platform, 230073)
  return messagesOf(platform.state, root.chatId).filter((message) => message.threadId === threadId)
}

/** The token names the last message given, so messages that arrive between two pages neither repeat nor hide one. */
const pageToken = (list: string, messageId: string): string =>
  Buffer.from(JSON.stringify([list, messageId])).toString('base64')

function pageStart(ordered: readonly Message[], token: string, list: string): number | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, 'base64').toString('utf8'))
    if (!Array.isArray(parsed) || parsed[0] !== list) return null
    const at = ordered.findIndex((message) => message.messageId === parsed[1])
    return at === -1 ? null : at + 1
  } catch {
    return null
  }
}
