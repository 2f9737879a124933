import type { OutgoingFile } from '../collab/channel.js'

export interface AnswerView {
  readonly markdown: string
  /** What the agent gave as its conclusion, Markdown. */
  readonly conclusion?: string
  /** Begins the first part, for example "no model:". */
  readonly label?: string
  readonly language: 'en' | 'zh'
  /** Stem of the report's file name; may be non-ASCII. */
  readonly reportName: string
  /** Files that go with this answer: an image of it that the text names is shown where it is named. */
  readonly files?: readonly OutgoingFile[]
  /** Whom this answer may call; anybody else it names is a name. Never a bot. */
  readonly people?: readonly { readonly openId: string; readonly name: string }[]
}

/** Sent as a message of its own, after the part that it belongs to. */
export type Picture =
  | { readonly kind: 'file'; readonly file: OutgoingFile }
  /** A chart: the drawing, and from the render thread the same as PNG; null when it cannot be painted here. */
  | { readonly kind: 'chart'; readonly fileName: string; readonly svg: string; readonly png?: Uint8Array | null }

export interface RenderedPart {
  readonly msgType: 'text' | 'post' | 'interactive'
  /** The exact `content` string of the provider's request. */
  readonly content: string
  /** UTF-8 bytes of the request body, with 600 of them reserved for the fields beside `content`. */
  readonly bytes: number
  /** Readable text of this part, normalised (`normalisePlain`), to compare with what the platform returns. */
  readonly plain: string
  /** The piece of the answer this part shows, as Markdown that can be rendered again in a plainer form. */
  readonly markdown: string
  /** What is shown after this part, in order. */
  readonly pictures?: readonly Picture[]
}

export interface RenderedAttachment {
  readonly fileName: string
  readonly mediaType: 'text/markdown' | 'text/html'
  /** Images of the answer stand in a page as `src="artifact:DIGEST"`, until their bytes are put there. */
  readonly text: string
  readonly images?: readonly OutgoingFile[]
}

export interface RenderedAnswer {
  readonly parts: readonly RenderedPart[]
  readonly attachments: readonly RenderedAttachment[]
  /** Set when its marks could not be read here and it is sent as it was written: a fault of ours, kept with its parts. */
  readonly unread?: true
}
