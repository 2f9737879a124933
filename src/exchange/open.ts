import type { ChatPolicy } from '../collab/chat-policy.js'
import type { SemanticContext, SourceRef } from '../collab/context.js'
import { digestOfContext } from '../collab/context.js'
import { decideAccept, type AcceptRequest } from '../collab/decide/accept.js'
import type { IncomingMessage } from '../collab/message.js'
import { MANAGER, type ActorRef, type Instant, type RequestId, type Revision, type TextDigest } from '../collab/refs.js'
import type { AuthorityRef, WorkRequest } from '../collab/request.js'
import type { Conversation } from '../stores/conversations/conversations.js'
import { isMarkedAfter } from '../stores/marks/marks.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { askIdOf, digestOfText, eventIdOf, laneOf, requestIdOf, returnRefOf } from './ids.js'
import type { ConversationId, ReturnRef } from '../collab/refs.js'

/** Bodies of one conversation are readable there and by its owner. */
export const scopeOf = (conversation: string): string => `conversation:${conversation}`

/** Opens the request of one authorised message; one that may not run by itself is held. Returns its id. */
export async function openRequest(
  x: Exchange,
  input: {
    readonly message: IncomingMessage
    readonly conversation: Conversation
    readonly receivedAt: number
    readonly late: boolean
    /** In the order of arrival: one from before a stop or a fresh conversation is held. */
    readonly position?: number
    /** On whose authority it is worked on: the sender's own, or an owner's when a bot wrote it. */
    readonly authority: AuthorityRef
    /** Where the chat's policy wants its answer. */
    readonly returns: ChatPolicy['returns']
    /** Another place than where it was asked. */
    readonly returnTo?: ReturnRef
  },
): Promise<RequestId> {
  const { message, conversation, receivedAt, position } = input
  const passed = position !== undefined && (await isMarkedAfter(x.db.sql, conversation.id, position))
  const hold = input.late ? 'late' : passed ? 'stopped' : null
  const id = requestIdOf(receivedAt, message.bot, message.messageId)
  const lane = laneOf(conversation.id as ConversationId)
  const sender: ActorRef = { kind: 'person', bot: message.bot, openId: message.sender.openId }
  const text = digestOfText(message.text)
  const context = contextOf(
    1 as Revision,
    text,
    [],
    { kind: 'message', id: message.messageId, writtenBy: message.sender.openId },
    conversation.id,
  )
  const request: WorkRequest = {
    id,
    revision: 1 as Revision,
    kind: 'original',
    parent: null,
    conversation: conversation.id as ConversationId,
    origin: { channel: 'lark', bot: message.bot, messageId: message.messageId },
    sender,
    intent: 'delegation',
    target: MANAGER,
    authority: input.authority,
    contextDigest: digestOfContext(context),
    returnTo: input.returnTo ?? placeFor(message, input.returns),
    workRefs: [],
    asks: [{ id: askIdOf(id, 1, 1), textDigest: text }],
    supersedes: null,
    openedAt: receivedAt as Instant,
  }
  const command: AcceptRequest = {
    kind: 'accept-request',
    eventId: eventIdOf('accept', message.bot, message.messageId),
    requestId: id,
    at: receivedAt as Instant,
    actor: sender,
    request,
    context,
    hold,
  }
  await decideAndCommit(x, command, decideAccept, () => ({
    texts: [{ digest: text, accessScope: scopeOf(conversation.id), body: message.text }],
    input: {
      lane,
      state: hold === null ? 'waiting' : 'held',
      because: hold,
      position: message.createTime,
    },
    wakes: hold !== null ? [] : [{ kind: 'turn', subject: lane, dueAt: receivedAt }],
  }))
  return id
}

const placeFor = (message: IncomingMessage, returns: ChatPolicy['returns']): ReturnRef =>
  returns === 'reply' ? returnRefOf(message) : { ...returnRefOf(message), replyTo: null }

export function contextOf(
  revision: Revision,
  original: TextDigest,
  corrections: readonly TextDigest[],
  source: SourceRef,
  conversation: string,
): SemanticContext {
  return {
    revision,
    brief: { originalText: original, completionQuestion: null, corrections },
    sourceRefs: [source],
    workRevisionRefs: [],
    accessScope: scopeOf(conversation),
    omissions: [],
  }
}
