import type { IncomingMessage } from '../collab/message.js'
import type { ReturnRef } from '../collab/refs.js'
import type { AuthorityRef } from '../collab/request.js'
import { ensureConversation, type Conversation } from '../stores/conversations/conversations.js'
import { isMarkedAfter } from '../stores/marks/marks.js'
import { directChatOf } from '../stores/principals/principals.js'
import { ownerWorkIn } from './chat-policy.js'
import type { Exchange } from './deps.js'
import { conversationIdOf, returnRefOf } from './ids.js'
import { say } from './say.js'

/** Where private work that was asked in a group is done and answered. */
export interface PrivatePlace {
  readonly conversation: Conversation
  readonly returnTo: ReturnRef
}

/**
 * The owner's direct conversation, for an owner's own message in a group whose standing policy says so: the work is that
 * conversation's from its beginning, so nothing of it is ever the group's. Null: it is worked on where it was asked.
 *
 * @param conversation of the group: what a stop there has passed is not taken out of it
 * @source RFC §5.3 (private work with a separately scoped return)
 */
export async function privatePlaceOf(
  x: Exchange,
  of: {
    readonly message: IncomingMessage
    readonly conversation: Conversation
    readonly authority: AuthorityRef
    readonly position: number
    readonly receivedAt: number
  },
): Promise<PrivatePlace | null> {
  const { message, conversation, authority } = of
  const { bot, chatId, sender } = message
  const owner = sender.openId
  if (message.chatType !== 'group' || authority.principal !== 'owner' || authority.openId !== owner) return null
  const standing = await ownerWorkIn(x, x.db.sql, { bot, chatId, owner })
  if (standing?.openId !== owner || standing.work !== 'private-return') return null
  const direct = await directChatOf(x.db.sql, bot, owner)
  if (direct === null || (await isMarkedAfter(x.db.sql, conversation.id, of.position))) return null
  const place = { id: conversationIdOf(bot, direct, ''), bot, chatId: direct, threadKey: '', chatType: 'p2p' }
  return {
    conversation: await ensureConversation(x.db.sql, place, conversation.language, of.receivedAt),
    returnTo: { channel: 'lark', bot, chatId: direct, chatType: 'p2p', threadId: null, replyTo: null },
  }
}

/** The group hears that it was taken up, and nothing of what it is about. */
export async function sayTakenPrivately(
  x: Exchange,
  message: IncomingMessage,
  { language }: Pick<Conversation, 'language'>,
): Promise<void> {
  await say(x, {
    causeKind: 'notice',
    causeId: `private-${message.messageId}`,
    route: returnRefOf(message),
    notice: { kind: 'answered-in-private' },
    language,
    endsReceipt: null,
    request: null,
  })
}
