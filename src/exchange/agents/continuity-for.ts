import type { ExchangeState } from '../../collab/exchange-state.js'
import { briefsOf, continuityOf } from '../../collab/project/continuity.js'
import type { AgentId } from '../../collab/refs.js'
import { textsOf } from '../../stores/ledger/read.js'
import type { Exchange } from '../deps.js'

/**
 * What an agent that goes on with a request reads of what was done on it before.
 *
 * @param accessScope in which the request's texts were stored
 */
export async function continuityFor(
  x: Exchange,
  state: ExchangeState,
  agent: AgentId,
  accessScope: string,
): Promise<ReturnType<typeof continuityOf>> {
  const digests = state.briefs.map(({ brief }) => brief)
  const bodies = digests.length === 0 ? new Map<string, string>() : await textsOf(x.db.sql, digests, accessScope)
  const briefs = briefsOf(state, (digest) => bodies.get(digest) ?? null)
  return continuityOf(state, briefs, agent)
}
