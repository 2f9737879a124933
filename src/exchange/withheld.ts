import { decideSettleWithheld } from '../collab/decide/withheld.js'
import { keptBack, type ExchangeState } from '../collab/exchange-state.js'
import type { Language, NewDelivery } from '../collab/delivery.js'
import type { Fact, ResultRecord } from '../collab/observation.js'
import type { Instant, LaneId, RequestId, ReturnRef } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import type { Also } from '../stores/ledger/commit.js'
import { factsOf, textsOf } from '../stores/ledger/read.js'
import { inputOf, profileOfTurn } from '../stores/turns/turns.js'
import { returningResult, type AnswerNote } from './agents/answer.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { eventIdOf } from './ids.js'
import type { Said } from './marks.js'
import { scopeOf } from './open.js'
import { placeOf } from './place.js'
import { receiptsSubject } from './receipts-of.js'
import { sayingOf } from './say.js'

type Sent = Required<Pick<Also, 'deliveries' | 'wakes'>>

/** Nothing can reply to a message that was withdrawn: a new one in the same thread or chat. */
export const withoutTrigger = (place: ReturnRef): ReturnRef => ({ ...place, replyTo: null })

/**
 * How a committed result travels back when its question was withdrawn meanwhile: it is kept, and the owner is asked
 * once; or it is dropped and nothing is said. Everything else goes its usual way.
 *
 * @param facts of the decision that committed it: they say what the policy was
 * @source delivery In 10
 */
export function returning(
  facts: readonly Fact[],
  request: WorkRequest,
  result: ResultRecord,
  note: AnswerNote,
  sources: readonly string[],
): Sent {
  const withheld = facts.some((fact) => fact.kind === 'result-withheld')
  const place = placeOf(request)
  if (!withheld || place === null) return returningResult(request, result, note, sources)
  const receipts = { kind: 'upkeep', subject: receiptsSubject(request.id), dueAt: note.at } as const
  if (facts.some((fact) => fact.kind === 'withheld-settled')) {
    return { deliveries: [], wakes: result.kind === 'result' ? [receipts] : [] }
  }
  const asking = askShowOrDrop(request, place, result, note.language, note.at)
  return { deliveries: [asking], wakes: [{ kind: 'deliver', subject: asking.id, dueAt: note.at }, receipts] }
}

/** The place in its lane of a request that a result has answered: it may wait for the owner's word on it. */
export function standsAfter(facts: readonly Fact[]): readonly ['held' | 'settled', string] {
  const kept = facts.some((fact) => fact.kind === 'result-withheld')
  const settled = facts.some((fact) => fact.kind === 'withheld-settled')
  return kept && !settled ? ['held', 'result-withheld'] : ['settled', 'answered']
}

function askShowOrDrop(
  request: WorkRequest,
  place: ReturnRef,
  result: ResultRecord,
  language: Language,
  at: number,
): NewDelivery {
  return sayingOf(
    {
      causeKind: 'notice',
      causeId: `withheld-${result.id}`,
      route: withoutTrigger(place),
      notice: { kind: 'result-withheld', requestId: request.id },
      language,
      endsReceipt: null,
      request: request.id,
    },
    at,
  )
}

/** The owner's word on what was kept back: it is sent to the place where it was asked, or dropped. Repeatable. */
export async function settleWithheld(
  x: Exchange,
  id: RequestId,
  as: 'shown' | 'dropped',
  said: Pick<Said, 'cause' | 'actor'>,
): Promise<void> {
  const now = x.clock.now()
  const input = await inputOf(x.db.sql, id)
  const note = await noteFor(x, id, now)
  await decideAndCommit(
    x,
    {
      kind: 'settle-withheld',
      eventId: eventIdOf('settle-withheld', said.cause, id),
      requestId: id,
      at: now as Instant,
      actor: said.actor,
      as,
    } as const,
    decideSettleWithheld,
    (_facts, state) => ({
      ...(as === 'shown' ? showing(state, note) : {}),
      ...(input === null
        ? {}
        : {
            input: {
              lane: input.lane as LaneId,
              state: 'settled',
              because: as === 'shown' ? 'answered' : 'dropped',
              position: input.position,
            },
          }),
    }),
  )
}

function showing(state: ExchangeState, note: AnswerNote): Partial<Sent> {
  const { request } = state
  const result = keptBack(state).at(-1)
  if (request === null || request.returnTo.channel !== 'lark' || result === undefined) return {}
  const shown = { ...request, returnTo: withoutTrigger(request.returnTo) }
  // Its receipts went when it was kept back.
  const sent = returningResult(shown, result, note, [])
  return {
    ...sent,
    deliveries: sent.deliveries.map((one) => ({ ...one, source: { ...one.source, endsReceipt: null } })),
  }
}

/** What its answer is told with: the same that it would have had when it was given. */
async function noteFor(x: Exchange, id: RequestId, at: number): Promise<AnswerNote> {
  const facts = await factsOf(x.db.sql, id)
  const committed = facts.findLast((fact) => fact.kind === 'result-committed')
  const turn = committed?.kind === 'result-committed' ? committed.turn : null
  const opened = facts.find((fact) => fact.kind === 'request-opened')
  const conversation = opened?.kind === 'request-opened' ? opened.opened.conversation : ''
  const asked = facts.flatMap((fact) =>
    fact.kind === 'approval-refused' && fact.turn === turn ? [fact.operation as string] : [],
  )
  const byHost = facts.flatMap((fact) => (fact.kind === 'refused-by-host' && fact.turn === turn ? [fact] : []))
  const operations = [...asked, ...byHost.flatMap(({ operation }) => operation ?? [])]
  const texts = await textsOf(x.db.sql, operations, scopeOf(conversation))
  const profile = turn === null ? null : await profileOfTurn(x.db.sql, turn)
  return {
    language: (await conversationOf(x.db.sql, conversation))?.language ?? 'en',
    label: profile?.realModel === false ? 'no-model' : null,
    refused: asked.flatMap((digest) => texts.get(digest) ?? []),
    refusedByHost: byHost.map(({ by, rule, tool, operation }) => ({
      by,
      rule,
      tool,
      operation: operation === null ? null : (texts.get(operation) ?? null),
    })),
    bearing: null,
    at,
  }
}
