import type { JobOutcome } from '../collab/jobs.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { turnsStoppedBy } from '../stores/turns/stops.js'
import { askedAt } from './asked-at.js'
import type { Exchange } from './deps.js'
import { say } from './say.js'

/**
 * Tells the owner of a turn that something else than a word of theirs has ended it: an operator who stopped its session
 * or revoked a permission that it used. Its request waits for the owner, who would not know.
 *
 * @param by what asked the turn to end
 */
export async function tellStopped(x: Exchange, by: string): Promise<JobOutcome> {
  let told = 0
  for (const turn of await turnsStoppedBy(x.db.sql, by)) {
    const { request, held } = await stateOfRequest(x.db.sql, turn.request)
    const route = request === null || held !== 'stopped' ? null : await askedAt(x, request)
    if (request === null || route === null) continue
    told += 1
    await say(x, {
      causeKind: 'notice',
      causeId: `stopped-${turn.id}`,
      route,
      notice: { kind: 'stopped', turns: 1, finished: 0, queued: 0, conversation: request.conversation },
      language: (await conversationOf(x.db.sql, request.conversation))?.language ?? 'en',
      endsReceipt: null,
      request: request.id,
    })
  }
  return { outcome: 'done', note: told === 0 ? 'nothing was stopped' : 'told' }
}
