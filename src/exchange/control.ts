import { narrow } from '../collab/chat-command.js'
import type { IncomingMessage } from '../collab/message.js'
import type { Notice } from '../collab/notice.js'
import { unreachable } from '../lib/assert.js'
import type { Conversation } from '../stores/conversations/conversations.js'
import type { Exchange } from './deps.js'
import { beginFresh } from './fresh.js'
import { runHeld, skipHeld } from './held.js'
import { returnRefOf } from './ids.js'
import type { Said } from './marks.js'
import { decideCards } from './redraw.js'
import { say } from './say.js'
import { agentsOf, statusOf } from './status.js'
import { stopConversation } from './stop.js'

export type ControlWord = 'status' | 'stop' | 'new' | 'help' | 'agents' | 'run' | 'skip'

/**
 * Every form of every word. Only stopping has forms without a slash: whoever is in a hurry does not look for it, and a
 * message that is nothing but this word asks for nothing else. The others are words that an answer to an agent may be.
 */
const words: Readonly<Record<string, ControlWord>> = {
  '/status': 'status',
  '/状态': 'status',
  '/stop': 'stop',
  '/停止': 'stop',
  stop: 'stop',
  停止: 'stop',
  '/new': 'new',
  '/新对话': 'new',
  '/help': 'help',
  '/帮助': 'help',
  '/agents': 'agents',
  '/助手': 'agents',
  '/run': 'run',
  '/运行': 'run',
  '/skip': 'skip',
  '/跳过': 'skip',
}

/** A control word counts only as the whole message, after the bot's own mention is removed. A full-width slash is one; look-alikes are none. */
export function controlWordOf(text: string): ControlWord | null {
  const said = narrow(text).trim().toLowerCase()
  return Object.hasOwn(words, said) ? (words[said] ?? null) : null
}

/** What a control word is said with. */
export interface Heard {
  readonly word: ControlWord
  readonly message: IncomingMessage
  readonly conversation: Conversation
  /** The stored event, and its place in the order of arrival. */
  readonly ingress: string
  readonly position: number
  /** Accepts what arrived before it: words that act on the order of arrival need that first. */
  readonly earlier: () => Promise<void>
}

/** Carries out a control word of an owner and answers it; a stop is answered when it has taken effect. */
export async function obey(x: Exchange, heard: Heard): Promise<string> {
  const { word, message, conversation } = heard
  const notice = await carryOut(x, heard)
  if (notice === null) return 'control'
  await say(x, {
    causeKind: 'control',
    causeId: message.messageId,
    route: returnRefOf(message),
    notice,
    language: conversation.language,
    endsReceipt: { messageId: message.messageId, chatId: message.chatId, end: 'done' },
    request: null,
  })
  // After the answer, which nothing may hold up.
  if (word === 'run' || word === 'skip') {
    await decideCards(x, conversation, {
      does: word,
      messageId: message.messageId,
      openId: message.sender.openId,
      became: notice,
    })
  }
  return 'control'
}

async function carryOut(x: Exchange, heard: Heard): Promise<Notice | null> {
  const { word, message, conversation, earlier } = heard
  const said: Said = {
    ingress: heard.ingress,
    cause: message.messageId,
    conversation,
    position: heard.position,
    writtenAt: message.createTime,
    actor: { kind: 'person', bot: message.bot, openId: message.sender.openId },
  }
  switch (word) {
    case 'status':
      return await statusOf(x, conversation.id)
    case 'help':
      return { kind: 'help' }
    case 'agents':
      return await agentsOf(x, conversation)
    case 'stop':
      await stopConversation(x, said, earlier)
      return null
    case 'new':
      return await beginFresh(x, said, earlier)
    case 'run':
      await earlier()
      return await runHeld(x, said)
    case 'skip':
      await earlier()
      return await skipHeld(x, said)
    default:
      return unreachable(word)
  }
}
