import type { Branded } from '../lib/brand.js'

/** One bot of ours: its app id. Conversation, dedup, pacing, receipt and delivery keys all begin with it. */
export type BotId = Branded<string, 'BotId'>
/** One owner message, delegation or countercheck, for as long as anything of it is owed (RFC §5.10). UUIDv7. */
export type RequestId = Branded<string, 'RequestId'>
/** One substantive question of a request. */
export type AskId = Branded<string, 'AskId'>
/** One assignment of a request revision to a receiver; it spans many turns. */
export type AttemptId = Branded<string, 'AttemptId'>
/** One run of a runtime on one input. */
export type TurnId = Branded<string, 'TurnId'>
/** The identity of one command: the provider's, the caller's Idempotency-Key, or a new one. */
export type EventId = Branded<string, 'EventId'>
export type ResultId = Branded<string, 'ResultId'>
export type DeliveryId = Branded<string, 'DeliveryId'>
/** One outside effect that an attempt means to cause; written before it is caused. */
export type EffectId = Branded<string, 'EffectId'>
export type ArtifactId = Branded<string, 'ArtifactId'>
/** One (bot, chat, thread): its own session, workspace and context. */
export type ConversationId = Branded<string, 'ConversationId'>
/** One registered agent. `manager` is the built-in role. */
export type AgentId = Branded<string, 'AgentId'>
/** The place where one agent works through the inputs of one conversation, one turn at a time. */
export type LaneId = Branded<string, 'LaneId'>
/** SHA-256 of a text body, lower-case hex. */
export type TextDigest = Branded<string, 'TextDigest'>
/** Counts up from 1 within one request; a committed revision never changes. */
export type Revision = Branded<number, 'Revision'>
/** Orders the facts of one request, from 1; never a time. */
export type Seq = Branded<number, 'Seq'>
/** Milliseconds since the Unix epoch, UTC. */
export type Instant = Branded<number, 'Instant'>

/** Who acts: an owner, an agent's turn, the host itself, or an operator at a door. */
export type ActorRef =
  | { readonly kind: 'person'; readonly bot: BotId; readonly openId: string }
  | { readonly kind: 'agent'; readonly agent: AgentId; readonly turn: TurnId }
  | { readonly kind: 'host' }
  | { readonly kind: 'operator'; readonly session: string }

/** Where a request came from; resolves to authenticated source provenance (RFC §5.10). */
export interface OriginRef {
  readonly channel: 'lark' | 'web' | 'agent'
  readonly bot: BotId
  readonly messageId: string
}

/** The reply target, frozen when the request is accepted; never derived later from a "last chat". */
export interface ReturnRef {
  readonly channel: 'lark'
  readonly bot: BotId
  readonly chatId: string
  readonly chatType: 'p2p' | 'group'
  /** Set when the trigger stands in a topic: the answer must stay there. */
  readonly threadId: string | null
  /** The message that the answer replies to; null sends into the chat. */
  readonly replyTo: string | null
}

/**
 * Where a result goes: a place in a chat, or the request that asked for it. With `direct` the child's result is also
 * sent to the root's place as it is, labelled (a standing policy on the request).
 *
 * @source RFC §5.10 ("return_ref names a principal/audience-scoped result sink or parent request")
 */
export type ReturnTo =
  | ReturnRef
  | { readonly channel: 'request'; readonly request: RequestId; readonly ask: AskId | null; readonly direct: boolean }

/** The manager: the one agent that exists without registration. */
export const MANAGER = 'manager' as AgentId
