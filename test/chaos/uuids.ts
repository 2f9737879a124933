import { uuidOf } from '../../src/collab/decide/send.js'
import type { PartRow } from '../../src/stores/deliveries/parts.js'

/** Every uuid that a part may have been sent with. */
export function uuidsOf(part: PartRow): ReadonlySet<string> {
  const absent = part.history.filter((call) => call.outcome === 'absent')
  return new Set([...absent, null].map((_, nth) => uuidOf(part.key, absent.slice(0, nth))))
}
