import type { LaneId, RequestId } from '../collab/refs.js'
import { errorLabel } from '../lib/log.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { holdInput, nextInput } from '../stores/turns/turns.js'
import type { Exchange } from './deps.js'
import { placeOf } from './place.js'
import { say } from './say.js'

/**
 * A fault of our own ended the last try of a lane's turn: the owner hears of it as of any failed turn, the receipt
 * becomes a mark of failure, and the message waits for a replay. Never throws: the fault itself is what counts.
 *
 * @param fence names the run, so that a replay which breaks again is told again
 */
export async function tellBroken(x: Exchange, lane: LaneId, fence: number): Promise<void> {
  try {
    const input = await nextInput(x.db.sql, lane)
    if (input === null) return
    const { request, sources } = await stateOfRequest(x.db.sql, input.request as RequestId)
    const place = request === null ? null : placeOf(request)
    if (request === null || place === null) return
    const conversation = await conversationOf(x.db.sql, request.conversation)
    const { messageId } = request.origin
    await say(x, {
      causeKind: 'notice',
      causeId: `broken-${request.id}-${fence}`,
      route: place,
      notice: { kind: 'turn-failed', reason: 'interrupted', requestId: request.id },
      language: conversation?.language ?? 'en',
      endsReceipt: { messageId, chatId: place.chatId, end: 'failed' },
      alsoEnds: sources.filter((id) => id !== messageId),
      request: request.id,
    })
    await holdInput(x.db.sql, input.request, 'failed')
  } catch (error) {
    x.log.error('a broken turn could not be told', { reason: lane, error: errorLabel(error) })
  }
}
