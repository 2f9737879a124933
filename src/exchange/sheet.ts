import { sheetLines } from '../collab/project/sheet.js'
import type { RuntimeSession } from '../collab/ports.js'
import type { AgentId, LaneId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { sessionOf } from '../stores/bindings/bindings.js'
import { countStanding } from '../stores/grants/standing.js'
import type { Exchange } from './deps.js'
import type { Context } from './fresh.js'
import { rootOf } from './profile.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { placeOf } from './place.js'

/**
 * The effective profile of a session that begins, as its agent reads it. The same facts stand with the session for its
 * owner.
 *
 * @source RFC §5.1 — A12
 */
export async function sheetOf(
  x: Exchange,
  of: {
    readonly request: WorkRequest
    readonly agent: AgentId
    readonly session: Pick<RuntimeSession, 'effective'>
    readonly context: Context
  },
): Promise<readonly string[]> {
  const { request, agent, session, context } = of
  const root = (await stateOfRequest(x.db.sql, await rootOf(x.db.sql, request))).request ?? request
  return sheetLines({
    host: x.host,
    effective: session.effective,
    tools: x.toolsUrl !== null,
    grants: await countStanding(x.db.sql, {
      agent,
      openId: request.authority.openId,
      conversation: request.conversation,
      ownerPrivate: context.profile.kind === 'owner' && placeOf(root)?.chatType === 'p2p',
      at: x.clock.now(),
    }),
    otherProfile: await anyBound(x, context.otherSessions),
  })
}

async function anyBound(x: Exchange, lanes: readonly LaneId[]): Promise<boolean> {
  const bound = await Promise.all(lanes.map((lane) => sessionOf(x.db.sql, lane)))
  return bound.some((one) => one !== null)
}
