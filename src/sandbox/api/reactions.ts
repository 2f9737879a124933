import { refused, type Refused } from '../answer.js'
import { emojiNames } from '../emoji.js'
import { no, ok, type Call, type Handler, type Platform } from '../platform.js'
import type { Message, Reaction } from '../state.js'

/** POST messages/:id/reactions. The same emoji again gives the first reaction's id: what the platform does is not documented. */
export const createReaction: Handler = (platform, call) => {
  const target = findTarget(platform, call)
  if ('refused' in target) return no(platform, target)
  const type = call.json?.['reaction_type']
  const emoji = (type as { emoji_type?: unknown } | undefined)?.emoji_type
  if (typeof emoji !== 'string' || !emojiNames.has(emoji)) return no(platform, 231001)
  const known = target.reactions.find((reaction) => reaction.by === 'bot' && reaction.emoji === emoji)
  if (known !== undefined) return ok(platform, shown(platform, known))
  const reaction: Reaction = { id: platform.ids.reaction(), emoji, by: 'bot', at: platform.clock.now() }
  target.reactions.push(reaction)
  const { chatId, messageId } = target
  platform.changed({ kind: 'reaction-added', chatId, messageId, emoji, by: 'bot' })
  platform.push(platform.events.reaction('created', target, emoji, 'bot'))
  return ok(platform, shown(platform, reaction))
}

/** DELETE messages/:id/reactions/:reaction_id, own only. */
export const deleteReaction: Handler = (platform, call) => {
  const target = findTarget(platform, call)
  if ('refused' in target) return no(platform, target)
  const id = call.params['reactionId'] ?? ''
  const at = target.reactions.findIndex((reaction) => reaction.id === id)
  const reaction = target.reactions[at]
  if (reaction === undefined) {
    const elsewhere = [...platform.state.messages.values()].some((message) =>
      message.reactions.some((other) => other.id === id),
    )
    return no(platform, elsewhere ? 231010 : 231011)
  }
  if (reaction.by !== 'bot') return no(platform, 231007)
  target.reactions.splice(at, 1)
  const { chatId, messageId } = target
  platform.changed({ kind: 'reaction-removed', chatId, messageId, emoji: reaction.emoji, by: 'bot' })
  platform.push(platform.events.reaction('deleted', target, reaction.emoji, 'bot'))
  return ok(platform, shown(platform, reaction))
}

/** GET messages/:id/reactions, in the order they were added. The page token is the number of reactions given. */
export const listReactions: Handler = (platform, call) => {
  const target = findTarget(platform, call)
  if ('refused' in target) return no(platform, target)
  const query = call.url.searchParams
  const pageSize = Number(query.get('page_size') ?? '20')
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 50)
    return no(platform, 99992402, 'page_size must be from 1 to 50')
  const type = query.get('reaction_type')
  const from = Number(query.get('page_token') ?? '0')
  if (!Number.isInteger(from) || from < 0) return no(platform, 99992402, 'page_token is invalid')
  const matching = target.reactions.filter(({ emoji }) => type === null || emoji === type)
  const items = matching.slice(from, from + pageSize).map((reaction) => shown(platform, reaction))
  const hasMore = from + pageSize < matching.length
  return ok(platform, { items, has_more: hasMore, page_token: hasMore ? String(from + pageSize) : '' })
}

function findTarget(platform: Platform, call: Call): Message | Refused {
  const message = platform.state.messages.get(call.params['messageId'] ?? '')
  if (message === undefined) return refused(231003)
  const chat = platform.state.chats.get(message.chatId)
  if (chat?.status === 'dissolved') return refused(232009)
  if (chat?.botInChat !== true) return refused(231002)
  if (message.deleted) return refused(231003)
  if (message.erased) return refused(230110)
  return message.msgType === 'system' ? refused(231017) : message
}

const shown = (platform: Platform, reaction: Reaction): object => ({
  reaction_id: reaction.id,
  operator:
    reaction.by === 'bot'
      ? { operator_id: platform.appId, operator_type: 'app' }
      : { operator_id: reaction.by, operator_type: 'user' },
  action_time: String(reaction.at),
  reaction_type: { emoji_type: reaction.emoji },
})
