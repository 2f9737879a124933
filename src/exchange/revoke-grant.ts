import { turnsUsing } from '../stores/ledger/find.js'
import { grantsBelow, revokeGrant } from '../stores/grants/grants.js'
import { writeAudit } from '../stores/sessions/audit.js'
import { askTurnToEnd } from '../stores/turns/stops.js'
import type { Exchange } from './deps.js'

export type GrantRevocation =
  | { readonly outcome: 'accepted' | 'already-applied' }
  | { readonly outcome: 'refused'; readonly reason: 'grant-unknown' }

/**
 * Ends a standing permission. It allows nothing from this moment on, and a running turn that relied on it, or on
 * one that was made of it, is asked to end: its request is held until its owner says how to go on.
 *
 * @source RFC §5.3 (checked at use; revocation wins)
 */
export async function endGrant(
  x: Exchange,
  command: { readonly grant: string; readonly eventId: string; readonly who: string },
): Promise<GrantRevocation> {
  const { grant, eventId, who } = command
  return await x.db.tx(async (tx) => {
    const now = x.clock.now()
    const ended = await revokeGrant(tx, grant, who, now)
    if (ended === null) return { outcome: 'refused', reason: 'grant-unknown' }
    if (ended === 'ended') return { outcome: 'already-applied' }
    for (const turn of await turnsUsing(tx, await grantsBelow(tx, grant)))
      await askTurnToEnd(tx, turn, `grant-${grant}`, now)
    await writeAudit(tx, { id: eventId, at: now, who, act: 'grant revoke', subject: grant })
    return { outcome: 'accepted' }
  })
}
