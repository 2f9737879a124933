import { accept, reject, type Decision } from '../decision.js'
import type { ExchangeState } from '../exchange-state.js'
import type { AskId } from '../refs.js'
import { answered, baseOfNext, staleOf, type NextRevision } from './next-revision.js'

export interface ReviseRequest extends NextRevision {
  readonly kind: 'revise-request'
  /** Asks of the sender's own request that it is about. */
  readonly about?: readonly AskId[]
}

/**
 * A correction or addition becomes the next linked revision. It frees no fence and stops no turn; what it adds is
 * owed, also when the request was already resolved, and what was put off until an answer is owed again.
 *
 * @returns accepted with `request-revised` and, for asks that were put off until an answer, `deferral-due`; or
 *   rejected with `request-unknown` | `request-unreadable` | `request-closed` | `cancel-pending` | `stale-revision` |
 *   `text-empty`
 * @source RFC §5.6 (a correction appends a linked revision) — A5, A7
 */
export function decideRevise(state: ExchangeState, command: ReviseRequest): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  // Only what was answered is taken up again: what went on elsewhere is owed there.
  if (state.closed !== null && state.closed !== 'resolved') return reject({ reason: 'request-closed' })
  if (state.cancel === 'requested') return reject({ reason: 'cancel-pending' })
  const stale = staleOf(state, command)
  if (stale !== null) return reject(stale)
  if (command.request.asks.length === 0) return reject({ reason: 'text-empty' })
  const base = baseOfNext(command)
  return accept(
    {
      ...base,
      kind: 'request-revised',
      revised: command.request,
      context: command.context,
      ...(command.about === undefined || command.about.length === 0 ? {} : { about: command.about }),
    },
    ...answered(state, base),
  )
}
