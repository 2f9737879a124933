import type { BotId, Instant } from './refs.js'

/** A person named inside a message. */
export interface Mention {
  readonly openId: string
  readonly name: string
  readonly isBot: boolean
  /** This bot itself. */
  readonly isSelf: boolean
}

/** A file that came with a message; it is downloaded into the artifact store before the turn. */
export interface IncomingAttachment {
  readonly kind: 'image' | 'file' | 'audio' | 'media' | 'sticker'
  readonly key: string
  readonly fileName: string | null
  readonly durationMs: number | null
  /** Stickers, folders and files inside forwarded bundles cannot be fetched (Lark: get-message-resource). */
  readonly downloadable: boolean
}

/**
 * One chat message in our own words, made by a pure converter at the door.
 *
 * `text` is what a reader would see: mention placeholders are names, only this bot's own mention is removed,
 * code blocks are fenced byte for byte, unknown tags degrade to their readable text.
 */
export interface IncomingMessage {
  readonly bot: BotId
  readonly messageId: string
  readonly chatId: string
  readonly chatType: 'p2p' | 'group'
  readonly threadId: string | null
  readonly rootId: string | null
  readonly parentId: string | null
  readonly sender: {
    readonly openId: string
    readonly unionId: string | null
    readonly type: 'user' | 'bot'
    readonly tenantKey: string | null
  }
  /** When it was written, by the provider's clock. */
  readonly createTime: Instant
  readonly messageType: string
  readonly text: string
  readonly mentions: readonly Mention[]
  readonly mentionsSelf: boolean
  readonly mentionsAll: boolean
  readonly attachments: readonly IncomingAttachment[]
  /** The event does not carry the whole content: it must be read by REST before the turn. */
  readonly expand: 'merge-forward' | 'read-back' | null
  /** The platform says that its sender has edited it; only where it was read back. */
  readonly edited?: boolean
  /** Withdrawn before it reached us: its content is empty. */
  readonly recalled: boolean
  /** Names of tags or types that the converter did not know; logged once each. */
  readonly unknown: readonly string[]
}

/** What a door hands to the exchange after verification: one provider event, normalised. */
export type IncomingEvent = {
  readonly bot: BotId
  /** The once-only key: the message id for messages, the event id for the rest. */
  readonly key: string
  readonly eventId: string
  readonly eventType: string
} & (
  | { readonly kind: 'message'; readonly message: IncomingMessage; readonly turnAuthority: TurnAuthority }
  | { readonly kind: 'recalled'; readonly messageId: string; readonly chatId: string }
  /** A hint only: what it says now is read back. */
  | { readonly kind: 'edited'; readonly messageId: string; readonly chatId: string }
  | {
      readonly kind: 'bot-added' | 'bot-removed' | 'chat-disbanded' | 'chat-entered'
      readonly chatId: string
      readonly openId: string | null
    }
  | {
      readonly kind: 'card-action'
      /** The operator of the envelope; absent in events that were stored by an earlier version. */
      readonly openId: string
      readonly tenantKey?: string | null
      readonly unionId?: string | null
      readonly messageId: string
      readonly chatId: string
      readonly value: Readonly<Record<string, unknown>>
    }
  /** Stored so that nothing is lost, acted on by nobody: reactions, read marks, unknown event types. */
  | { readonly kind: 'other' }
)

/**
 * May this message start a turn? Judged from local facts only.
 *
 * `if-parent-ours` is decided in the statement that stores the event: it holds when the parent or root is a message
 * that we sent. `unjudged`: our own identity is not known yet, so a group message waits.
 */
export type TurnAuthority =
  | { readonly verdict: 'addressed'; readonly because: 'direct-message' | 'mention' | 'configured-group' | 'other-bot' }
  | { readonly verdict: 'if-parent-ours' }
  | { readonly verdict: 'context-only'; readonly because: 'not-addressed' | 'at-all' }
  | { readonly verdict: 'ignored'; readonly because: 'own-message' | 'other-bot' }
  | { readonly verdict: 'unjudged'; readonly because: 'bot-identity-unknown' }
