import type { ExchangeState } from '../collab/exchange-state.js'
import { cutOffTurns } from '../collab/project/cut-off.js'
import type { AgentRuntime, KnownInput, RuntimeSession, TurnEvent } from '../collab/ports.js'
import type { LaneId } from '../collab/refs.js'
import { sessionsOfTurns } from '../stores/turns/turns.js'
import type { Exchange } from './deps.js'

/**
 * What a session that goes on still has of the turn that was cut off with its executor: its answer is taken instead of
 * being asked for again, and words that it has are not said to it a second time. Null: it has nothing of it, or nobody
 * can say, and the input is sent whole.
 *
 * @source RFC §5.7.3; A17
 */
export async function knownOfCutOff(
  x: Exchange,
  state: ExchangeState,
  runtime: AgentRuntime,
  session: RuntimeSession,
  sessionLane: LaneId,
): Promise<Extract<KnownInput, { known: 'answered' | 'unanswered' }> | null> {
  if (session.opened === 'new' || !runtime.abilities.has('durable-message-id')) return null
  const turns = cutOffTurns(state)
  const sessions = await sessionsOfTurns(
    x.db.sql,
    turns.map(({ id }) => id),
  )
  for (const { id } of turns) {
    if (sessions.get(id) !== sessionLane) return null
    const found = await session.lookUp(id)
    if (found.known === 'unknown') return null
    if (found.known === 'absent') continue
    const how = found.known === 'answered' ? 'its answer is taken' : 'it goes on'
    x.log.info('the runtime has the input of a turn that was cut off', { requestId: state.id, turnId: id, reason: how })
    return found
  }
  return null
}

/** The events of a turn that is over already; one that may not be shown any more gives no answer. */
export async function* eventsOf(events: readonly TurnEvent[], presented: () => boolean): AsyncIterable<TurnEvent> {
  for (const event of events) {
    yield event.kind === 'ended' && !presented() ? { kind: 'ended', ended: 'interrupted' } : event
  }
}
