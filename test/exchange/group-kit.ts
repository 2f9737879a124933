import { randomUUID } from 'node:crypto'
import type { PolicySettings } from '../../src/collab/chat-policy.js'
import type { ConversationId, RequestId } from '../../src/collab/refs.js'
import type { AuthorityRef } from '../../src/collab/request.js'
import { setPolicy } from '../../src/exchange/chat-policy.js'
import { conversationIdOf } from '../../src/exchange/ids.js'
import { openRequest } from '../../src/exchange/open.js'
import { ensureConversation } from '../../src/stores/conversations/conversations.js'
import { event, messageIn, type Rig } from './agents-kit.js'
import { bot } from './outgoing-kit.js'

/* A group with an owner and an admitted member, as their messages are accepted. */

export const OWNER = 'ou_test_owner'

export const asOwner: AuthorityRef = { principal: 'owner', openId: OWNER }
export const asMember: AuthorityRef = {
  principal: 'member',
  openId: 'ou_test_member',
  policy: { chat: 1, everywhere: 0 },
  membership: null,
  sponsor: OWNER,
}

export interface Group {
  readonly conversation: ConversationId
  say(text: string, authority: AuthorityRef): Promise<RequestId>
}

/** A group with what an owner has settled for it. */
export async function groupOf({ x, clock }: Rig, settings: PolicySettings): Promise<Group> {
  const chat = `oc_${randomUUID()}`
  const conversation = conversationIdOf(bot, chat, '')
  const place = { id: conversation, bot, chatId: chat, threadKey: '', chatType: 'group' }
  const kept = await ensureConversation(x.db.sql, place, 'en', clock.now())
  const of = { bot, chat, as: 'whole', onRevision: null, who: OWNER, owner: OWNER, eventId: event() } as const
  const set = await setPolicy(x, { ...of, settings })
  if (set.outcome !== 'accepted') throw new Error(`not set: ${JSON.stringify(set)}`)
  return {
    conversation,
    async say(text, authority) {
      clock.add(1)
      const own = messageIn(chat, text, clock.now())
      const message = { ...own, chatType: 'group', sender: { ...own.sender, openId: authority.openId } } as const
      const how = { late: false, authority, returns: 'reply' } as const
      return await openRequest(x, { message, conversation: kept, receivedAt: clock.now(), ...how })
    },
  }
}
