import type { JobOutcome } from '../collab/jobs.js'
import type { RequestId } from '../collab/refs.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import type { Exchange } from './deps.js'
import { placeOf } from './place.js'
import { endReceipt } from './receipts.js'

/** The wake that ends the receipts of a request which no answer will end; put with the fact that says so. */
export const receiptsSubject = (request: RequestId): string => `receipts-${request}`

/**
 * Ends the receipts of all messages of a request that was skipped, cancelled, stopped, or whose result was dropped:
 * nothing says any more that it is being worked on. Read again from the facts, so an old wake does no harm.
 */
export async function endReceiptsOf(x: Exchange, id: RequestId): Promise<JobOutcome> {
  const state = await stateOfRequest(x.db.sql, id)
  const { request, sources, closed, held, recalled } = state
  const place = request === null ? null : placeOf(request)
  const over = held === 'stopped' || recalled || closed === 'rejected' || closed === 'cancelled'
  if (request === null || place === null || !over) return { outcome: 'done', note: 'a receipt stands' }
  for (const messageId of sources) {
    await endReceipt(x, { bot: request.origin.bot, messageId, chatId: place.chatId, end: 'withdrawn' })
  }
  return { outcome: 'done', note: 'ended' }
}
