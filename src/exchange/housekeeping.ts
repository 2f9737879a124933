import type { JobOutcome } from '../collab/jobs.js'
import type { Instant } from '../collab/refs.js'
import { DAY, HOUR } from '../lib/time.js'
import { CONTEXT_DAYS, discardOldContext } from '../stores/ingress/context-items.js'
import { forgetOldEvents } from '../stores/ingress/ingress.js'
import { forgetOldAbsences } from '../stores/presence/gaps.js'
import { forgetOldActivity } from '../stores/turns/activity.js'
import type { Exchange } from './deps.js'

/** The subject of the wake that comes back each hour. */
export const HOUSEKEEPING = 'housekeeping'

/** Twice the provider's longest re-push and more: the once-only key must outlive every late duplicate. */
const EVENTS_KEPT_MS = 30 * DAY

/** What a runtime was seen to do is followed while it happens, and looked at once more when something went wrong. */
const ACTIVITY_KEPT_MS = 7 * DAY

/** Lets go of what was only kept for a time: bodies of context items, the content of old events (not
 * their keys), when we were away and what we missed then, and what runtimes were seen to do. */
export async function keepHouse(x: Exchange): Promise<JobOutcome> {
  const now = x.clock.now()
  await discardOldContext(x.db.sql, now - CONTEXT_DAYS * DAY, now)
  await forgetOldEvents(x.db.sql, now - EVENTS_KEPT_MS)
  await forgetOldAbsences(x.db.sql, now - EVENTS_KEPT_MS)
  await forgetOldActivity(x.db.sql, now - ACTIVITY_KEPT_MS)
  return { outcome: 'later', at: (now + HOUR) as Instant, because: 'next round' }
}
