import { TENANT_KEY } from '../events.js'
import { no, ok, type Handler, type Platform } from '../platform.js'
import { isTopicLike, type Chat } from '../state.js'

/** GET chats/:id. A dissolved chat still answers, with its status. */
export const getChat: Handler = (platform, call) => {
  const chat = platform.state.chats.get(call.params['chatId'] ?? '')
  if (chat === undefined) return no(platform, 232006)
  return ok(platform, {
    ...summary(chat),
    chat_mode: chat.mode,
    chat_type: 'private',
    group_message_type: isTopicLike(chat) ? 'thread' : 'chat',
    user_count: String(chat.members.size),
    bot_count: chat.botInChat ? '1' : '0',
  })
}

/** GET chats: the groups the bot is in; direct chats are not listed. */
export const listChats: Handler = (platform, call) => {
  const chats = [...platform.state.chats.values()].filter((chat) => chat.mode !== 'p2p' && chat.botInChat)
  return page(platform, call.url, 100, chats, (chat) => summary(chat))
}

/** GET chats/:id/members. */
export const listMembers: Handler = (platform, call) => {
  const chat = platform.state.chats.get(call.params['chatId'] ?? '')
  if (chat === undefined) return no(platform, 232006)
  if (chat.status === 'dissolved') return no(platform, 232009)
  return page(platform, call.url, 100, [...chat.members], (openId) => ({
    member_id_type: 'open_id',
    member_id: openId,
    name: platform.book.nameOf(openId) ?? '',
    tenant_key: TENANT_KEY,
  }))
}

/** GET bot/v3/info: the fields stand beside `code`. */
export const botInfo = (platform: Platform): object => ({
  bot: {
    activate_status: 2,
    app_name: platform.botName,
    avatar_url: 'https://example.com/avatar.png',
    ip_white_list: [],
    open_id: platform.book.botOpenId,
  },
})

const summary = (chat: Chat): object => ({
  chat_id: chat.chatId,
  avatar: '',
  name: chat.name,
  description: '',
  owner_id: [...chat.members][0] ?? '',
  owner_id_type: 'open_id',
  external: false,
  tenant_key: TENANT_KEY,
  chat_status: chat.status,
})

function page<T>(
  platform: Platform,
  url: URL,
  most: number,
  all: readonly T[],
  show: (item: T) => object,
): ReturnType<Handler> {
  const size = Number(url.searchParams.get('page_size') ?? '20')
  const from = Number(url.searchParams.get('page_token') || '0')
  if (!Number.isInteger(size) || size < 1 || size > most || !Number.isInteger(from) || from < 0)
    return no(platform, 99992402)
  const hasMore = from + size < all.length
  const items = all.slice(from, from + size).map(show)
  return ok(platform, { items, has_more: hasMore, page_token: hasMore ? String(from + size) : '' })
}
