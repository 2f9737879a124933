import { profileKey } from '../collab/audience.js'
import { decidePresent } from '../collab/decide/present.js'
import { startedByPerson } from '../collab/decide/steer.js'
import type { HostRefusal } from '../collab/host-refusal.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { LeftOutFile, OutgoingFile } from '../collab/channel.js'
import type { AgentRuntime, EffectiveProfile, RuntimeSession, TurnEnded, TurnEvent } from '../collab/ports.js'
import type { AgentId, AttemptId, Instant, LaneId, TurnId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { unreachable } from '../lib/assert.js'
import { uuidFrom } from '../lib/digest.js'
import { errorLabel } from '../lib/log.js'
import { replacementsOf } from '../stores/bindings/bindings.js'
import { isConnectionLost } from '../stores/db.js'
import { writeAudit } from '../stores/sessions/audit.js'
import { putArtifact } from '../stores/artifacts/artifacts.js'
import { factsOf, fold, lockHead } from '../stores/ledger/read.js'
import {
  endTurnRow,
  inputOf,
  noteHostTurn,
  startTurn,
  turnsOfAttempt,
  type WaitingInput,
} from '../stores/turns/turns.js'
import { followActivity } from './activity.js'
import { approvalsOf, type Approvals } from './approval.js'
import type { Exchange } from './deps.js'
import { conclude, endWithoutAnswer, TurnFault } from './end-turn.js'
import { untilGone, watchEnd } from './end-watch.js'
import { eventsOf, knownOfCutOff } from './cut-off.js'
import { decideAndCommit, type Stands } from './exchange.js'
import { watchFollowUps } from './follow-ups.js'
import { contextOf } from './fresh.js'
import { eventIdOf, turnIdOf } from './ids.js'
import { hostActsOf } from './host-acts.js'
import { openSession } from './open-session.js'
import { scopeOf } from './open.js'
import { prepareTurn } from './prepare.js'
import { profileFor } from './profile.js'
import { sheetOf } from './sheet.js'
import { storableEvent } from './storable-event.js'
import { waitForConfinement, waitForRuntime } from './unavailable.js'

/** This run's claim on a lane. */
export interface Hold {
  readonly fence: number
  /** Aborted when the process stops or the claim is lost. */
  readonly signal: AbortSignal
  /** An operator replayed a job that had ended: what failed for good runs again. */
  readonly replayed: boolean
}

export interface TurnRun {
  readonly lane: LaneId
  readonly input: WaitingInput
  readonly request: WorkRequest
  /** Provider ids of the messages that it is made of. */
  readonly sources: readonly string[]
  readonly attempt: AttemptId
  readonly agent: AgentId
  readonly runtime: AgentRuntime
  readonly hold: Hold
}

/** What a turn has left behind when it ends. */
export interface TurnYield {
  readonly turn: TurnId
  readonly profile: EffectiveProfile
  readonly files: readonly OutgoingFile[]
  readonly leftOut: readonly LeftOutFile[]
  readonly refused: readonly string[]
  readonly refusedByHost: readonly HostRefusal[]
  /** Commands that it left running and that ended with it. */
  readonly endedWithTurn: readonly string[]
}

/**
 * Runs one turn on the runtime and writes what really happened: presentation when the runtime says that it began,
 * refusals when it asked, the result or the failure when it ended.
 *
 * @throws TurnFault when the turn failed and another try follows
 */
export async function runTurn(x: Exchange, run: TurnRun): Promise<JobOutcome> {
  const { sql } = x.db
  const turn = turnIdOf(run.attempt, (await turnsOfAttempt(sql, run.attempt)) + 1)
  try {
    const outcome = await runToEnd(x, run, turn)
    const because = outcome.outcome === 'done' ? null : outcome.because
    await endTurnRow(sql, turn, endedAs[outcome.outcome], because, x.clock.now())
    return outcome
  } catch (error) {
    if (error instanceof TurnFault) {
      await endTurnRow(sql, turn, 'failed', error.message, x.clock.now())
      throw error
    }
    // The store is gone, or this run is being stopped: the row stays open, and the lane's next run ends it.
    if (isConnectionLost(error) || run.hold.signal.aborted) throw error
    x.log.error('a turn broke', { requestId: run.request.id, turnId: turn, error: errorLabel(error) })
    const end = { kind: 'ended', ended: 'failed', because: 'internal', detail: '' } as const
    const ending = endWithoutAnswer(x, run, end, { turn }, { cancelled: false, stoppedBy: null })
    return await ending.finally(() => endTurnRow(sql, turn, 'failed', 'internal', x.clock.now()))
  }
}

const endedAs = { done: 'completed', later: 'interrupted', failed: 'failed' } as const

async function runToEnd(x: Exchange, run: TurnRun, turn: TurnId): Promise<JobOutcome> {
  const { sql } = x.db
  const { lane, request, attempt, hold } = run
  const facts = await factsOf(sql, request.id)
  const shown = facts.flatMap((fact) => (fact.kind === 'turn-presented' ? [fact.contextItems] : [])).at(-1) ?? null
  const context = await contextOf(x, request, lane)
  const { runtime, agent } = run
  const { sessionLane } = context
  const replacements = await replacementsOf(sql, sessionLane)
  const opening = await openSession(x, { lane, ...context, runtime, agent, signal: hold.signal })
  if (opening.outcome === 'not-confined') return await waitForConfinement(x, run, opening.detail)
  if (opening.outcome !== 'opened') return await waitForRuntime(x, run, 'the session could not be opened')
  const { session } = opening
  const begins = session.opened === 'new'
  const state = fold(request.id, facts)
  const before = await knownOfCutOff(x, state, runtime, session, sessionLane)
  const sheet = begins ? await sheetOf(x, { request, agent, session, context }) : []
  const how = { shownBefore: shown, context, begins, sheet, goesOn: before?.known === 'unanswered' }
  const prepared = await prepareTurn(x, state, request, lane, turn, how)
  const row = {
    id: turn,
    lane,
    request: request.id,
    attempt,
    revision: request.revision,
    runtime: run.runtime.name,
    holder: x.holder,
    fence: hold.fence,
    session: sessionLane,
    startedAt: x.clock.now(),
  }
  // Opening took its time: with other goals than it was opened for by now, it begins in another session.
  if ((await contextOf(x, request, lane)).sessionLane !== sessionLane) return beginsAnew(x, ANOTHER)
  // Under the request's lock: a cancellation finds the turn, or the turn finds below that it was cancelled. A session
  // is replaced before its turn begins, or finds that it runs; and what it may run with is what it was opened with.
  const changed = await x.db.tx(async (tx) => {
    await lockHead(tx, request.id)
    if ((await replacementsOf(tx, sessionLane)) !== replacements) return 'the session was replaced'
    const profile = await profileFor(x, tx, request)
    if (profileKey(profile) !== profileKey(context.profile)) return ANOTHER
    await startTurn(tx, row)
    return null
  })
  if (changed !== null) return beginsAnew(x, changed)
  // A stop holds what waits and then looks for turns: this one is found there, or finds that it was held.
  if ((await inputOf(sql, request.id))?.state !== 'waiting') {
    await endTurnRow(sql, turn, 'interrupted', 'held', x.clock.now())
    return { outcome: 'done', note: 'held meanwhile' }
  }
  const watch = watchEnd(x, turn, request.id, session)
  const steering = { lane, turn, request, context, runtime, session, signal: hold.signal }
  const leaveFollowUps = watchFollowUps(x, steering, startedByPerson(facts))
  const began = async (hostTurn: string, stands?: Stands): Promise<boolean> => {
    await noteHostTurn(sql, turn, hostTurn, session.effective)
    return await present(x, run, turn, hostTurn, prepared.contextItems, stands)
  }
  const approvals = approvalsOf(x, run, turn, session)
  // Until the runtime has given the turn a name it goes by that of its session.
  const heard = x.running.add(turn, async (stands) => void (await began(session.ref.id, stands)))
  try {
    const signal = AbortSignal.any([hold.signal, watch.signal])
    let presented = false
    const own =
      before?.known === 'answered' ? eventsOf(before.events, () => presented) : session.turn(prepared.input, signal)
    const events = untilGone(own, watch.gone)
    const { end, ...given } = await follow(x, run, session, events, turn, approvals, async (hostTurn) => {
      presented = await began(hostTurn)
      // Not before: a call that comes in meanwhile waits for the same news.
      heard()
      return presented
    })
    const left: TurnYield = { turn, profile: session.effective, ...given }
    return end.ended === 'completed' && end.final.trim() !== ''
      ? await conclude(x, run, end, left)
      : await endWithoutAnswer(x, run, end, left, { cancelled: watch.cancelled(), stoppedBy: watch.stoppedBy() })
  } finally {
    heard()
    leaveFollowUps()
    approvals.leave()
    watch.close()
  }
}

const ANOTHER = 'what it may run with has changed'

const beginsAnew = (x: Exchange, because: string): JobOutcome => ({
  outcome: 'later',
  at: x.clock.now() as Instant,
  because,
})

/** Reads the runtime's events to the end; a stream that ends without saying so has exited. */
async function follow(
  x: Exchange,
  run: TurnRun,
  session: RuntimeSession,
  events: AsyncIterable<TurnEvent>,
  turn: TurnId,
  approvals: Approvals,
  began: (hostTurn: string) => Promise<boolean>,
): Promise<
  { readonly end: TurnEnded } & Pick<TurnYield, 'files' | 'leftOut' | 'refused' | 'refusedByHost' | 'endedWithTurn'>
> {
  const files: OutgoingFile[] = []
  const leftOut: LeftOutFile[] = []
  const host = hostActsOf(x, run, turn)
  let end: TurnEnded = { kind: 'ended', ended: 'failed', because: 'exited', detail: 'the stream ended without an end' }
  const seen = followActivity(x, run.request.id, turn)
  for await (const said of events) {
    const event = storableEvent(said)
    switch (event.kind) {
      case 'started': {
        if (!(await began(event.hostTurn))) await session.stop(turn)
        break
      }
      case 'activity':
        await seen(event.activity)
        break
      case 'approval':
        await seen('waiting')
        await approvals.asked(event)
        break
      case 'refused-by-host':
        await host.refused(event)
        break
      case 'ended-with-turn':
        await host.ended(event)
        break
      case 'file': {
        const stored = await keepFile(x, run, turn, event)
        if (typeof stored !== 'string') files.push(stored)
        else leftOut.push({ fileName: event.fileName, reason: stored })
        break
      }
      case 'file-left-out':
        leftOut.push({ fileName: event.fileName, reason: event.because })
        await auditLeftOut(x, run, turn, leftOut.length, event)
        break
      case 'ended':
        end = event
        break
      default:
        unreachable(event)
    }
  }
  return {
    end,
    files,
    leftOut,
    refused: await approvals.close(),
    refusedByHost: host.refusedByHost,
    endedWithTurn: host.endedWithTurn,
  }
}

async function present(
  x: Exchange,
  run: TurnRun,
  turn: TurnId,
  hostTurn: string,
  contextItems: readonly string[],
  stands: Stands | undefined,
): Promise<boolean> {
  const said = { turn, attempt: run.attempt, onRevision: run.request.revision, contextItems }
  const receipt = await decideAndCommit(
    x,
    {
      kind: 'present-turn',
      eventId: eventIdOf('presented', turn),
      requestId: run.request.id,
      at: x.clock.now() as Instant,
      hostTurn,
      ...said,
    } as const,
    decidePresent,
    () => ({}),
    // Who brought the news, and by which name, is no part of it: the first one counts.
    said,
    stands,
  )
  return receipt.outcome === 'accepted' || receipt.outcome === 'already-applied'
}

async function keepFile(
  x: Exchange,
  run: TurnRun,
  turn: TurnId,
  file: Extract<TurnEvent, { kind: 'file' }>,
): Promise<OutgoingFile | 'too-large' | 'empty'> {
  const stored = await x.artifacts.put(once(file.bytes), x.settings.attachmentLimitBytes)
  if (!stored.stored) {
    x.log.warn('a file of the answer was not kept', { turnId: turn, reason: stored.because })
    return stored.because
  }
  const { digest, size } = stored
  const kept = { digest, size, fileName: file.fileName, mediaType: file.mediaType }
  await putArtifact(
    x.db.sql,
    {
      ...kept,
      id: uuidFrom('artifact', turn, digest, file.fileName),
      accessScope: scopeOf(run.request.conversation),
      source: { turn },
    },
    x.clock.now(),
  )
  return kept
}

/** What an agent reached for and may not give is on record like any other act. */
async function auditLeftOut(
  x: Exchange,
  run: TurnRun,
  turn: TurnId,
  n: number,
  { because }: Extract<TurnEvent, { kind: 'file-left-out' }>,
): Promise<void> {
  const id = uuidFrom('file-left-out', turn, n)
  await writeAudit(x.db.sql, { id, at: x.clock.now(), who: run.agent, act: `file left out: ${because}`, subject: turn })
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}
