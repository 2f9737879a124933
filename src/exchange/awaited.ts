import { awaitingAnswer } from '../collab/decide/next-revision.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import type { IncomingMessage } from '../collab/message.js'
import type { LaneId, RequestId } from '../collab/refs.js'
import { messageEvent } from '../stores/ingress/ingress.js'
import { requestOfMessage } from '../stores/ledger/find.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { heldInputs } from '../stores/turns/turns.js'
import type { Exchange } from './deps.js'
import { contextOf } from './fresh.js'
import { eventIdOf } from './ids.js'
import { placeOf } from './place.js'
import { relateRequests } from './relate.js'

/** A message taken into one that was continued elsewhere is looked for there; no sane chain is longer. */
const CONTINUED = 8

/**
 * An owner's message that stands where an answer is awaited goes on in the request that waits for it, before a turn of
 * its own begins: it replies to that request's message or to one that was sent for it, or it is written in a topic in
 * which exactly one request waits. Its words are owed there, and what was put off until them is owed again.
 *
 * Only the position of a message says so, never its words; everything else is for the manager to relate.
 *
 * @returns true when it went on there
 * @source ledger invariant 11 (`answer-from-owner`) and "Every authorised message opens its own request"
 */
export async function goesOnWhereAwaited(x: Exchange, lane: LaneId, first: ExchangeState): Promise<boolean> {
  const { request } = first
  if (request === null || first.closed !== null || first.turns.size > 0 || placeOf(request) === null) return false
  if (request.sender.kind !== 'person' || request.sender.openId !== request.authority.openId) return false
  const event = await messageEvent(x.db.sql, request.origin.bot, request.origin.messageId)
  if (event?.kind !== 'message') return false
  const earlier = await awaitedBy(x, lane, event.message)
  if (earlier === null || earlier.request === null || earlier.id === first.id) return false
  // What arrived after a fresh conversation began is never worked on in the one before it.
  const [there, here] = [await contextOf(x, earlier.request, lane), await contextOf(x, request, lane)]
  if (there.sessionLane !== here.sessionLane) return false
  const receipt = await relateRequests(x, {
    eventId: eventIdOf('answered', earlier.id, first.id),
    earlier: earlier.id,
    later: first.id,
    onRevision: earlier.head,
    as: 'addition',
    actor: { kind: 'host' },
  })
  return receipt.outcome === 'accepted'
}

/**
 * What a turn is told of other requests of its lane that wait for the owner's words: a message that only its words make
 * an answer is for the agent to relate.
 *
 * @param except the request of the turn itself
 */
export async function awaitedIn(x: Exchange, lane: LaneId, except: RequestId): Promise<readonly string[]> {
  const held = await heldInputs(x.db.sql, lane, 'deferred')
  const others = held.filter((one) => one.request !== except)
  const states = await Promise.all(others.map((one) => ifItWaits(x, one.request as RequestId)))
  return states.flatMap((state) =>
    state === null
      ? []
      : [
          `request ${state.id} at revision ${state.head} waits for an answer of the owner: ` +
            'if this message is that answer, relate it to it (relate_message)',
        ],
  )
}

/** The request that waits for this message, by its place alone. */
async function awaitedBy(x: Exchange, lane: LaneId, message: IncomingMessage): Promise<ExchangeState | null> {
  const { bot, parentId, rootId, threadId } = message
  // In a topic every message replies to its root: that quotes nothing.
  if (parentId !== null && (threadId === null || parentId !== rootId)) {
    const quoted = await requestOfMessage(x.db.sql, bot, parentId)
    return quoted === null ? null : await ifItWaits(x, quoted)
  }
  if (threadId === null) return null
  const held = await heldInputs(x.db.sql, lane, 'deferred')
  const states = await Promise.all(held.map((one) => ifItWaits(x, one.request as RequestId)))
  const [only, ...others] = states.filter((state) => state !== null)
  return only === undefined || others.length > 0 ? null : only
}

/** Where it stands now, when it waits for an answer and may run. */
async function ifItWaits(x: Exchange, id: RequestId): Promise<ExchangeState | null> {
  let state = await stateOfRequest(x.db.sql, id)
  for (let n = 0; n < CONTINUED && state.closed === 'continued'; n++) {
    const [into] = [...state.asks.values()].flatMap((ask) => (ask.is === 'continued' ? [ask.into] : []))
    if (into === undefined) return null
    state = await stateOfRequest(x.db.sql, into)
  }
  return state.closed === null && state.held === null && awaitingAnswer(state).length > 0 ? state : null
}
