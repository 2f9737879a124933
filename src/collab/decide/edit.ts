import { accept, reject, type Decision } from '../decision.js'
import type { ExchangeState } from '../exchange-state.js'
import type { AskId } from '../refs.js'
import type { Ask } from '../request.js'
import { answered, baseOfNext, staleOf, type NextRevision } from './next-revision.js'

export interface EditRequest extends NextRevision {
  readonly kind: 'edit-request'
  /** The ask that the old words stand for. */
  readonly replaces: AskId
  readonly by: Ask
}

/**
 * The sender edited a message before any turn was shown it: the next revision owes the new words in the place of the
 * old ones, which stay in the ledger.
 *
 * @returns accepted with `request-revised`, `asks-split` and, for asks that were put off until an answer,
 *   `deferral-due`; or rejected with `request-unknown` | `request-unreadable` | `request-closed` | `cancel-pending` |
 *   `not-related` (a turn was shown the old words) | `stale-revision` | `ask-unknown` | `ask-not-owed`
 * @source RFC §5.6 (a correction appends a linked revision)
 */
export function decideEdit(state: ExchangeState, command: EditRequest): Decision {
  if (state.unreadable) return reject({ reason: 'request-unreadable' })
  if (state.request === null) return reject({ reason: 'request-unknown' })
  if (state.closed !== null) return reject({ reason: 'request-closed' })
  if (state.cancel === 'requested') return reject({ reason: 'cancel-pending' })
  if (state.turns.size > 0) return reject({ reason: 'not-related', because: 'already-presented' })
  const stale = staleOf(state, command)
  if (stale !== null) return reject(stale)
  const now = state.asks.get(command.replaces)
  if (now === undefined) return reject({ reason: 'ask-unknown', ask: command.replaces })
  if (now.is !== 'owed') return reject({ reason: 'ask-not-owed', ask: command.replaces })
  const base = baseOfNext(command)
  return accept(
    { ...base, kind: 'request-revised', revised: command.request, context: command.context },
    { ...base, kind: 'asks-split', of: command.replaces, into: [command.by] },
    ...answered(state, base),
  )
}
