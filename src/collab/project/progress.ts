import { isOpen, owedAsks, type ChildState, type ExchangeState } from '../exchange-state.js'
import type { HandedOver, WaitReason } from '../observation.js'
import type { AgentId, RequestId } from '../refs.js'
import { wasTold } from './obligations.js'

/** Why something does not go on; cards, CLI and metrics use these words (delivery Out 6). */
export const blockingReasons = [
  'worker-queued',
  'worker-busy',
  'host-unreachable',
  'unsupported',
  'dependency',
  'missing-input',
  'state-conflict',
  'model-failure',
  'transport-or-format',
] as const
export type BlockingReason = (typeof blockingReasons)[number]

/** How far one request has come, as its facts say it: who is next, and what it waits for. Holds no words of people. */
export interface Progress {
  readonly state: 'working' | 'waiting' | 'held' | 'done' | 'failed' | 'cancelled'
  readonly because: BlockingReason | null
  /** The turn that runs before it was told of it. */
  readonly told?: boolean
  /** What was handed on and is not back yet. */
  readonly handed: readonly {
    readonly agent: AgentId
    readonly stands: 'not-begun' | 'working' | 'accepted' | 'deferred' | 'refused'
    readonly because: BlockingReason | null
  }[]
}

/**
 * The progress of a request that an owner waits for.
 *
 * @param children the states of its open children, as far as they were read
 * @source delivery Out 6 — RFC §5.11
 */
export function progressOf(state: ExchangeState, children: ReadonlyMap<RequestId, ExchangeState>): Progress {
  const handed = [...state.children]
    .filter(([, child]) => isOpen(child))
    .map(([id, child]) => handedOn(child, children.get(id)))
  const shown = (at: Progress['state'], because: BlockingReason | null): Progress => ({ state: at, because, handed })
  if (state.cancel === 'acknowledged' || state.closed === 'cancelled') return shown('cancelled', null)
  if (state.failure !== null) return shown('failed', failureReason(state.failure))
  if (state.unreadable) return shown('failed', 'state-conflict')
  if (state.held !== null) return shown('held', null)
  if (state.running !== null) return shown('working', null)
  const deferred = [...state.asks.values()].some((ask) => ask.is === 'deferred')
  if (owedAsks(state).length === 0 && !deferred) return shown('done', null)
  if (handed.length > 0) return shown('waiting', null)
  if (deferred) return shown('waiting', blockingOf(state))
  if (state.waits !== null) return shown('waiting', waitReason(state.waits.because))
  const queued = shown('waiting', 'worker-queued')
  return wasTold(state) ? { ...queued, told: true } : queued
}

function handedOn(child: ChildState, state: ExchangeState | undefined): Progress['handed'][number] {
  const agent = child.target
  if (state === undefined) return { agent, stands: 'not-begun', because: null }
  if (state.failure !== null) return { agent, stands: 'refused', because: failureReason(state.failure) }
  if (state.running !== null) return { agent, stands: 'working', because: null }
  const because = blockingOf(state)
  switch (state.assessment?.verdict) {
    case 'accepted':
    case 'partially-accepted':
      return { agent, stands: 'accepted', because }
    case 'deferred':
      return { agent, stands: 'deferred', because }
    case 'rejected':
    case 'no-change':
      return { agent, stands: 'refused', because: null }
    case undefined:
      return { agent, stands: 'not-begun', because }
  }
}

/** What a request itself waits for; null when nothing stops it. */
export function blockingOf(state: ExchangeState): BlockingReason | null {
  for (const ask of state.asks.values()) {
    if (ask.is !== 'deferred') continue
    switch (ask.until.condition.when) {
      case 'answer-from-owner':
        return 'missing-input'
      case 'agent-free':
        return 'worker-busy'
      case 'host-back':
        return 'host-unreachable'
      default:
        return 'dependency'
    }
  }
  return state.waits === null ? null : waitReason(state.waits.because)
}

function waitReason(because: WaitReason): BlockingReason {
  switch (because) {
    case 'queued-until-wake':
      return 'worker-queued'
    case 'busy':
      return 'worker-busy'
    case 'offline':
      return 'host-unreachable'
    case 'unsupported':
      return 'unsupported'
  }
}

function failureReason(because: HandedOver): BlockingReason {
  switch (because) {
    case 'unavailable':
      return 'host-unreachable'
    case 'garbage':
    case 'too-large':
      return 'transport-or-format'
    default:
      return 'model-failure'
  }
}
