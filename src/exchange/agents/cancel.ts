import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import { decideCancel } from '../../collab/decide/control.js'
import type { Receipt } from '../../collab/decision.js'
import type { Language } from '../../collab/delivery.js'
import type { ExchangeState } from '../../collab/exchange-state.js'
import type { Fact } from '../../collab/observation.js'
import { MANAGER } from '../../collab/refs.js'
import { conversationOf } from '../../stores/conversations/conversations.js'
import type { Also } from '../../stores/ledger/commit.js'
import { inputOf } from '../../stores/turns/turns.js'
import type { Exchange } from '../deps.js'
import { lookFor } from '../executing.js'
import { receiptsSubject } from '../receipts-of.js'
import { cancelWakes } from '../returns.js'
import { cancellationTold } from '../tell-cancel.js'
import { act } from './act.js'
import { directs, notTheirs } from './change.js'
import { inputAfter, type Input } from './input.js'

/**
 * Cancels what the caller handed on, or, for the manager, a request of its conversation; at a safe boundary. Its
 * descendants are cancelled by their own wakes, and nothing else is touched.
 *
 * @returns refusals are those of `decideCancel`, and `not-receiver` for whoever did not hand it on
 * @source RFC §5.10 (control axis), ledger invariants 8, 15
 */
export async function cancel(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['cancel']>[1],
): Promise<Receipt> {
  return await act(x, caller, 'cancel', said, null, async ({ request }, base) => {
    const input = await inputOf(x.db.sql, request.id)
    const language = await languageOf(x, request.conversation)
    const look = lookFor(request.id)
    const theirs = (request.parent === null && caller.agent === MANAGER) || (await directs(x, caller, request))
    return {
      stands: look.stands,
      decide: (state) => {
        if (!theirs) return notTheirs(request)
        const { onRevision } = said
        const executing = look.executing()
        return decideCancel(state, { ...base, kind: 'cancel-request', onRevision, because: 'requester', executing })
      },
      also: (facts, state) => afterCancel(input, facts, state, language, base.at),
    }
  })
}

/**
 * What a cancellation puts into motion: the wakes of open children, what the owner hears, and, when it took effect, the
 * end of the input, of the receipts, and the way back.
 */
export function afterCancel(
  input: Input | null,
  facts: readonly Fact[],
  state: ExchangeState,
  language: Language,
  now: number,
): Also {
  const children = cancelWakes(state, now)
  const told = cancellationTold(state, facts, language, now, false)
  if (!acknowledged(facts)) return { deliveries: told.deliveries, wakes: [...children, ...told.wakes] }
  const parent = state.request?.parent ?? null
  const then = parent === null ? receiptsSubject(state.id) : `return-${state.id}`
  return {
    deliveries: told.deliveries,
    ...inputAfter(input, 'settled', 'cancelled'),
    wakes: [...children, ...told.wakes, { kind: 'upkeep', subject: then, dueAt: now }],
  }
}

/** The language in which a conversation is answered. */
export async function languageOf(x: Exchange, conversation: string): Promise<Language> {
  return (await conversationOf(x.db.sql, conversation))?.language ?? 'en'
}

const acknowledged = (facts: readonly Fact[]): boolean => facts.some((fact) => fact.kind === 'cancel-acknowledged')
