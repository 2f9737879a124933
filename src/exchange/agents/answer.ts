import type { LeftOutFile } from '../../collab/channel.js'
import type { Bearing, Language, NewDelivery } from '../../collab/delivery.js'
import type { HostRefusal } from '../../collab/host-refusal.js'
import type { ResultRecord } from '../../collab/observation.js'
import type { Instant } from '../../collab/refs.js'
import type { WorkRequest } from '../../collab/request.js'
import type { Also } from '../../stores/ledger/commit.js'
import { deliveryIdOf } from '../ids.js'
import { placeOf } from '../place.js'

/** What is known of the answer beside its result. */
export interface AnswerNote {
  readonly language: Language
  /** Set when the turn that reported ran on no model. */
  readonly label: 'no-model' | null
  /** Operations that the agent asked for and that no grant covers. */
  readonly refused: readonly string[]
  /** What its host refused. */
  readonly refusedByHost?: readonly HostRefusal[]
  /** Files of the agent that were not taken. */
  readonly leftOut?: readonly LeftOutFile[]
  /** Commands that the turn left running and that ended with it. */
  readonly endedWithTurn?: readonly string[]
  readonly bearing: Bearing | null
  readonly at: number
}

/**
 * How a committed result travels back: to a place in a chat by a delivery, to the request that asked by its wake; in
 * the transaction of the result.
 */
export function returningResult(
  request: WorkRequest,
  result: ResultRecord,
  note: AnswerNote,
  sources: readonly string[],
): Required<Pick<Also, 'deliveries' | 'wakes'>> {
  const place = placeOf(request)
  if (place === null) {
    return { deliveries: [], wakes: [{ kind: 'upkeep', subject: `return-${request.id}`, dueAt: note.at }] }
  }
  const done = result.remainder.length === 0 && result.kind === 'result'
  const delivery: NewDelivery = {
    id: deliveryIdOf(result.kind, result.id, place),
    causeKind: result.kind,
    causeId: result.id,
    route: place,
    bot: request.origin.bot,
    request: request.id,
    createdAt: note.at as Instant,
    source: {
      kind: 'answer',
      textDigest: result.textDigest,
      conclusionDigest: result.conclusionDigest,
      accessScope: result.accessScope,
      files: result.files,
      label: note.label,
      refusedOperations: note.refused,
      ...(note.refusedByHost === undefined || note.refusedByHost.length === 0
        ? {}
        : { refusedByHost: note.refusedByHost }),
      ...(note.endedWithTurn === undefined || note.endedWithTurn.length === 0
        ? {}
        : { endedWithTurn: note.endedWithTurn }),
      ...(note.leftOut === undefined || note.leftOut.length === 0 ? {} : { leftOut: note.leftOut }),
      reportName: `${note.language === 'zh' ? '回答' : 'answer'}-${request.id.slice(-8)}`,
      language: note.language,
      endsReceipt: done ? { messageId: request.origin.messageId, chatId: place.chatId, end: 'done' } : null,
      alsoEnds: sources.filter((id) => id !== request.origin.messageId),
      ...(note.bearing === null ? {} : { bearing: note.bearing }),
    },
  }
  return { deliveries: [delivery], wakes: [{ kind: 'deliver', subject: delivery.id, dueAt: note.at }] }
}
