import { chatCommandOf } from '../collab/chat-command.js'
import type { IncomingMessage } from '../collab/message.js'
import type { Notice } from '../collab/notice.js'
import { unreachable } from '../lib/assert.js'
import type { Conversation } from '../stores/conversations/conversations.js'
import { EVERYWHERE, removeMember, setPolicy, showPolicy } from './chat-policy.js'
import type { Exchange } from './deps.js'
import { eventIdOf, returnRefOf } from './ids.js'
import { say } from './say.js'

/**
 * `/chat` of an owner: shows what holds in this chat, or sets it. In the owner's direct chat it is about all chats, for
 * that one needs no policy of its own. The same message again changes nothing.
 *
 * @source RFC §5.3
 */
export async function obeyChat(x: Exchange, message: IncomingMessage, conversation: Conversation): Promise<string> {
  const { messageId, chatId } = message
  await say(x, {
    causeKind: 'control',
    causeId: messageId,
    route: returnRefOf(message),
    notice: await carryOut(x, message),
    language: conversation.language,
    endsReceipt: { messageId, chatId, end: 'done' },
    request: null,
  })
  return 'control'
}

async function carryOut(x: Exchange, message: IncomingMessage): Promise<Notice> {
  const { bot, chatId, chatType, messageId, sender } = message
  const chat = chatType === 'p2p' ? EVERYWHERE : chatId
  const command = chatCommandOf(message.text)
  const eventId = eventIdOf('chat', bot, messageId)
  switch (command?.does) {
    case undefined:
    case 'show':
      return await shown(x, bot, chat, false)
    case 'nothing':
      return { kind: 'chat-command-wrong', wrong: command.wrong }
    case 'remove': {
      const { openId } = command
      const count = await removeMember(x, { bot, chat, openId, who: sender.openId, eventId })
      return { kind: 'member-removed', openId, count }
    }
    case 'set': {
      const { settings } = command
      const set = await setPolicy(x, {
        bot,
        chat,
        settings,
        as: 'change',
        onRevision: null,
        who: sender.openId,
        owner: sender.openId,
        eventId,
      })
      if (set.outcome !== 'refused') return await shown(x, bot, chat, true)
      const because = set.because === 'policy-not-isolated' ? set.because : 'policy-conflict'
      return { kind: 'chat-policy-refused', because }
    }
    default:
      return unreachable(command)
  }
}

async function shown(x: Exchange, bot: string, chat: string, changed: boolean): Promise<Notice> {
  const { effective, ref, readable, isolated, members, setBy } = await showPolicy(x, bot, chat)
  return {
    kind: 'chat-policy',
    everywhere: chat === EVERYWHERE,
    policy: effective,
    ref,
    readable,
    isolated,
    members: members.length,
    setBy,
    changed,
  }
}
