import { decideCancel } from '../collab/decide/control.js'
import { decideRevise } from '../collab/decide/revise.js'
import { digestOfContext } from '../collab/context.js'
import type { Receipt } from '../collab/decision.js'
import type { Observation } from '../collab/observation.js'
import type { ActorRef, EventId, Instant, LaneId, RequestId, Revision } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { factsOf, stateOfRequest } from '../stores/ledger/read.js'
import { inputOf } from '../stores/turns/turns.js'
import { afterCancel, languageOf } from './agents/cancel.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { lookFor } from './executing.js'
import { askIdOf, digestOfText, laneOf } from './ids.js'
import { contextOf, scopeOf } from './open.js'
import { placeOf } from './place.js'
import { endReceipt } from './receipts.js'

export interface Revise {
  readonly requestId: RequestId
  readonly kind: 'correction' | 'cancellation'
  /** Of a correction; a cancellation has none. */
  readonly text?: string | undefined
  /** The revision that the author saw. */
  readonly onRevision: Revision
  readonly eventId: EventId
  readonly actor: ActorRef
}

/**
 * A correction becomes the next revision and is owed; a cancellation takes effect at the next safe boundary.
 *
 * @returns the loop's receipt; refusals are those of `decideRevise` and `decideCancel`
 * @source RFC §5.6, §5.10
 */
export async function reviseRequest(x: Exchange, revise: Revise): Promise<Receipt> {
  return revise.kind === 'correction' ? await correct(x, revise) : await cancel(x, revise)
}

async function correct(x: Exchange, revise: Revise): Promise<Receipt> {
  const text = (revise.text ?? '').trim()
  if (text === '') return { outcome: 'rejected', refusal: { reason: 'text-empty' } }
  // Built on the revision that the author saw, not on the head: the same command again must be the same bytes.
  const seen = contextsOf(await factsOf(x.db.sql, revise.requestId))
  const before = seen.find(({ request }) => request.revision === revise.onRevision) ?? seen.at(-1)
  if (before === undefined) return { outcome: 'rejected', refusal: { reason: 'request-unknown' } }
  const { request } = before
  const input = await inputOf(x.db.sql, revise.requestId)
  const lane = (input?.lane ?? laneOf(request.conversation)) as LaneId
  const digest = digestOfText(text)
  const now = x.clock.now()
  const revision = (revise.onRevision + 1) as Revision
  const context = contextOf(
    revision,
    before.context.brief.originalText,
    [...before.context.brief.corrections, digest],
    { kind: 'command', id: revise.eventId, writtenBy: 'owner' },
    request.conversation,
  )
  const revised: WorkRequest = {
    ...request,
    revision,
    kind: 'correction',
    sender: revise.actor,
    contextDigest: digestOfContext(context),
    asks: [{ id: askIdOf(request.id, revision, 1), textDigest: digest }],
    supersedes: revise.onRevision,
  }
  // Whoever handed it on learns that it works again.
  const told =
    request.parent === null ? [] : [{ kind: 'upkeep' as const, subject: `revised-${request.id}`, dueAt: now }]
  const { requestId, eventId, actor, onRevision } = revise
  return await decideAndCommit(
    x,
    {
      kind: 'revise-request',
      eventId,
      requestId,
      at: now as Instant,
      actor,
      onRevision,
      request: revised,
      context,
    } as const,
    decideRevise,
    (_facts, state) => ({
      texts: [{ digest, accessScope: scopeOf(request.conversation), body: text }],
      wakes: told,
      // What is held stays held: the correction runs with it when the owner says so.
      ...(state.held === null
        ? {
            input: { lane, state: 'waiting' as const, because: null, position: input?.position ?? now },
            wakes: [...told, { kind: 'turn' as const, subject: lane, dueAt: now }],
          }
        : {}),
    }),
  )
}

/** The request at each of its revisions, with what a receiver had to know then. */
function contextsOf(facts: readonly Observation[]) {
  return facts.flatMap((fact) => {
    if (fact.kind === 'request-opened') return [{ request: fact.opened, context: fact.context }]
    return fact.kind === 'request-revised' ? [{ request: fact.revised, context: fact.context }] : []
  })
}

async function cancel(x: Exchange, revise: Revise): Promise<Receipt> {
  const input = await inputOf(x.db.sql, revise.requestId)
  const { requestId, eventId, actor, onRevision } = revise
  const at = x.clock.now() as Instant
  const { request } = await stateOfRequest(x.db.sql, requestId)
  const language = request === null ? 'en' : await languageOf(x, request.conversation)
  const look = lookFor(requestId)
  const command = { kind: 'cancel-request', eventId, requestId, at, actor, onRevision, because: 'owner' } as const
  const { at: _heard, ...said } = command
  const receipt = await decideAndCommit(
    x,
    command,
    (state) => decideCancel(state, { ...command, executing: look.executing() }),
    (facts, state) => afterCancel(input, facts, state, language, at),
    said,
    look.stands,
  )
  await endReceiptsOfCancelled(x, requestId)
  return receipt
}

/** Read again, not remembered: a run of this command that was interrupted may have committed it before. */
async function endReceiptsOfCancelled(x: Exchange, requestId: RequestId): Promise<void> {
  const { request, closed, sources } = await stateOfRequest(x.db.sql, requestId)
  const place = request === null ? null : placeOf(request)
  if (request === null || place === null || closed !== 'cancelled') return
  for (const messageId of sources) {
    await endReceipt(x, { bot: request.origin.bot, messageId, chatId: place.chatId, end: 'withdrawn' })
  }
}
