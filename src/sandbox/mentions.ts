import type { Mention } from './state.js'

/** Names behind open ids, the bot included. */
export interface MentionBook {
  nameOf(openId: string): string | undefined
  isBot(openId: string): boolean
  readonly botOpenId: string
}

/** The mention of a person, numbered in order of first appearance. */
export function mentionOf(mentions: Mention[], book: MentionBook, openId: string): Mention | null {
  const known = mentions.find((mention) => mention.openId === openId)
  if (known !== undefined) return known
  const name = book.nameOf(openId)
  if (name === undefined) return null
  const mention = { key: `@_user_${mentions.length + 1}`, openId, name, bot: book.isBot(openId) }
  mentions.push(mention)
  return mention
}
