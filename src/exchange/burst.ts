import type { IncomingMessage } from '../collab/message.js'
import type { Instant, LaneId, RequestId } from '../collab/refs.js'
import { sameAuthority } from '../collab/request.js'
import { SECOND } from '../lib/time.js'
import { messageEvent } from '../stores/ingress/ingress.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { inputsBehind } from '../stores/turns/turns.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import type { Exchange } from './deps.js'
import { placeOf } from './place.js'

/** Files that one person sends together come one message each; the words about them come last. */
const QUIET_MS = 1.5 * SECOND
/** A burst that never ends starts all the same. */
const LONGEST_MS = 10 * SECOND
const LOOKED_AT = 20

const bare = new Set(['image', 'file', 'media'])

/**
 * Files without a word wait a moment for those that were sent with them and for what is said about them; then one turn
 * takes up all of it. Anything else that waits in the lane ends the waiting.
 *
 * @returns until when to wait, or null
 * @source delivery In 6
 */
export async function burstUntil(x: Exchange, lane: LaneId, first: ExchangeState): Promise<Instant | null> {
  const now = x.clock.now()
  if (first.request === null || now - first.request.openedAt >= LONGEST_MS || !(await isBareFile(x, first))) return null
  let newest = first.request.openedAt as number
  for (const id of await inputsBehind(x.db.sql, lane, first.id, LOOKED_AT)) {
    const later = await stateOfRequest(x.db.sql, id as RequestId)
    if (later.request === null || !sameAuthority(later.request.authority, first.request.authority)) return null
    if (!(await isBareFile(x, later))) return null
    newest = Math.max(newest, later.request.openedAt)
  }
  const until = Math.min(newest + QUIET_MS, first.request.openedAt + LONGEST_MS)
  return until > now ? (until as Instant) : null
}

/** One message that is nothing but a file, and that no turn has seen. */
async function isBareFile(x: Exchange, state: ExchangeState): Promise<boolean> {
  const { request, sources } = state
  if (request === null || placeOf(request) === null || state.turns.size > 0 || sources.length !== 1) return false
  const event = await messageEvent(x.db.sql, request.origin.bot, request.origin.messageId)
  return event?.kind === 'message' && holdsOnlyFiles(event.message)
}

export function holdsOnlyFiles(message: Pick<IncomingMessage, 'messageType' | 'attachments'>): boolean {
  return bare.has(message.messageType) && message.attachments.length > 0
}
