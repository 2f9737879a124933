import { areOwnWords, audienceOf } from '../collab/audience.js'
import { gapOf, grantsFor, type Gap, type OperationUse, type Use } from '../collab/grant.js'
import type { AgentId, Instant, TextDigest } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { DAY } from '../lib/time.js'
import { grantsOf, grantsStand } from '../stores/grants/grants.js'
import type { Exchange } from './deps.js'
import type { Stands } from './exchange.js'
import { askedBy } from './profile.js'

/** So long after its end a grant is still named as the reason why something is not allowed any more. */
const REMEMBERED = 90 * DAY

export interface Wanted {
  readonly request: WorkRequest
  readonly agent: AgentId
  readonly operation: TextDigest
  readonly does: OperationUse | null
}

/**
 * The standing grants that allow a use now, or what is missing. Asked at the moment of the use: what was queued while a
 * grant stood finds it as it stands now. Nothing stands in the name of somebody who is no owner any more, and nothing of
 * it is used by what another person wrote.
 *
 * @source RFC §5.3 (a grant is reused across turns and restarts until revoked, expired or outside scope)
 */
export async function standingFor(
  x: Exchange,
  { request, agent, operation, does }: Wanted,
): Promise<{ readonly grants: readonly string[] } | { readonly grants: null; readonly gap: Gap }> {
  const now = x.clock.now()
  const { principal, openId } = request.authority
  const { asked } = await askedBy(x, x.db.sql, request)
  // What owners allow, they allow for their own work: a member's uses none, also when they became an owner since.
  if (principal !== 'owner' || !areOwnWords(asked)) return { grants: null, gap: { kind: 'none' } }
  const use: Use = {
    agent,
    openId,
    conversation: request.conversation,
    ownerPrivate: audienceOf(asked) === 'owner-private',
    operation,
    does,
    at: now as Instant,
  }
  const all = await grantsOf(x.db.sql, { agent, openId, operation, since: now - REMEMBERED })
  const found = grantsFor(all, use)
  return found === null ? { grants: null, gap: gapOf(all, use) } : { grants: found.map((grant) => grant.id) }
}

/**
 * Asked in the transaction of the use: a revocation that came before it wins, and one that comes later finds the turn
 * that used it.
 */
export const stillGranted =
  (x: Pick<Exchange, 'clock'>, grants: readonly string[]): Stands =>
  async (tx) =>
    (await grantsStand(tx, grants, x.clock.now())) ? null : { reason: 'not-admitted', because: ['grant-ended'] }
