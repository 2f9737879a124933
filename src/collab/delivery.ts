import type { Notice } from './notice.js'
import type { HostRefusal } from './host-refusal.js'
import type { LeftOutFile, OutgoingFile } from './channel.js'
import type { AgentId, BotId, DeliveryId, Instant, RequestId, ReturnRef, TextDigest } from './refs.js'

/** What a delivery is for. With the cause's id and the route it is unique: many producers, one delivery. */
export type CauseKind = 'result' | 'interim' | 'notice' | 'control' | 'progress' | 'approval'

export type Language = 'en' | 'zh'

/**
 * How an answer bears on another one to the same request: it takes the place of what was said before, it brings that up
 * to date after a correction, or it was written before a correction whose answer follows.
 */
export type Bearing = 'replaces' | 'updates' | 'before-correction'

/** What to say, by reference: bodies stand in `texts` and in the artifact store. */
export type DeliverySource = {
  /** When this delivery is verified or accepted, the receipt of that message ends so; null leaves it. */
  readonly endsReceipt: { readonly messageId: string; readonly chatId: string; readonly end: ReceiptEnd } | null
  /** Messages that were related to it, in the same chat: their receipts end the same way. */
  readonly alsoEnds?: readonly string[]
  readonly language: Language
} & (
  | {
      readonly kind: 'answer'
      readonly textDigest: TextDigest
      readonly conclusionDigest: TextDigest | null
      readonly accessScope: string
      readonly files: readonly OutgoingFile[]
      readonly label: 'no-model' | null
      /** Operations that the agent asked for and that no grant covers: told in the answer, exactly. */
      readonly refusedOperations: readonly string[]
      /** What the agent's host refused: told with whose refusal it was. */
      readonly refusedByHost?: readonly HostRefusal[]
      readonly leftOut?: readonly LeftOutFile[]
      /** Commands that the turn left running and that ended with it. */
      readonly endedWithTurn?: readonly string[]
      readonly reportName: string
      readonly bearing?: Bearing
      /** Whose own words they are, when they are sent on as they came. */
      readonly from?: AgentId
    }
  | { readonly kind: 'notice'; readonly notice: Notice }
)

export type ReceiptEnd = 'done' | 'failed' | 'withdrawn'

/** A delivery row, as it is put in the transaction of its cause. */
export interface NewDelivery {
  readonly id: DeliveryId
  readonly causeKind: CauseKind
  readonly causeId: string
  readonly route: ReturnRef
  readonly bot: BotId
  readonly request: RequestId | null
  readonly source: DeliverySource
  readonly createdAt: Instant
}

/** States of a part, worst last where a request shows one of several. */
export const partStates = [
  'superseded',
  'verified',
  'accepted',
  'planned',
  'sending',
  'ambiguous',
  'parked',
  'failed',
] as const
export type PartState = (typeof partStates)[number]

/** How a delivery ended by itself; null while something will still be tried. */
export type DeliveryOutcome = 'verified' | 'accepted' | 'failed' | 'parked'
