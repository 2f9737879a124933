import type { IncomingMessage } from '../collab/message.js'
import {
  MANAGER,
  type AgentId,
  type AskId,
  type AttemptId,
  type BotId,
  type ConversationId,
  type DeliveryId,
  type EventId,
  type LaneId,
  type RequestId,
  type ResultId,
  type ReturnRef,
  type Revision,
  type TextDigest,
  type TurnId,
} from '../collab/refs.js'
import { digestOf, sha256, uuidFrom, uuidV7From } from '../lib/digest.js'

/*
 * Every id that a command creates follows from what caused it, so the same command retried is the same bytes.
 */

export const ingressIdOf = (bot: BotId, key: string): string => uuidFrom('ingress', bot, key)
export const receiptIdOf = (bot: BotId, messageId: string): string => uuidFrom('receipt', bot, messageId)
export const conversationIdOf = (bot: BotId, chatId: string, threadKey: string) =>
  uuidFrom('conversation', bot, chatId, threadKey) as ConversationId
export const laneOf = (conversation: ConversationId, agent: AgentId = MANAGER) =>
  uuidFrom('lane', conversation, agent) as LaneId
export const requestIdOf = (at: number, bot: BotId, messageId: string) =>
  uuidV7From(at, 'request', bot, messageId) as RequestId
export const askIdOf = (request: RequestId, revision: number, n: number) =>
  uuidFrom('ask', request, revision, n) as AskId
export const attemptIdOf = (request: RequestId, revision: Revision, n: number) =>
  uuidFrom('attempt', request, revision, n) as AttemptId
export const turnIdOf = (attempt: AttemptId, n: number) => uuidFrom('turn', attempt, n) as TurnId
export const resultIdOf = (turn: TurnId) => uuidFrom('result', turn) as ResultId
export const eventIdOf = (...parts: readonly (string | number)[]) => uuidFrom('event', ...parts) as EventId
export const digestOfText = (body: string) => sha256(body) as TextDigest

export const deliveryIdOf = (causeKind: string, causeId: string, route: ReturnRef) =>
  uuidFrom('delivery', causeKind, causeId, digestOf(route)) as DeliveryId

/** The thread's id, or '' for the main flow. */
export const threadKeyOf = (message: IncomingMessage): string => message.threadId ?? ''

/** Frozen at acceptance: an answer goes back to exactly this place. */
export function returnRefOf(message: IncomingMessage): ReturnRef {
  return {
    channel: 'lark',
    bot: message.bot,
    chatId: message.chatId,
    chatType: message.chatType,
    threadId: message.threadId,
    replyTo: message.messageId,
  }
}
