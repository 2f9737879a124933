import type { Bearing, Language } from './delivery.js'
import type { HostRefusal } from './host-refusal.js'
import type { IncomingMessage, TurnAuthority } from './message.js'
import type { Notice } from './notice.js'
import type { FileLeftOut } from './ports.js'
import type { BotId, Instant, ReturnRef } from './refs.js'

/** What is to be said, before any provider format. */
export type Outgoing =
  | {
      readonly kind: 'answer'
      readonly markdown: string
      readonly conclusion: string | null
      /** Set when no model answered. */
      readonly label: 'no-model' | null
      readonly refusedOperations: readonly string[]
      readonly refusedByHost?: readonly HostRefusal[]
      readonly bearing?: Bearing
      /** The agent whose own words they are, when they are sent on as they came. */
      readonly from?: string
      readonly language: Language
      readonly reportName: string
      readonly attachments: readonly OutgoingFile[]
      readonly leftOut?: readonly LeftOutFile[]
      readonly endedWithTurn?: readonly string[]
      /** Whom it may call by a mention: people of its own exchange, never a bot. Absent: nobody. */
      readonly people?: readonly { readonly openId: string; readonly name: string }[]
      /** The owner's web page of the request, for what cannot be sent. */
      readonly page?: string | null
    }
  | {
      readonly kind: 'notice'
      readonly notice: Notice
      readonly language: Language
      /** What became of the choice that it offered: shown in the place of the buttons. */
      readonly became?: Notice
    }

/** A file that was not taken from the agent: told with the answer, by its last name alone. */
export interface LeftOutFile {
  readonly fileName: string
  readonly reason: FileLeftOut
}

/** A file in the artifact store, named for a reader. Digest is SHA-256. */
export interface OutgoingFile {
  readonly digest: string
  readonly fileName: string
  readonly mediaType: string
  readonly size: number
}

export type MessageType = 'text' | 'post' | 'interactive' | 'image' | 'file' | 'audio' | 'media'

/**
 * One message to be sent, planned once and stored before the first send.
 * `content` is the exact provider content; for a file or image it is completed with the upload's key at sending.
 */
export interface PlannedPart {
  readonly msgType: MessageType
  readonly content: string
  readonly bytes: number
  /** Normalised readable text, for matching what the platform returns; null for cards and files. */
  readonly plain: string | null
  readonly file: OutgoingFile | null
  readonly renderer: string
  /** What a card or a post is written from, for a plainer form or smaller pieces of it; without it there are none. */
  readonly source?: PartSource | null
}

/** Markdown of an answer, or plain words of our own. */
export type PartSource = { readonly markdown: string } | { readonly text: string }

/**
 * Another form of a part that was refused. `plainer`: card → post → text, picture → file → a line with its page.
 * `smaller`: the same type in an ordered list of pieces. `new-message`: said without replying, and naming what it
 * answers; its last row is the part itself.
 */
export type OtherForm = 'plainer' | 'smaller' | 'new-message'

/** What our own words in another form speak of. */
export interface Restating {
  readonly language: Language
  /** The owner's web page of the request; null when there is none. */
  readonly page: string | null
  /** For `new-message`; null when an earlier part has named it. */
  readonly answers: Extract<Notice, { kind: 'answers-gone' }> | null
}

/** A stored part on its way out. `content` is complete. */
export interface PartToSend {
  readonly route: ReturnRef
  readonly msgType: MessageType
  readonly content: string
  /** First 40 hex digits of the part's key. Null once 50 minutes have passed since its first call. */
  readonly uuid: string | null
  /** The first message of the route's topic, where it is known: what replies to nothing hangs on it. */
  readonly threadRoot?: string | null
}

export type SendRefusal =
  'target-gone' | 'not-permitted' | 'bad-format' | 'too-long' | 'content-audit' | 'cannot-reply-here' | 'configuration'

/** What the call itself said; `providerCode` and `logId` are kept for the operator. */
export type SendReply =
  | { readonly reply: 'taken'; readonly messageId: string }
  | {
      readonly reply: 'ambiguous'
      readonly because: 'timeout' | 'connection-lost' | 'server-error' | 'being-sent'
      readonly code: number | null
    }
  | { readonly reply: 'refused'; readonly because: SendRefusal; readonly code: number | null; readonly detail: string }
  | {
      readonly reply: 'later'
      readonly retryAfterMs: number
      readonly because: 'rate-limit' | 'channel-down'
      readonly code: number | null
    }

/** What a look at one message by its id said. */
export type ReadBack =
  | { readonly found: 'as-sent' }
  | {
      readonly found: 'different'
      readonly because: 'deleted' | 'other-sender' | 'other-place' | 'other-type' | 'other-content'
    }
  | { readonly found: 'unknown'; readonly because: 'not-permitted' | 'unavailable' }

/**
 * What became of a send whose answer was lost. Only `absent` proves absence: its pages cover, without a gap, the
 * time from the attempt's start to 60 s after its end, in the right container.
 */
export type LookUp =
  | { readonly looked: 'found'; readonly messageId: string }
  | { readonly looked: 'absent' }
  | {
      readonly looked: 'incomplete'
      readonly because: 'not-permitted' | 'unavailable' | 'too-early' | 'no-content-to-match'
    }

export type ReactReply =
  | { readonly reaction: 'placed'; readonly reactionId: string }
  | {
      readonly reaction: 'refused'
      readonly because: 'message-gone' | 'not-permitted' | 'unknown-emoji' | 'quota'
      readonly code: number | null
    }
  | { readonly reaction: 'unknown'; readonly code: number | null }
  | { readonly reaction: 'later'; readonly retryAfterMs: number }

export type UploadReply = { readonly upload: 'stored'; readonly key: string } | Exclude<SendReply, { reply: 'taken' }>

export type Fetched<T> =
  | { readonly fetched: true; readonly value: T }
  | {
      readonly fetched: false
      readonly because: 'gone' | 'not-permitted' | 'unavailable' | 'too-large' | 'mismatch' | 'unsupported'
    }

/** A page of a history. Times in milliseconds; `page` is null for the first one, else the `next` of the one before. */
export interface HistoryAsk {
  readonly place: { readonly chatId: string; readonly chatType: 'p2p' | 'group'; readonly threadId: string | null }
  readonly from: Instant
  readonly until: Instant
  readonly page: string | null
}

/** Messages outside the asked times may be among them; withdrawn ones come without content. */
export type HistoryRead =
  | {
      readonly read: 'page'
      readonly messages: readonly { readonly message: IncomingMessage; readonly turnAuthority: TurnAuthority }[]
      readonly next: string | null
    }
  | { readonly read: 'refused'; readonly because: 'not-permitted' | 'gone' }
  | { readonly read: 'later'; readonly retryAfterMs: number }

export interface BotIdentity {
  readonly openId: string
  readonly name: string
}

/** What became of a change to an own card. `unknown`: the same change again has no further effect. */
export type UpdateReply =
  | { readonly update: 'done' }
  | { readonly update: 'refused'; readonly because: 'gone' | 'too-old' | 'not-accepted' }
  | { readonly update: 'later'; readonly retryAfterMs: number }
  | { readonly update: 'unknown' }

/** One bot on one chat platform. An interface because two real things stand behind it: Lark and, later, others. */
export interface Channel {
  readonly bot: BotId
  /** Null until the platform has said who we are. */
  identity(): BotIdentity | null
  plan(content: Outgoing, route: ReturnRef): Promise<readonly PlannedPart[]>
  /** Rows that stand for a refused part, in order, every word of it; none when that form does not exist for it. */
  restate(part: PlannedPart, as: OtherForm, about: Restating): Promise<readonly PlannedPart[]>
  /** `bytes` can be read more than once: a call with a token that was refused is repeated. */
  upload(part: PlannedPart, bytes: AsyncIterable<Uint8Array>): Promise<UploadReply>
  /** Completes a file or image part with its uploaded key. */
  withUpload(part: PlannedPart, key: string): string
  send(part: PartToSend): Promise<SendReply>
  readBack(messageId: string, sent: PartToSend, plain: string | null): Promise<ReadBack>
  lookUp(
    sent: PartToSend,
    plain: string | null,
    window: { readonly from: Instant; readonly to: Instant },
  ): Promise<LookUp>
  /** Replaces what a card of ours says; `content` is the whole new card. */
  update(messageId: string, content: string): Promise<UpdateReply>
  react(messageId: string, emoji: string): Promise<ReactReply>
  /** `message-gone` and an unknown reaction both count as removed. */
  unreact(messageId: string, reactionId: string): Promise<ReactReply | { readonly reaction: 'removed' }>
  /** Our own reaction of that kind, if it stands: settles a doubtful `react`. */
  findReaction(
    messageId: string,
    emoji: string,
  ): Promise<{ readonly found: string | null } | { readonly found: 'unknown' }>
  fetchMessage(messageId: string): Promise<Fetched<IncomingMessage>>
  /** What stands in a place, whoever wrote it, judged as if it had just come. */
  history(ask: HistoryAsk): Promise<HistoryRead>
  /** A forwarded bundle: the readable text of all its messages, in order. */
  fetchBundle(messageId: string): Promise<Fetched<string>>
  download(
    messageId: string,
    key: string,
    kind: 'image' | 'file',
  ): Promise<Fetched<{ readonly bytes: AsyncIterable<Uint8Array>; readonly fileName: string | null }>>
}
