import { areOwnWords, type Asked } from '../../collab/audience.js'
import type { ToolCaller } from '../../collab/agent-tools.js'
import type { Refusal } from '../../collab/decision.js'
import type { LaneId, RequestId } from '../../collab/refs.js'
import type { WorkRequest } from '../../collab/request.js'
import { stateOfRequest } from '../../stores/ledger/read.js'
import { requestOfTurn } from '../../stores/turns/turns.js'
import type { Exchange } from '../deps.js'
import { contextOf } from '../fresh.js'
import { placeOf } from '../place.js'
import { askedBy } from '../profile.js'

/**
 * Where others may speak too, a turn on their words does nothing in a request of an owner's own words: what is handed on
 * from that one runs with what its owner has, and uses what its owner has permitted. In a direct chat nobody else speaks,
 * and an agent that pulls by itself is in no turn of anybody's.
 *
 * @returns `not-admitted`, or null
 * @source RFC §5.3 (authority comes from who asked, never from what an agent names)
 */
export async function refuseForOthers(x: Exchange, caller: ToolCaller, request: WorkRequest): Promise<Refusal | null> {
  if (caller.lane === null) return null
  const id = caller.turn === null ? null : await requestOfTurn(x.db.sql, caller.turn)
  if (id === request.id) return null
  const there = await askedBy(x, x.db.sql, request)
  if (placeOf(there.root)?.chatType === 'p2p' || !areOwnWords(there.asked)) return null
  const own = id === null ? await isOwnSession(x, caller.session, request, caller.lane) : await isOf(x, id, there.asked)
  return own ? null : { reason: 'not-admitted', because: ['words-of-others'] }
}

/** Does a turn run on this owner's own words, too? */
async function isOf(x: Exchange, id: RequestId, { owner }: Asked): Promise<boolean> {
  const running = (await stateOfRequest(x.db.sql, id)).request
  const here = running === null ? null : (await askedBy(x, x.db.sql, running)).asked
  return here !== null && areOwnWords(here) && here.owner === owner
}

/** Between its turns only a session that never has the words of others acts on. */
async function isOwnSession(x: Exchange, session: string, request: WorkRequest, lane: LaneId): Promise<boolean> {
  const { profile, sessionLane } = await contextOf(x, request, lane)
  return profile.kind === 'owner' && sessionLane === session
}
