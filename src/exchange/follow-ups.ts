import { SECOND } from '../lib/time.js'
import { followUpsBehind } from '../stores/turns/behind.js'
import type { Exchange } from './deps.js'
import { isSteerable, steerInto, type Steering } from './steer.js'

/** How often a running turn looks at what was written since. */
const LOOK_MS = 0.5 * SECOND
const LOOKED_AT = 200

/**
 * Looks, while a turn runs, at what waits behind it: what may is put into it, in the order in which it was written.
 *
 * @param byPerson a person's word started the turn
 * @returns ends the looking
 */
export function watchFollowUps(x: Exchange, of: Steering, byPerson: boolean): () => void {
  const seen = new Set<string>()
  let steerable = isSteerable(x, of, byPerson)
  if (!steerable) return () => {}
  const close = x.every(LOOK_MS, async () => {
    const waiting = await followUpsBehind(x.db.sql, of.lane, of.turn, of.request.id, LOOKED_AT)
    for (const one of waiting) {
      if (!steerable || seen.has(one.request)) continue
      const became = await steerInto(x, of, one)
      if (became === 'not-yet') return
      seen.add(one.request)
      // It ended, or cannot after all: nothing more can be put into it.
      if (became === 'too-late' || became === 'unsupported') steerable = false
    }
  })
  return () => {
    steerable = false
    close()
  }
}
