import type { TurnEvent } from '../collab/ports.js'
import { errorLabel } from '../lib/log.js'
import { noteActivity, noteFirstAnswer } from '../stores/turns/activity.js'
import type { Exchange } from './deps.js'

/** What a runtime is seen to do. `waiting`: it asked for something and waits for the answer. */
export type Activity = Extract<TurnEvent, { kind: 'activity' }>['activity'] | 'waiting'

/** Of one turn; a runtime that changes what it does more often is not followed any further. */
const KEPT = 500

/**
 * Notes what the runtime of a turn does, each time that it is something else. Only what its own events say, and only
 * the kind of it; and when it first wrote its answer. A note that cannot be kept costs the turn nothing.
 *
 * @source RFC §5.11; A22
 */
export function followActivity(x: Exchange, request: string, turn: string): (activity: Activity) => Promise<void> {
  let last: Activity | null = null
  let ordinal = 0
  let answered = false
  return async (activity) => {
    if (activity === last || ordinal >= KEPT) return
    last = activity
    ordinal += 1
    const first = activity === 'answering' && !answered
    answered ||= first
    try {
      if (first) await noteFirstAnswer(x.db.sql, turn, x.clock.now())
      await noteActivity(x.db.sql, { turn, ordinal, request, activity, at: x.clock.now() })
    } catch (error) {
      x.log.warn('an activity was not noted', { turnId: turn, error: errorLabel(error) })
    }
  }
}
