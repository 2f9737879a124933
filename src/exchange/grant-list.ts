import { effectiveOf, type Effective } from '../collab/grant.js'
import type { Instant } from '../collab/refs.js'
import { grantsAbove } from '../stores/grants/grants.js'
import type { Place } from '../stores/views/cursor.js'
import { listGrants, type GrantView } from '../stores/views/grants.js'
import type { Exchange } from './deps.js'

/** One standing permission, with what it really gives at this moment. */
export interface EffectiveGrant extends GrantView {
  readonly effective: Effective
}

/**
 * Newest first: what stands now by the same rules that decide a use, its whole chain and its owner included, and not
 * only what was once written down.
 */
export async function effectiveGrants(x: Exchange, after: Place, limit: number): Promise<readonly EffectiveGrant[]> {
  const rows = await listGrants(x.db.sql, after, limit)
  const all = await grantsAbove(
    x.db.sql,
    rows.map((row) => row.id),
  )
  const now = x.clock.now() as Instant
  return rows.map((row) => {
    const grant = all.find((one) => one.id === row.id)
    const owner = x.settings.ownerOpenIds.has(row.openId)
    return { ...row, effective: grant === undefined ? 'revoked' : effectiveOf(grant, all, owner, now) }
  })
}
