import type { Bearing, Language, NewDelivery } from '../collab/delivery.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import type { ResultRecord } from '../collab/observation.js'
import type { AgentId, Instant, RequestId, ResultId, ReturnRef } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { deliveryIdOf } from './ids.js'

interface DueResult {
  readonly result: ResultRecord
  readonly bearing: Bearing | null
}

/**
 * The conclusions of a child that its parent's place has not been sent yet, in order: each that still answers an ask,
 * and the last. A corrected request is answered by several.
 *
 * @param returned results with which it came back before, and up to which it was therefore sent on
 */
export function dueResults(child: ExchangeState, returned: readonly (ResultId | null)[]): readonly DueResult[] {
  const all = child.results.filter((one) => one.kind === 'result')
  const sent = all.findLastIndex((one) => returned.includes(one.id)) + 1
  const standing = new Set([...child.asks.values()].flatMap((ask) => (ask.is === 'covered' ? [ask.by] : [])))
  const last = all.at(-1)
  const due = all.slice(sent).filter((one) => one === last || standing.has(one.id))
  const told = [...all.slice(0, sent), ...due]
  return due.map((result) => ({ result, bearing: bearingAmong(result, all, told) }))
}

/** Of what the reader was told, the conclusion that this one takes up: what it never saw is looked through. */
function bearingAmong(
  result: ResultRecord,
  all: readonly ResultRecord[],
  told: readonly ResultRecord[],
): Bearing | null {
  let former = all.find((one) => one.id === result.supersedes)
  while (former !== undefined && !told.includes(former)) {
    const { supersedes } = former
    former = all.find((one) => one.id === supersedes)
  }
  if (former === undefined) return null
  return former.covers.some((ask) => result.covers.includes(ask)) ? 'replaces' : 'updates'
}

export interface DirectReturn {
  readonly parent: WorkRequest
  /** Provider ids of the messages that the parent is made of. */
  readonly sources: readonly string[]
  readonly place: ReturnRef
  readonly from: AgentId
  readonly due: readonly DueResult[]
  readonly language: Language
  /** Nothing of the parent is left: the last of them ends its receipts. */
  readonly ends: boolean
  readonly at: number
}

/** The child's own conclusions, sent as they are and labelled, to the place where the root was asked. */
export function directDeliveries(d: DirectReturn): readonly NewDelivery[] {
  const { parent, place, language } = d
  const { messageId } = parent.origin
  return d.due.map(({ result, bearing }, n) => ({
    id: deliveryIdOf('result', result.id, place),
    causeKind: 'result',
    causeId: result.id,
    route: place,
    bot: place.bot,
    request: parent.id as RequestId,
    createdAt: d.at as Instant,
    source: {
      kind: 'answer',
      textDigest: result.textDigest,
      conclusionDigest: result.conclusionDigest,
      accessScope: result.accessScope,
      files: result.files,
      label: null,
      refusedOperations: [],
      reportName: `${language === 'zh' ? '回答' : 'answer'}-${parent.id.slice(-8)}`,
      language,
      endsReceipt: d.ends && n === d.due.length - 1 ? { messageId, chatId: place.chatId, end: 'done' } : null,
      alsoEnds: d.sources.filter((id) => id !== messageId),
      from: d.from,
      ...(bearing === null ? {} : { bearing }),
    },
  }))
}
