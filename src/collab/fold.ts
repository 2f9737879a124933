import type { DispatchAttempt, FenceRelease } from './attempt.js'
import type { SemanticContext } from './context.js'
import type { SteerState } from './exchange-parts.js'
import { toIntegrate, type AskState, type ChildState, type EffectState, type ExchangeState } from './exchange-state.js'
import type { Observation, ResultRecord, TurnEnding } from './observation.js'
import type { AskId, AttemptId, EffectId, RequestId, TurnId } from './refs.js'
import type { Ask, WorkRequest } from './request.js'

/*
 * What each fact changes. Every function is total: a fact that refers to something unknown changes nothing.
 */

type Of<K extends Observation['kind']> = Extract<Observation, { kind: K }>

export function withRequest(state: ExchangeState, request: WorkRequest, context: SemanticContext): ExchangeState {
  const asks = new Map(state.asks)
  for (const ask of request.asks) if (!asks.has(ask.id)) asks.set(ask.id, { is: 'owed' })
  const corrections = new Map(state.corrections)
  if (request.kind === 'correction') for (const ask of request.asks) corrections.set(ask.id, request.revision)
  // A correction or an addition owes again what an earlier result had closed.
  const closed = request.revision === 1 || state.closed === 'resolved' ? null : state.closed
  const messages = context.sourceRefs.filter((source) => source.kind === 'message').map((source) => source.id)
  const sources = [...new Set([...state.sources, ...messages])]
  // A correction is made for whoever has it now.
  const target = state.request?.target ?? request.target
  // An answer that was faster than a cancellation may be corrected: from then on the request runs again.
  const cancel = state.cancel === 'acknowledged' ? 'none' : state.cancel
  const head = request.revision
  const news = { sources, head, asks, corrections, closed, cancel, crashedTurns: 0 }
  return { ...state, ...news, request: { ...request, target } }
}

export function assign(state: ExchangeState, assigned: DispatchAttempt): ExchangeState {
  return {
    ...state,
    // The receiver changes by an assignment alone: a reassignment makes no revision.
    request: state.request === null ? null : { ...state.request, target: assigned.target },
    attempts: new Map(state.attempts).set(assigned.id, { ...assigned, released: null }),
    fence: assigned.effectful ? assigned.id : state.fence,
    crashedTurns: 0,
  }
}

export function present(state: ExchangeState, fact: Of<'turn-presented'>): ExchangeState {
  const takenUp = toIntegrate(state)
  const children = new Map(state.children)
  for (const [id, one] of children) if (takenUp.includes(id)) children.set(id, { ...one, integrated: true })
  return {
    ...state,
    running: fact.turn,
    failure: null,
    waits: null,
    children,
    turns: new Map(state.turns).set(fact.turn, {
      id: fact.turn,
      attempt: fact.attempt as AttemptId,
      revision: fact.revision,
      asks: fact.asks,
      takenUp,
      presentedAt: fact.at,
      ending: null,
    }),
  }
}

export function steer(state: ExchangeState, turn: TurnId, one: SteerState): ExchangeState {
  return { ...state, steers: new Map(state.steers).set(turn, one) }
}

export function settleSteer(state: ExchangeState, turn: TurnId, became: SteerState['became']): ExchangeState {
  const before = state.steers.get(turn)
  return before === undefined ? state : steer(state, turn, { ...before, became })
}

/** From now on the turn stands at the revision that it was told, and its last words may answer these asks, too. */
export function showInTurn(state: ExchangeState, fact: Of<'turn-steered'>): ExchangeState {
  const turn = state.turns.get(fact.turn)
  if (turn === undefined || turn.ending !== null) return state
  const asks = [...new Set([...turn.asks, ...fact.asks])]
  return { ...state, turns: new Map(state.turns).set(turn.id, { ...turn, asks, revision: fact.revision }) }
}

export function endTurn(state: ExchangeState, id: TurnId, ending: TurnEnding): ExchangeState {
  const turn = state.turns.get(id)
  return {
    ...state,
    running: state.running === id ? null : state.running,
    // A turn that failed before it was presented leaves only its failure.
    turns: turn === undefined ? state.turns : new Map(state.turns).set(id, { ...turn, ending }),
    // What a turn that ended without an answer had taken up is owed to the next one.
    children: ending.ended === 'completed' ? state.children : untaken(state.children, turn?.takenUp ?? []),
    failedTurns: ending.ended === 'failed' ? state.failedTurns + 1 : state.failedTurns,
    crashedTurns: isCrash(ending) ? state.crashedTurns + 1 : 0,
  }
}

/** Its executor was gone: killed, or crashed. A turn that was stopped or shut down did not crash. */
export function isCrash(ending: TurnEnding): boolean {
  return ending.ended === 'interrupted' && ending.because === 'holder-gone'
}

function untaken(children: ExchangeState['children'], taken: readonly RequestId[]): ExchangeState['children'] {
  return new Map([...children].map(([id, one]) => [id, taken.includes(id) ? { ...one, integrated: false } : one]))
}

export function withResult(state: ExchangeState, result: ResultRecord): ExchangeState {
  const asks = new Map(state.asks)
  for (const ask of result.covers) asks.set(ask, { is: 'covered', by: result.id })
  return closeIfDone({ ...state, asks, results: [...state.results, result], failedTurns: 0, crashedTurns: 0 })
}

export function assess(state: ExchangeState, fact: Of<'assessed'>): ExchangeState {
  const asks = new Map(state.asks)
  for (const one of fact.asks) {
    if (one.judgment === 'rejected') asks.set(one.ask, { is: 'rejected', because: one.reason })
    else if (one.judgment === 'deferred') asks.set(one.ask, { is: 'deferred', reason: one.reason, until: one.until })
    else asks.set(one.ask, { is: 'owed' })
  }
  const before = state.assessment
  const judged = new Map(before?.agent === fact.agent ? before.asks : [])
  for (const one of fact.asks) judged.set(one.ask, one)
  const own = new Map(state.judged.get(fact.agent))
  for (const one of fact.asks) own.set(one.ask, { judgment: one.judgment, revision: fact.revision })
  return closeIfDone({
    ...state,
    asks,
    waits: null,
    judged: new Map(state.judged).set(fact.agent, own),
    assessment: { agent: fact.agent, revision: fact.revision, verdict: fact.verdict, asks: judged },
  })
}

/** Nothing owed and nothing deferred: resolved when something was covered, else rejected. */
function closeIfDone(state: ExchangeState): ExchangeState {
  const all = [...state.asks.values()]
  if (state.closed !== null || all.some((ask) => ask.is === 'owed' || ask.is === 'deferred')) return state
  return { ...state, closed: all.some((ask) => ask.is === 'covered') ? 'resolved' : 'rejected' }
}

export function split(state: ExchangeState, of: AskId, into: readonly Ask[]): ExchangeState {
  const asks = new Map(state.asks)
  // The whole lives on in its parts; the verbatim text stays with the first of them.
  asks.delete(of)
  for (const ask of into) asks.set(ask.id, { is: 'owed' })
  const corrections = new Map(state.corrections)
  const since = corrections.get(of)
  if (since !== undefined) for (const ask of into) corrections.set(ask.id, since)
  const turns = new Map(
    [...state.turns].map(([id, turn]) => {
      if (turn.ending !== null || !turn.asks.includes(of)) return [id, turn] as const
      return [id, { ...turn, asks: [...turn.asks.filter((ask) => ask !== of), ...into.map((ask) => ask.id)] }] as const
    }),
  )
  return { ...state, asks, corrections, turns }
}

export function endOwed(asks: ExchangeState['asks'], because: string): ExchangeState['asks'] {
  return mapAsks(asks, (ask) => (ask.is === 'owed' || ask.is === 'deferred' ? { is: 'rejected', because } : ask))
}

export function continueAsks(asks: ExchangeState['asks'], into: RequestId): ExchangeState['asks'] {
  return mapAsks(asks, (ask) => (ask.is === 'owed' || ask.is === 'deferred' ? { is: 'continued', into } : ask))
}

/** The turn that runs has put them off, or was never shown them: its last words do not answer them. */
export function oweAgain(state: ExchangeState, due: readonly AskId[]): ExchangeState {
  const asks = mapAsks(state.asks, (ask, id) => (ask.is === 'deferred' && due.includes(id) ? { is: 'owed' } : ask))
  const turn = state.running === null ? undefined : state.turns.get(state.running)
  if (turn === undefined || !turn.asks.some((ask) => due.includes(ask))) return { ...state, asks }
  const shown = turn.asks.filter((ask) => !due.includes(ask))
  return { ...state, asks, turns: new Map(state.turns).set(turn.id, { ...turn, asks: shown }) }
}

function mapAsks(asks: ExchangeState['asks'], to: (ask: AskState, id: AskId) => AskState): ExchangeState['asks'] {
  return new Map([...asks].map(([id, ask]) => [id, to(ask, id)]))
}

export function releaseFence(state: ExchangeState, id: AttemptId | null, because: FenceRelease): ExchangeState {
  const attempt = id === null ? undefined : state.attempts.get(id)
  if (attempt === undefined) return state
  return {
    ...state,
    attempts: new Map(state.attempts).set(attempt.id, { ...attempt, released: because }),
    fence: state.fence === attempt.id ? null : state.fence,
  }
}

export function effect(state: ExchangeState, id: EffectId, one: EffectState): ExchangeState {
  return { ...state, effects: new Map(state.effects).set(id, one) }
}

export function settleEffect(state: ExchangeState, id: EffectId, became: EffectState['became']): ExchangeState {
  const before = state.effects.get(id)
  return before === undefined ? state : effect(state, id, { ...before, became })
}

export function child(state: ExchangeState, id: RequestId, one: ChildState): ExchangeState {
  return { ...state, children: new Map(state.children).set(id, one) }
}

/** What was passed on to it is part of what it works on; until it comes back again, nobody else answers it. */
export function childRevised(state: ExchangeState, fact: Of<'child-revised'>): ExchangeState {
  const before = state.children.get(fact.child)
  if (before === undefined) return state
  const asks = [...new Set([...before.asks, ...fact.asks])]
  return child(state, fact.child, { ...before, asks, revision: fact.childRevision, reopened: before.returned !== null })
}

export function childReturned(was: ExchangeState, fact: Of<'child-returned'>): ExchangeState {
  const before = was.children.get(fact.child)
  if (before === undefined) return was
  const state = { ...was, crashedTurns: 0 }
  const { ended, result, direct } = fact
  const last = before.returned?.result ?? null
  const formerly = last === null ? before.formerly : [...before.formerly, last]
  const returned = { ended, result, direct }
  const back = { ...before, returned, formerly, reopened: false }
  if (!direct || result === null) return child(state, fact.child, { ...back, integrated: false })
  // A standing direct-return policy: the child's own conclusion answers these asks, visibly, until a newer one does.
  const asks = new Map(state.asks)
  for (const ask of before.asks) {
    const now = asks.get(ask)
    const replaced = now?.is === 'covered' && formerly.includes(now.by)
    if (now?.is === 'owed' || replaced) asks.set(ask, { is: 'covered', by: result })
  }
  return closeIfDone(child({ ...state, asks }, fact.child, { ...back, integrated: true }))
}
