import { unreachable } from '../lib/assert.js'
import type { DispatchAttempt, FenceRelease } from './attempt.js'
import type { AssessmentState, JudgedAsk, SavedRef, SteerState } from './exchange-parts.js'
import * as change from './fold.js'
import type {
  Deferral,
  HandedOver,
  HeldFor,
  Observation,
  ResultRecord,
  TurnEnding,
  WaitReason,
  WorkReceipt,
} from './observation.js'
import type {
  AgentId,
  AskId,
  AttemptId,
  EffectId,
  Instant,
  RequestId,
  ResultId,
  Revision,
  Seq,
  TurnId,
} from './refs.js'
import type { WorkRequest } from './request.js'

/** Every ask is always in exactly one of these (ledger invariant 6); `continued` is owed by another request. */
export type AskState =
  | { readonly is: 'owed' }
  | { readonly is: 'covered'; readonly by: ResultId }
  | { readonly is: 'rejected'; readonly because: string }
  | { readonly is: 'deferred'; readonly reason: string; readonly until: Deferral }
  | { readonly is: 'continued'; readonly into: RequestId }

export interface AttemptState extends DispatchAttempt {
  readonly released: FenceRelease | null
}

export interface TurnState {
  readonly id: TurnId
  readonly attempt: AttemptId
  readonly revision: Revision
  readonly asks: readonly AskId[]
  /** Children that had come back and were shown in it. */
  readonly takenUp: readonly RequestId[]
  readonly presentedAt: Instant
  readonly ending: TurnEnding | null
}

export interface EffectState {
  readonly attempt: AttemptId
  readonly kind: string
  /** What it acts on. */
  readonly target: string
  readonly became: 'intended' | 'submitted' | 'confirmed' | 'failed' | 'outcome-unknown'
}

export interface ChildState {
  readonly target: AgentId
  /** The child's newest revision of which the parent was told. */
  readonly revision: Revision
  readonly asks: readonly AskId[]
  readonly returned: {
    readonly ended: 'resolved' | 'rejected' | 'cancelled' | 'failed'
    readonly result: ResultId | null
    readonly direct: boolean
  } | null
  /** Results that it came back with before that one. */
  readonly formerly: readonly ResultId[]
  /** False: it came back, and no turn of the parent that was not lost has taken that up. */
  readonly integrated: boolean
  /** Corrected after it had come back: it works again and will come back once more. */
  readonly reopened: boolean
}

/** One exchange, folded from its facts in `seq` order. There is no status to disagree with them. */
export interface ExchangeState {
  readonly id: RequestId
  readonly seq: Seq
  readonly head: Revision
  /** Null until opened. The request as it stands at the head. */
  readonly request: WorkRequest | null
  /** Provider ids of the messages that it is made of, oldest first. */
  readonly sources: readonly string[]
  readonly asks: ReadonlyMap<AskId, AskState>
  /** Asks that a correction added, with its revision. */
  readonly corrections: ReadonlyMap<AskId, Revision>
  readonly attempts: ReadonlyMap<AttemptId, AttemptState>
  /** The attempt that holds the execution fence, across all revisions. */
  readonly fence: AttemptId | null
  readonly turns: ReadonlyMap<TurnId, TurnState>
  readonly running: TurnId | null
  /** Turns of another request that were told of this one while it waited. */
  readonly steers: ReadonlyMap<TurnId, SteerState>
  readonly held: HeldFor | null
  readonly cancel: 'none' | 'requested' | 'acknowledged'
  readonly expired: boolean
  readonly recalled: boolean
  /** Set while the owner has been told that the tries are used up; a new presentation clears it. */
  readonly failure: HandedOver | null
  /** Failed turns since the last hand-over or result. */
  readonly failedTurns: number
  /** Turns whose executor was gone, one after another, since anything else happened to the request. */
  readonly crashedTurns: number
  readonly results: readonly ResultRecord[]
  /** Results that were kept from their place, and what the owner said of each. */
  readonly withheld: ReadonlyMap<ResultId, 'kept' | 'shown' | 'dropped'>
  /** Agents in whose inbox it stands, and `agent@revision` to whom its context was provided without a turn. */
  readonly inboxes: ReadonlySet<AgentId>
  readonly provided: ReadonlySet<string>
  readonly assessment: AssessmentState | null
  /** The last judgment of each agent on each ask: another receiver's assessment does not undo it. */
  readonly judged: ReadonlyMap<AgentId, ReadonlyMap<AskId, JudgedAsk>>
  readonly effects: ReadonlyMap<EffectId, EffectState>
  readonly children: ReadonlyMap<RequestId, ChildState>
  readonly work: readonly WorkReceipt[]
  /** What agents saved of their work, oldest first. */
  readonly briefs: readonly SavedRef[]
  readonly waits: { readonly agent: AgentId; readonly because: WaitReason } | null
  readonly closed: 'resolved' | 'cancelled' | 'rejected' | 'continued' | null
  readonly unreadable: boolean
}

export function unopened(id: RequestId): ExchangeState {
  return {
    id,
    seq: 0 as Seq,
    head: 0 as Revision,
    request: null,
    sources: [],
    asks: new Map(),
    corrections: new Map(),
    attempts: new Map(),
    fence: null,
    turns: new Map(),
    running: null,
    steers: new Map(),
    held: null,
    cancel: 'none',
    expired: false,
    recalled: false,
    failure: null,
    failedTurns: 0,
    crashedTurns: 0,
    results: [],
    withheld: new Map(),
    inboxes: new Set(),
    provided: new Set(),
    assessment: null,
    judged: new Map(),
    effects: new Map(),
    children: new Map(),
    work: [],
    briefs: [],
    waits: null,
    closed: null,
    unreadable: false,
  }
}

/** Folds one fact. It cannot fail: what was committed is true. */
export function evolve(before: ExchangeState, fact: Observation): ExchangeState {
  const state = { ...before, seq: fact.seq }
  switch (fact.kind) {
    case 'request-opened':
      return change.withRequest(state, fact.opened, fact.context)
    case 'request-revised':
      return change.withRequest(state, fact.revised, fact.context)
    case 'request-held':
      return { ...state, held: fact.because }
    case 'request-released':
      return { ...state, held: null, crashedTurns: 0 }
    case 'request-rejected':
      return { ...state, held: null, closed: 'rejected', asks: change.endOwed(state.asks, fact.because) }
    case 'request-expired':
      return { ...state, expired: true }
    case 'request-continued':
      return { ...state, held: null, closed: 'continued', asks: change.continueAsks(state.asks, fact.into) }
    case 'asks-split':
      return change.split(state, fact.of, fact.into)
    case 'attempt-assigned':
      return change.assign(state, fact.assigned)
    case 'inbox-stored':
      return { ...state, inboxes: new Set(state.inboxes).add(fact.agent) }
    case 'context-provided':
      return { ...state, provided: new Set(state.provided).add(providedKey(fact.agent, fact.revision)) }
    case 'turn-presented':
      return change.present(state, fact)
    case 'steer-intended':
      return change.steer(state, fact.turn, { into: fact.into, became: 'intended' })
    case 'steer-settled':
      return change.settleSteer(state, fact.turn, fact.became)
    case 'turn-steered':
      return change.showInTurn(state, fact)
    case 'turn-ended':
      return change.endTurn(state, fact.turn, fact.ending)
    case 'approval-refused':
    case 'approval-asked':
    case 'approval-settled':
    case 'refused-by-host':
    case 'ended-with-turn':
      return state
    case 'assessed':
      return change.assess(state, fact)
    case 'deferral-due':
      return change.oweAgain(state, fact.asks)
    case 'work-linked':
      return { ...state, work: [...state.work, fact.receipt] }
    case 'brief-saved': {
      const { agent, brief, revision, at, seq } = fact
      return { ...state, briefs: [...state.briefs, { agent, brief, revision, at, seq }] }
    }
    case 'effect-intended':
      return change.effect(state, fact.effect, {
        attempt: fact.attempt as AttemptId,
        kind: fact.effectKind,
        target: fact.target,
        became: 'intended',
      })
    case 'effect-settled':
      return change.settleEffect(state, fact.effect, fact.became)
    case 'receiver-selected':
      return state
    case 'receiver-waits':
      return { ...state, waits: { agent: fact.agent, because: fact.because } }
    case 'child-opened':
      return change.child(state, fact.child, {
        target: fact.target,
        revision: 1 as Revision,
        asks: fact.asks,
        returned: null,
        formerly: [],
        integrated: false,
        reopened: false,
      })
    case 'child-revised':
      return change.childRevised(state, fact)
    case 'child-returned':
      return change.childReturned(state, fact)
    case 'result-committed':
      return change.withResult(state, fact.result)
    case 'result-withheld':
      return { ...state, withheld: new Map(state.withheld).set(fact.result, 'kept') }
    case 'withheld-settled':
      return { ...state, withheld: new Map(state.withheld).set(fact.result, fact.as) }
    case 'failure-handed-over':
      return { ...state, failure: fact.because, failedTurns: 0, crashedTurns: 0 }
    case 'cancel-requested':
      return { ...state, cancel: 'requested' }
    case 'cancel-acknowledged':
      return {
        ...state,
        cancel: 'acknowledged',
        held: null,
        closed: state.closed ?? 'cancelled',
        asks: change.endOwed(state.asks, 'cancelled'),
      }
    case 'trigger-recalled':
      return { ...state, recalled: true }
    case 'sent-outside':
      return state
    case 'fence-released':
      return change.releaseFence(state, fact.attempt, fact.because)
    case 'unreadable-fact':
      return { ...state, unreadable: true }
    default:
      return unreachable(fact)
  }
}

export const providedKey = (agent: AgentId, revision: Revision): string => `${agent}@${revision}`

/** The asks that nobody has covered, rejected, deferred or continued elsewhere. */
export function owedAsks(state: ExchangeState): readonly AskId[] {
  return [...state.asks].filter(([, ask]) => ask.is === 'owed').map(([id]) => id)
}

/** It works, or has yet to begin. */
export const isOpen = (child: ChildState): boolean => child.returned === null || child.reopened

/** Owed asks that an open child works on: the parent keeps the duty, and no turn of its own covers them meanwhile. */
export function handedAsks(state: ExchangeState): ReadonlySet<AskId> {
  return new Set([...state.children.values()].filter(isOpen).flatMap((child) => child.asks))
}

/**
 * Effects of an attempt (or of all) whose outcome is not known: they hold the fence and any cancellation. One that was
 * only declared counts too: nobody can tell from here whether its call was made.
 */
export function openEffects(state: ExchangeState, attempt: AttemptId | null): readonly EffectId[] {
  return [...state.effects]
    .filter(([, effect]) => attempt === null || effect.attempt === attempt)
    .filter(([, effect]) => effect.became !== 'confirmed' && effect.became !== 'failed')
    .map(([id]) => id)
}

/** Children that came back and that no turn has taken up: synthesis is owed. */
export function toIntegrate(state: ExchangeState): readonly RequestId[] {
  return [...state.children].filter(([, child]) => !isOpen(child) && !child.integrated).map(([id]) => id)
}

/** Results that wait for the owner's word, oldest first. */
export function keptBack(state: ExchangeState): readonly ResultRecord[] {
  return state.results.filter((result) => state.withheld.get(result.id) === 'kept')
}

/**
 * A turn is owed to what came back: while something of the request is open anyway, and after it was answered for a
 * conclusion that nobody has told of.
 */
export function owesSynthesis(state: ExchangeState): boolean {
  const back = toIntegrate(state)
  if (state.closed === null) return back.length > 0
  if (state.closed !== 'resolved' || state.cancel !== 'none') return false
  return back.some((id) => (state.children.get(id)?.returned?.result ?? null) !== null)
}

/** The asks of those children: a turn that was presented before they came back does not answer them. */
export function untakenAsks(state: ExchangeState): readonly AskId[] {
  return toIntegrate(state).flatMap((id) => state.children.get(id)?.asks ?? [])
}

/** The attempt by which an agent may act on the request now. */
export function liveAttemptOf(state: ExchangeState, agent: AgentId): AttemptState | null {
  const live = [...state.attempts.values()].filter((attempt) => attempt.target === agent && attempt.released === null)
  return live.at(-1) ?? null
}
