import { decideRecall } from '../collab/decide/control.js'
import type { IncomingEvent } from '../collab/message.js'
import type { Instant, LaneId } from '../collab/refs.js'
import { requestOfOrigin } from '../stores/ledger/find.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { inputOf } from '../stores/turns/turns.js'
import { putWake } from '../stores/wakes/wakes.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { eventIdOf } from './ids.js'
import { receiptsSubject } from './receipts-of.js'

/**
 * The owner withdrew a message. Before its first turn that cancels the request; from then on it cancels nothing: the
 * turn finishes, and its result is kept until the owner says show or drop (`withheld.ts`). Either way nothing stands
 * on the message any more that a receipt could say.
 *
 * @source delivery In 10; case 15
 */
export async function recall(x: Exchange, event: Extract<IncomingEvent, { kind: 'recalled' }>): Promise<string> {
  const requestId = await requestOfOrigin(x.db.sql, event.bot, 'lark', event.messageId)
  if (requestId === null) return 'noted'
  const input = await inputOf(x.db.sql, requestId)
  await decideAndCommit(
    x,
    {
      kind: 'recall-trigger',
      eventId: eventIdOf('recalled', event.bot, event.messageId),
      requestId,
      at: x.clock.now() as Instant,
      actor: { kind: 'host' },
    } as const,
    decideRecall,
    (facts) => {
      const cancelled = facts.some((fact) => fact.kind === 'cancel-acknowledged')
      if (!cancelled || input === null) return {}
      const { lane, position } = input
      return { input: { lane: lane as LaneId, state: 'settled', because: 'recalled', position } }
    },
  )
  // Read again, not remembered: an interrupted run of this event may have committed it before.
  const state = await stateOfRequest(x.db.sql, requestId)
  const cancelled = state.closed === 'cancelled'
  if (cancelled || state.recalled) {
    // Not here: the platform is asked, and what comes after this in the chat must not wait for it.
    x.wake.kick([await putWake(x.db.sql, 'upkeep', receiptsSubject(requestId), x.clock.now())])
  }
  return cancelled ? 'cancelled' : 'noted'
}
