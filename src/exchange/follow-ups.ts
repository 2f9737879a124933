import type { RequestId } from '../collab/refs.js'
import { SECOND } from '../lib/time.js'
import { followUpsBehind } from '../stores/turns/behind.js'
import { holdBacklog } from './backlog.js'
import type { Exchange } from './deps.js'
import { isSteerable, steerInto, type Steering } from './steer.js'

/** How often a running turn looks at what was written since. */
const LOOK_MS = 0.5 * SECOND
const LOOKED_AT = 200

/**
 * Looks, while a turn runs, at what waits behind it: what may is put into it, in the order in which it was written, and
 * of the rest what is too much or waits too long is held.
 *
 * @param byPerson a person's word started the turn
 * @returns ends the looking
 */
export function watchFollowUps(x: Exchange, of: Steering, byPerson: boolean): () => void {
  const { lane, turn, request } = of
  const seen = new Set<string>()
  const told = new Set<string>()
  const tried = new Set<RequestId>()
  // Behind the turn of an agent that work was handed to nobody's message waits.
  if (request.parent !== null) return () => {}
  let steerable = isSteerable(x, of, byPerson)
  const close = x.every(LOOK_MS, async () => {
    const waiting = await followUpsBehind(x.db.sql, lane, turn, request.id, LOOKED_AT)
    for (const one of waiting) {
      if (!steerable || seen.has(one.request)) continue
      const became = await steerInto(x, of, one)
      if (became === 'not-yet') return
      seen.add(one.request)
      if (became === 'taken') told.add(one.request)
      // It ended, or cannot after all: nothing more can be put into it.
      if (became === 'too-late' || became === 'unsupported') steerable = false
    }
    const queued = waiting.filter((one) => !one.told && !told.has(one.request))
    await holdBacklog(x, { lane, conversation: request.conversation }, queued, tried)
  })
  return () => {
    steerable = false
    close()
  }
}
