import { decideHold } from '../collab/decide/control.js'
import type { ActorRef, Instant, LaneId, RequestId, ReturnRef } from '../collab/refs.js'
import { conversationOf, type Conversation } from '../stores/conversations/conversations.js'
import type { Mark } from '../stores/marks/marks.js'
import { ingressRow } from '../stores/ingress/ingress.js'
import { waitingBefore, type Reach } from '../stores/turns/stops.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { eventIdOf, returnRefOf } from './ids.js'

/** A word or a press that acts on one conversation, with its place in the order of arrival. */
export interface Said {
  /** The stored event that says it. */
  readonly ingress: string
  /** Makes every id that it causes; the message's, or the press's event id. */
  readonly cause: string
  readonly conversation: Conversation
  readonly position: number
  /** By the provider's clock. */
  readonly writtenAt: number
  readonly actor: ActorRef
}

export const reachOf = (mark: Mark): Reach => ({
  conversation: mark.conversation,
  position: mark.position,
  at: mark.markedAt,
})

/** Holds what waits for a turn and came before the mark: nothing of it starts by itself. Repeatable. */
export async function holdWaiting(x: Exchange, mark: Mark): Promise<void> {
  for (const input of await waitingBefore(x.db.sql, reachOf(mark))) await holdOne(x, mark, input)
}

export async function holdOne(
  x: Exchange,
  mark: Mark,
  input: { readonly request: RequestId; readonly lane: LaneId; readonly position: number },
): Promise<void> {
  const { request, lane, position } = input
  await decideAndCommit(
    x,
    {
      kind: 'hold-request',
      eventId: eventIdOf('held', mark.id, request),
      requestId: request,
      at: x.clock.now() as Instant,
      actor: { kind: 'host' },
    } as const,
    decideHold,
    () => ({ input: { lane, state: 'held', because: 'stopped', position } }),
  )
}

/** Where the word of a mark was said, and is answered; null when it came from no chat. */
export async function placeOfMark(
  x: Exchange,
  mark: Mark,
): Promise<{
  readonly conversation: Conversation
  readonly route: ReturnRef
  readonly messageId: string | null
} | null> {
  const row = mark.ingress === null ? null : await ingressRow(x.db.sql, mark.ingress)
  const conversation = await conversationOf(x.db.sql, mark.conversation)
  if (row === null || conversation === null) return null
  const { event } = row
  if (event.kind === 'message') {
    return { conversation, route: returnRefOf(event.message), messageId: event.message.messageId }
  }
  return { conversation, route: routeOf(conversation), messageId: null }
}

/** The place of a conversation, as a new message there. */
export function routeOf(conversation: Conversation): ReturnRef {
  const { bot, chatId, chatType, threadKey } = conversation
  return {
    channel: 'lark',
    bot: bot as ReturnRef['bot'],
    chatId,
    chatType: chatType === 'p2p' ? 'p2p' : 'group',
    threadId: threadKey === '' ? null : threadKey,
    replyTo: null,
  }
}
