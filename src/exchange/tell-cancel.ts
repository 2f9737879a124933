import type { Language, NewDelivery } from '../collab/delivery.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import { foresee } from '../collab/foresee.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { Notice } from '../collab/notice.js'
import type { Fact } from '../collab/observation.js'
import { cancellationOf, happenedIn } from '../collab/project/cancellation.js'
import type { RequestId } from '../collab/refs.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import type { Also } from '../stores/ledger/commit.js'
import { ancestorsOf } from '../stores/ledger/family.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import type { Exchange } from './deps.js'
import { placeOf } from './place.js'
import { say, sayingOf } from './say.js'

type Told = Required<Pick<Also, 'deliveries' | 'wakes'>>

const nothing: Told = { deliveries: [], wakes: [] }

/**
 * What the place of a request hears of its cancellation with these facts: that it was asked for, that it took effect, or
 * that it came too late for what had happened. Decided from the facts, in their transaction. Nothing for a request
 * that an agent made, and nothing for one whose message was withdrawn before it ran: its sender knows.
 *
 * @param ends whether the notice also ends the receipts of the request's messages
 * @source ledger invariants 4, 8 — A7
 */
export function cancellationTold(
  before: ExchangeState,
  facts: readonly Fact[],
  language: Language,
  at: number,
  ends: boolean,
): Told {
  const after = foresee(before, facts)
  const asked = facts.find((fact) => fact.kind === 'cancel-requested')
  const ended = facts.some((fact) => fact.kind === 'cancel-acknowledged')
  const place = after.request === null ? null : placeOf(after.request)
  const withdrawn = asked?.kind === 'cancel-requested' && asked.because === 'trigger-recalled'
  const notice = asked === undefined && !ended ? null : noticeOf(after, asked)
  if (after.request === null || place === null || withdrawn || notice === null) return nothing
  const { id, origin } = after.request
  // What was answered after all ends its receipts with the answer.
  const withdraws = ends && ended && after.closed === 'cancelled'
  const delivery: NewDelivery = sayingOf(
    {
      causeKind: 'notice',
      causeId: `${ended ? 'cancelled' : 'cancel-asked'}-${id}-${after.head}`,
      route: place,
      notice,
      language,
      endsReceipt: withdraws ? { messageId: origin.messageId, chatId: place.chatId, end: 'withdrawn' } : null,
      alsoEnds: after.sources.filter((source) => source !== origin.messageId),
      request: id,
    },
    at,
  )
  const below = ended && after.children.size > 0 ? [{ kind: 'upkeep', subject: `below-${id}`, dueAt: at } as const] : []
  return { deliveries: [delivery], wakes: [{ kind: 'deliver', subject: delivery.id, dueAt: at }, ...below] }
}

function noticeOf(state: ExchangeState, asked: Fact | undefined): Notice | null {
  const cancellation = cancellationOf(state)
  switch (cancellation?.stands) {
    case undefined:
      return null
    case 'asked':
      return { kind: 'cancel-asked', waitsFor: cancellation.waitsFor }
    case 'acknowledged':
      return asked?.kind === 'cancel-requested' && asked.because === 'authority-gone'
        ? { kind: 'authority-gone' }
        : { kind: 'cancelled' }
    case 'too-late':
      return { kind: 'cancel-too-late', happened: cancellation.happened, rest: cancellation.rest, by: null }
  }
}

/**
 * A request below a cancelled one had already done something outside, or to the work owner's objects: the owner hears of
 * that, too, where the root was asked, once for each.
 */
export async function tellDoneBelow(x: Exchange, child: ExchangeState): Promise<void> {
  const happened = happenedIn(child).filter((one) => one.what !== 'answered')
  const rootId = happened.length === 0 ? undefined : (await ancestorsOf(x.db.sql, child.id)).at(-1)
  if (rootId === undefined) return
  const { request, closed } = await stateOfRequest(x.db.sql, rootId)
  const place = request === null ? null : placeOf(request)
  if (request === null || place === null || closed !== 'cancelled') return
  const conversation = await conversationOf(x.db.sql, request.conversation)
  await say(x, {
    causeKind: 'notice',
    causeId: `done-below-${child.id}-${happened.length}`,
    route: place,
    notice: { kind: 'cancel-too-late', happened, rest: true, by: child.request?.target ?? 'an agent' },
    language: conversation?.language ?? 'en',
    endsReceipt: null,
    request: rootId,
  })
}

/** The same for everything that came of a cancelled request. For the upkeep wake `below-<root>`. */
export async function tellBelow(x: Exchange, root: RequestId): Promise<JobOutcome> {
  const ids = [...(await stateOfRequest(x.db.sql, root)).children.keys()]
  for (const id of ids) {
    const child = await stateOfRequest(x.db.sql, id)
    await tellDoneBelow(x, child)
    ids.push(...[...child.children.keys()].filter((one) => !ids.includes(one)))
  }
  return { outcome: 'done', note: `${ids.length} looked at` }
}
