import type { CauseKind, DeliveryOutcome, PartState } from '../delivery.js'
import { evolve, unopened, type AskState, type ExchangeState } from '../exchange-state.js'
import type { AskJudgment, Candidate, Observation, Verdict, WorkReceipt } from '../observation.js'
import type { OutgoingFile } from '../channel.js'
import type { ActorRef, Instant, RequestId, ReturnRef } from '../refs.js'
import type { Intent } from '../request.js'
import { axesOf, stateOf, type Axes } from './axes.js'
import { cancellationOf, type Cancellation } from './cancellation.js'
import { briefsOf, type BriefView } from './continuity.js'
import { turnsOf, type TurnTimes, type TurnView } from './turns.js'
import { refusalsOf, type RefusalView } from './refusals.js'
import { nextStep, type NextStep } from './obligations.js'

/** One delivery as it is shown: what was planned, what was sent, what was read back. */
export interface DeliveryView {
  readonly id: string
  readonly cause: CauseKind
  /** The result or interim answer that it carries. */
  readonly result: string | null
  readonly state: 'planned' | 'sending' | DeliveryOutcome
  readonly createdAt: number
  readonly settledAt: number | null
  readonly route: ReturnRef
  readonly parts: readonly {
    readonly index: number
    readonly subIndex: number
    readonly state: PartState
    readonly msgType: string
    readonly because: string | null
    readonly messageId: string | null
    readonly attempts: number
  }[]
  /** What was decided about it at a door, oldest first. */
  readonly acts: readonly { readonly at: number; readonly who: string; readonly act: string }[]
}

/** What web, API, CLI and cards show of one request: the same facts everywhere (RFC §5.7.5). */
export interface RequestView {
  readonly id: string
  readonly revision: number
  readonly parent: string | null
  readonly conversation: string
  readonly origin: { readonly channel: string; readonly messageId: string }
  readonly intent: Intent
  readonly openedAt: number
  readonly state: 'open' | 'closed' | 'failed'
  readonly axes: Axes
  /** `text` is null when its body was erased. */
  readonly asks: readonly { readonly id: string; readonly text: string | null; readonly state: AskState['is'] }[]
  readonly attempts: readonly {
    readonly id: string
    readonly revision: number
    readonly target: string
    readonly effectful: boolean
    readonly released: string | null
    readonly turns: readonly TurnView[]
  }[]
  readonly observations: readonly {
    readonly seq: number
    readonly kind: string
    readonly revision: number
    readonly at: number
    readonly actor: ActorRef
    readonly detail: string | null
  }[]
  /** Each choice of a receiver: who was looked at, who was taken, and why. */
  readonly choices: readonly {
    readonly at: number
    readonly chosen: string | null
    readonly reason: string
    readonly candidates: readonly Candidate[]
  }[]
  /** What receivers said of the asks, each with its reason. */
  readonly assessments: readonly {
    readonly at: number
    readonly agent: string
    readonly revision: number
    readonly verdict: Verdict
    readonly basis: 'presented' | 'context-provided'
    readonly asks: readonly Pick<AskJudgment, 'ask' | 'judgment' | 'reason'>[]
  }[]
  readonly results: readonly {
    readonly id: string
    readonly kind: 'result' | 'interim'
    readonly text: string | null
    readonly conclusion: string | null
    readonly covers: readonly string[]
    readonly remainder: readonly string[]
    readonly files: readonly OutgoingFile[]
    /** The earlier one that it replaces or brings up to date. */
    readonly supersedes: string | null
  }[]
  /** Receipts of the work owner that belong to it. */
  readonly work: readonly { readonly operation: string; readonly refs: WorkReceipt['refs'] }[]
  /** What agents saved of their work on it, oldest first, each whole. */
  readonly briefs: readonly BriefView[]
  /** What was not done, with whose refusal it was. */
  readonly refusals: readonly RefusalView[]
  /** How a cancellation stands; null when nobody asked for one. */
  readonly cancellation: Cancellation | null
  readonly deliveries: readonly DeliveryView[]
  readonly next: NextStep | null
}

/** Composes the view; `textOf` gives a body by its digest, or null. */
export function requestView(
  state: ExchangeState,
  facts: readonly Observation[],
  deliveries: readonly DeliveryView[],
  textOf: (digest: string) => string | null,
  wakeAt: Instant | null,
  times: readonly TurnTimes[] = [],
): RequestView | null {
  const request = state.request
  if (request === null) return null
  const current = deliveries
    .filter((delivery) => delivery.cause === 'result' || delivery.cause === 'interim')
    // What a later answer has replaced is not what its reader waits for.
    .filter((delivery) => !isReplaced(state, delivery.result))
    .map((delivery) => ({
      planned: delivery.parts.length > 0,
      outcome: delivery.state === 'planned' || delivery.state === 'sending' ? null : delivery.state,
      parts: delivery.parts.map((part) => part.state),
    }))
  const axes = axesOf(state, current)
  const tooLate = tooLateIn(state.id, facts)
  return {
    id: state.id,
    revision: state.head,
    parent: request.parent,
    conversation: request.conversation,
    origin: { channel: request.origin.channel, messageId: request.origin.messageId },
    intent: request.intent,
    openedAt: request.openedAt,
    state: stateOf(state, axes),
    axes,
    asks: asksOf(state, facts, textOf),
    attempts: [...state.attempts.values()].map((attempt) => ({
      id: attempt.id,
      revision: attempt.revision,
      target: attempt.target,
      effectful: attempt.effectful,
      released: attempt.released,
      turns: turnsOf(state, attempt.id, facts, times, textOf),
    })),
    observations: facts.map((fact) => ({
      seq: fact.seq,
      kind: fact.kind,
      revision: fact.revision,
      at: fact.at,
      actor: fact.actor,
      detail: tooLate.has(fact.seq) ? 'too-late' : detailOf(fact),
    })),
    choices: facts.flatMap((fact) => {
      if (fact.kind !== 'receiver-selected') return []
      const { at, chosen, reason, candidates } = fact
      return [{ at, chosen, reason, candidates }]
    }),
    assessments: facts.flatMap((fact) => {
      if (fact.kind !== 'assessed') return []
      const { at, agent, revision, verdict, basis } = fact
      const asks = fact.asks.map(({ ask, judgment, reason }) => ({ ask, judgment, reason }))
      return [{ at, agent, revision, verdict, basis, asks }]
    }),
    results: state.results.map((result) => ({
      id: result.id,
      kind: result.kind,
      text: textOf(result.textDigest),
      conclusion: result.conclusionDigest === null ? null : textOf(result.conclusionDigest),
      covers: result.covers,
      remainder: result.remainder,
      files: result.files,
      supersedes: result.supersedes,
    })),
    work: state.work.map(({ operation, refs }) => ({ operation, refs })),
    briefs: briefsOf(state, textOf),
    refusals: refusalsOf(facts, textOf),
    cancellation: cancellationOf(state),
    deliveries,
    next: nextStep(state, axes, wakeAt),
  }
}

/** Nothing is answered by it any more, and a later one says so. */
function isReplaced(state: ExchangeState, id: string | null): boolean {
  const stands = [...state.asks.values()].some((ask) => ask.is === 'covered' && ask.by === id)
  return !stands && id !== null && state.results.some((one) => one.kind === 'result' && one.supersedes === id)
}

/** The cancellations that took effect after what they were to prevent; each judged by the facts before it. */
function tooLateIn(id: RequestId, facts: readonly Observation[]): ReadonlySet<number> {
  const found = new Set<number>()
  if (!facts.some((fact) => fact.kind === 'cancel-acknowledged')) return found
  let state = unopened(id)
  for (const fact of facts) {
    state = evolve(state, fact)
    if (fact.kind === 'cancel-acknowledged' && cancellationOf(state)?.stands === 'too-late') found.add(fact.seq)
  }
  return found
}

function asksOf(
  state: ExchangeState,
  facts: readonly Observation[],
  textOf: (digest: string) => string | null,
): RequestView['asks'] {
  const digests = new Map(
    facts.flatMap((fact) => {
      if (fact.kind === 'request-opened') return fact.opened.asks.map((ask) => [ask.id, ask.textDigest] as const)
      if (fact.kind === 'request-revised') return fact.revised.asks.map((ask) => [ask.id, ask.textDigest] as const)
      if (fact.kind === 'asks-split') return fact.into.map((ask) => [ask.id, ask.textDigest] as const)
      return []
    }),
  )
  return [...state.asks].map(([id, ask]) => ({ id, text: textOf(digests.get(id) ?? ''), state: ask.is }))
}

/** The word that distinguishes one fact of a kind from another; never a body. */
function detailOf(fact: Observation): string | null {
  switch (fact.kind) {
    case 'turn-ended':
      return fact.ending.ended === 'completed' ? 'completed' : `${fact.ending.ended}: ${fact.ending.because}`
    case 'request-held':
    case 'request-rejected':
    case 'failure-handed-over':
    case 'cancel-requested':
    case 'fence-released':
      return fact.because
    case 'refused-by-host':
      return `${fact.rule}: ${fact.tool}`
    case 'attempt-assigned':
      return fact.assigned.target
    case 'brief-saved':
      return fact.agent
    case 'withheld-settled':
    case 'approval-settled':
      return fact.as
    case 'steer-settled':
      return fact.became
    case 'result-committed':
      return fact.result.kind
    case 'sent-outside':
      return `${fact.messageType} ${fact.messageId}`
    case 'unreadable-fact':
      return `${fact.storedKind} v${fact.storedVersion}`
    default:
      return null
  }
}
