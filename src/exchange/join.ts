import type { ExchangeState } from '../collab/exchange-state.js'
import type { LaneId, RequestId } from '../collab/refs.js'
import { sameAuthority, type WorkRequest } from '../collab/request.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { inputsBehind } from '../stores/turns/turns.js'
import type { Exchange } from './deps.js'
import { contextOf } from './fresh.js'
import { eventIdOf } from './ids.js'
import { placeOf } from './place.js'
import { relateRequests } from './relate.js'

/** Messages that one turn takes up at most; the rest waits for the next. */
const JOINED = 20

/**
 * What its sender wrote while the lane was busy goes into the same turn: the waiting messages are related to the first
 * of them as additions, by position, each keeping its own words and its own receipt. A turn serves one request, and a
 * result belongs to one.
 *
 * Only a turn that a person's message starts takes others up: not a retry, and not the synthesis after a child's return.
 *
 * @source ledger "Every authorised message opens its own request"
 */
export async function joinWaiting(x: Exchange, lane: LaneId, first: ExchangeState): Promise<ExchangeState> {
  const { request } = first
  if (request === null || first.closed !== null || first.turns.size > 0 || placeOf(request) === null) return first
  let state = first
  const { sessionLane } = await contextOf(x, request, lane)
  for (const id of await inputsBehind(x.db.sql, lane, first.id, JOINED)) {
    const later = await stateOfRequest(x.db.sql, id as RequestId)
    if (later.request === null || !sameSender(later.request, request) || later.turns.size > 0) break
    // What arrived after a fresh conversation began is never worked on in the one before it.
    if ((await contextOf(x, later.request, lane)).sessionLane !== sessionLane) break
    const receipt = await relateRequests(x, {
      eventId: eventIdOf('joined', first.id, id),
      earlier: first.id,
      later: id as RequestId,
      onRevision: state.head,
      as: 'addition',
      actor: { kind: 'host' },
    })
    if (receipt.outcome === 'rejected' || receipt.outcome === 'conflict') break
    state = await stateOfRequest(x.db.sql, first.id)
  }
  return state
}

/** What a bot wrote is not the owner's message, although it is worked on in the owner's name. */
function sameSender(a: WorkRequest, b: WorkRequest): boolean {
  const writer = (one: WorkRequest) => (one.sender.kind === 'person' ? one.sender.openId : one.sender.kind)
  return sameAuthority(a.authority, b.authority) && writer(a) === writer(b)
}
