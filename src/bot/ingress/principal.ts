import type { IncomingMessage, TurnAuthority } from '../../collab/message.js'
import type { BotIdentity } from '../../collab/channel.js'

/** What one bot allows, from the stored chat policies. */
export interface AuthorityContext {
  /** Null until the platform has said who we are. */
  readonly self: BotIdentity | null
  /** Chats where every human message may start a turn. */
  readonly groupsOpen: ReadonlySet<string>
  /** Chats where `@all` counts as naming the bot. */
  readonly atAllChats: ReadonlySet<string>
  /** Chats where another bot that names this one may start a turn. */
  readonly botChats: ReadonlySet<string>
}

/**
 * May this message start a turn? From local facts only: mentions as the provider gives them, our identity and the
 * chat's policy; "the parent is ours" is left to the statement that stores the event.
 */
export function judgeAuthority(message: IncomingMessage, context: AuthorityContext): TurnAuthority {
  const { self } = context
  // Ourselves first: an answer of ours must not come in again, whatever chat it stands in.
  if (message.sender.openId === self?.openId || message.sender.openId === message.bot) {
    return { verdict: 'ignored', because: 'own-message' }
  }
  if (message.sender.type === 'bot') return judgeBot(message, context)
  // Written by the platform about people, not by a person to us.
  if (message.messageType === 'system') return { verdict: 'context-only', because: 'not-addressed' }
  if (message.chatType === 'p2p') return { verdict: 'addressed', because: 'direct-message' }
  if (self === null) return { verdict: 'unjudged', because: 'bot-identity-unknown' }
  if (message.mentionsSelf) return { verdict: 'addressed', because: 'mention' }
  if (message.mentionsAll) {
    return context.atAllChats.has(message.chatId)
      ? { verdict: 'addressed', because: 'configured-group' }
      : { verdict: 'context-only', because: 'at-all' }
  }
  if (context.groupsOpen.has(message.chatId)) return { verdict: 'addressed', because: 'configured-group' }
  if (message.parentId !== null || message.rootId !== null) return { verdict: 'if-parent-ours' }
  return { verdict: 'context-only', because: 'not-addressed' }
}

/** Only a provider-native mention counts from a bot: what it answers to, and what it says to everybody, does not. */
function judgeBot(message: IncomingMessage, { self, botChats }: AuthorityContext): TurnAuthority {
  if (message.chatType === 'p2p' || !botChats.has(message.chatId)) return { verdict: 'ignored', because: 'other-bot' }
  if (self === null) return { verdict: 'unjudged', because: 'bot-identity-unknown' }
  return message.mentionsSelf
    ? { verdict: 'addressed', because: 'other-bot' }
    : { verdict: 'ignored', because: 'other-bot' }
}
