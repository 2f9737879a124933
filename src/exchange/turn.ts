import type { JobOutcome } from '../collab/jobs.js'
import { decideAssign } from '../collab/decide/assign.js'
import { decideQuiesce } from '../collab/decide/fence.js'
import { decideEndTurn } from '../collab/decide/record.js'
import { handedAsks, liveAttemptOf, owedAsks, owesSynthesis, type ExchangeState } from '../collab/exchange-state.js'
import {
  MANAGER,
  type AgentId,
  type AttemptId,
  type Instant,
  type LaneId,
  type RequestId,
  type TurnId,
} from '../collab/refs.js'
import { lockHead, stateOfRequest } from '../stores/ledger/read.js'
import {
  endTurnRow,
  holdInput,
  inputOf,
  nextInput,
  openTurns,
  reviveFailed,
  settleInput,
  waitingRequests,
  type WaitingInput,
} from '../stores/turns/turns.js'
import { putWake } from '../stores/wakes/wakes.js'
import { inputAfter } from './agents/input.js'
import { afterCancel, languageOf } from './agents/cancel.js'
import { goesOnWhereAwaited } from './awaited.js'
import { burstUntil } from './burst.js'
import { refuseGone, refuseIfGone } from './admission-gone.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { handedOver } from './handed-over.js'
import { attemptIdOf, eventIdOf } from './ids.js'
import { mayRunOn } from './isolated.js'
import { joinWaiting } from './join.js'
import { readAgain } from './read-again.js'
import { receiptsSubject } from './receipts-of.js'
import { runTurn, type Hold } from './run-turn.js'
import { stopSubject } from './stop.js'
import { noteWait, waitForRuntime } from './unavailable.js'

/**
 * One turn of one lane: the oldest input that may run, on the runtime, to its end. Further inputs get the next wake.
 *
 * @param hold this run's claim on the lane; every decision of a run that lost it is refused by the fold
 * @returns done; later (the runtime cannot be used: everything is kept); failed (told to the owner, replay runs again)
 * @throws TurnFault when the turn failed and another try follows
 */
export async function turn(x: Exchange, lane: LaneId, hold: Hold): Promise<JobOutcome> {
  await endAbandoned(x, lane)
  if (hold.replayed) await reviveFailed(x.db.sql, lane)
  for (let input = await nextInput(x.db.sql, lane); input !== null; input = await nextInput(x.db.sql, lane)) {
    const first = await settledState(x, input.request as RequestId)
    if (await refuseIfGone(x, first)) continue
    const more = await burstUntil(x, lane, first)
    if (more !== null) return { outcome: 'later', at: more, because: 'more may come with these files' }
    if (await goesOnWhereAwaited(x, lane, first)) continue
    const state = await joinWaiting(x, lane, first)
    const { request } = state
    if (request === null || !hasWork(state)) {
      await settleUnlessMoved(x, state)
      continue
    }
    const agent = request.target ?? MANAGER
    const runtime = await x.runtimeFor(agent)
    if (!mayRunOn(request.authority, runtime)) {
      await refuseGone(x, state, request, 'not-isolated')
      continue
    }
    if (runtime === null) {
      await leaveToPull(x, state, input, agent)
      continue
    }
    const usable = await runtime.available()
    if (!usable.available) return await waitForRuntime(x, { request, agent }, usable.detail)
    if (await readAgain(x, state)) continue
    const attempt = await ensureAttempt(x, state)
    if (attempt === null) return { outcome: 'later', at: (x.clock.now() + 1_000) as Instant, because: 'head moved' }
    const { sources } = state
    const outcome = await runTurn(x, { lane, input, request, sources, attempt, agent, runtime, hold })
    // What waits comes behind this one, which runs again at its time.
    if (outcome.outcome !== 'later') await wakeRest(x, lane, input.request)
    return outcome
  }
  return { outcome: 'done', note: 'nothing owed' }
}

/** Something to answer that no child works on, or a child's return to take up. */
function hasWork(state: ExchangeState): boolean {
  if (state.closed !== null || owesSynthesis(state)) return owesSynthesis(state)
  const handed = handedAsks(state)
  return owedAsks(state).some((ask) => !handed.has(ask))
}

/**
 * Ends an input that owes nothing, under the request's own lock: what came back from a child since the state was read
 * has put the input among those that wait, and must find it there.
 */
async function settleUnlessMoved(x: Exchange, seen: ExchangeState): Promise<void> {
  await x.db.tx(async (tx) => {
    await lockHead(tx, seen.id)
    const { seq } = await stateOfRequest(tx, seen.id)
    if (seq === seen.seq) await settleInput(tx, seen.id, seen.closed ?? 'nothing-owed', x.clock.now())
  })
}

/**
 * An attached agent pulls by itself: the request stays in its inbox, and that it waits is a fact. One that was corrected
 * after its answer needs an attempt again, or nobody could act on it.
 */
async function leaveToPull(x: Exchange, state: ExchangeState, input: WaitingInput, agent: AgentId): Promise<void> {
  if (liveAttemptOf(state, agent) === null) await ensureAttempt(x, state)
  await holdInput(x.db.sql, input.request, 'attached')
  if (state.request !== null) await noteWait(x, state.request, agent, 'queued-until-wake')
}

/** The state without a turn that its executor has lost: this run holds the lane, so whoever ran it does not. */
async function settledState(x: Exchange, id: RequestId): Promise<ExchangeState> {
  const state = await stateOfRequest(x.db.sql, id)
  const running = state.running === null ? undefined : state.turns.get(state.running)
  if (running === undefined) return state
  await endLost(x, { id: running.id, request: id, attempt: running.attempt })
  return await stateOfRequest(x.db.sql, id)
}

/**
 * Turns that nobody ended: this run holds the lane, so their executor has lost it. They are ended by the fact; one that
 * was asked to stop has stopped, and its request waits for the owner's word.
 */
async function endAbandoned(x: Exchange, lane: LaneId): Promise<void> {
  for (const open of await openTurns(x.db.sql, lane)) {
    const [id, request, attempt] = [open.id as TurnId, open.request as RequestId, open.attempt as AttemptId]
    await endLost(x, { id, request, attempt }, open.stoppedBy)
    await endTurnRow(x.db.sql, open.id, 'interrupted', 'holder-gone', x.clock.now())
  }
}

async function endLost(
  x: Exchange,
  lost: { readonly id: TurnId; readonly request: RequestId; readonly attempt: AttemptId },
  stoppedBy: string | null = null,
): Promise<void> {
  const input = await inputOf(x.db.sql, lost.request)
  const { request, sources } = await stateOfRequest(x.db.sql, lost.request)
  const language = request === null ? 'en' : await languageOf(x, request.conversation)
  const now = x.clock.now()
  await decideAndCommit(
    x,
    {
      kind: 'end-turn',
      eventId: eventIdOf('abandoned', lost.id),
      requestId: lost.request,
      at: now as Instant,
      turn: lost.id,
      attempt: lost.attempt,
      ending: { ended: 'interrupted', because: stoppedBy === null ? 'holder-gone' : 'stop' },
      tries: x.settings.turnTries,
    } as const,
    decideEndTurn,
    (facts, state) => {
      // A cancellation that waited for this end takes effect with it, and whoever waits for that hears of it.
      const ended = facts.some((fact) => fact.kind === 'cancel-acknowledged')
      const then = ended ? afterCancel(input, facts, state, language, now) : {}
      const tired = facts.find((fact) => fact.kind === 'failure-handed-over')
      if (tired !== undefined && request !== null && input !== null) {
        const failed = { request, sources, lane: input.lane as LaneId, position: input.position }
        return handedOver(failed, tired.because, `crashed-${lost.id}`, language, now)
      }
      if (stoppedBy === null) return then
      const held = input !== null && facts.some((fact) => fact.kind === 'request-held')
      const wakes = [stopSubject(stoppedBy), receiptsSubject(lost.request)].map((subject) => ({
        kind: 'upkeep' as const,
        subject,
        dueAt: now,
      }))
      return {
        ...then,
        wakes: [...(then.wakes ?? []), ...wakes],
        ...(held ? inputAfter(input, 'held', 'stopped') : {}),
      }
    },
  )
}

/** The attempt at the head revision that may run: the live one, or a new one after an older one is proved quiescent. */
async function ensureAttempt(x: Exchange, state: ExchangeState): Promise<AttemptId | null> {
  const target = state.request?.target ?? MANAGER
  const live = [...state.attempts.values()].find(
    (one) => one.revision === state.head && one.released === null && one.target === target,
  )
  if (live !== undefined) return live.id
  const at = x.clock.now() as Instant
  if (state.fence !== null) {
    const released = await decideAndCommit(
      x,
      {
        kind: 'quiesce-attempt',
        eventId: eventIdOf('quiesce', state.fence),
        requestId: state.id,
        at,
        attempt: state.fence,
      } as const,
      decideQuiesce,
    )
    if (released.outcome === 'rejected') return null
  }
  const id = attemptIdOf(state.id, state.head, state.attempts.size + 1)
  const receipt = await decideAndCommit(
    x,
    {
      kind: 'assign-attempt',
      eventId: eventIdOf('assign', id),
      requestId: state.id,
      at,
      actor: { kind: 'host' },
      attempt: {
        id,
        request: state.id,
        revision: state.head,
        target,
        intent: state.request?.intent ?? 'delegation',
        // A judgment takes no right to act from whoever works.
        effectful: state.request?.intent !== 'consultation',
        supersedes: state.fence,
      },
    } as const,
    decideAssign,
  )
  return receipt.outcome === 'rejected' || receipt.outcome === 'conflict' ? null : id
}

/** Whoever else waits in the lane gets the next wake: while this run holds it, the generation is only raised. */
async function wakeRest(x: Exchange, lane: LaneId, except: string): Promise<void> {
  const waiting = await waitingRequests(x.db.sql, lane, except)
  if (waiting.length > 0) x.wake.kick([await putWake(x.db.sql, 'turn', lane, x.clock.now())])
}
