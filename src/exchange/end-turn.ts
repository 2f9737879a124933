import { bearingOf } from '../collab/bearing.js'
import { decideEndTurn } from '../collab/decide/record.js'
import { decideConclude } from '../collab/decide/resolve.js'
import { keepIfRecalled } from '../collab/decide/withheld.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { Fact, ResultRecord, TurnEnding } from '../collab/observation.js'
import type { TurnEnded } from '../collab/ports.js'
import type { Instant, TurnId } from '../collab/refs.js'
import { keptBack, openEffects, owedAsks, owesSynthesis, type ExchangeState } from '../collab/exchange-state.js'
import { foresee } from '../collab/foresee.js'
import { SECOND } from '../lib/time.js'
import { hasReported } from '../stores/ledger/find.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import type { Bearing, Language } from '../collab/delivery.js'
import type { Also, InputChange } from '../stores/ledger/commit.js'
import { endTurnRow } from '../stores/turns/turns.js'
import type { AnswerNote } from './agents/answer.js'
import { askedAt } from './asked-at.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { digestOfText, eventIdOf, resultIdOf } from './ids.js'
import { handedOver } from './handed-over.js'
import { scopeOf } from './open.js'
import { placeOf } from './place.js'
import type { TurnRun, TurnYield } from './run-turn.js'
import { receiptsSubject } from './receipts-of.js'
import { stopSubject } from './stop.js'
import { cancellationTold } from './tell-cancel.js'
import { untold } from './untold.js'
import { untilStored } from './until-stored.js'
import { returning } from './withheld.js'

/** A turn failed and another try follows: the queue waits and calls again. */
export class TurnFault extends Error {
  override readonly name = 'TurnFault'
}

/** Commits the conclusion together with its delivery and their wake; a stale run commits nothing. */
export async function conclude(
  x: Exchange,
  run: TurnRun,
  end: Extract<TurnEnded, { ended: 'completed' }>,
  left: TurnYield,
): Promise<JobOutcome> {
  const { request } = run
  const now = x.clock.now()
  const language = await untilStored(x, run.hold.signal, () => languageFor(x, run))
  const textDigest = digestOfText(end.final)
  const conclusionDigest = end.conclusion === null ? null : digestOfText(end.conclusion)
  const accessScope = scopeOf(request.conversation)
  const reported = await untilStored(x, run.hold.signal, () => hasReported(x.db.sql, left.turn))
  const asked =
    left.refused.length + left.refusedByHost.length === 0
      ? null
      : await untilStored(x, run.hold.signal, () => askedAt(x, request))
  const commit = () =>
    decideAndCommit(
      x,
      {
        kind: 'conclude-turn',
        eventId: eventIdOf('concluded', left.turn),
        requestId: request.id,
        at: now as Instant,
        actor: { kind: 'agent', agent: run.agent, turn: left.turn },
        turn: left.turn,
        result: resultIdOf(left.turn),
        textDigest,
        conclusionDigest,
        accessScope,
        files: left.files,
      } as const,
      (state, command) => keepIfRecalled(state, decideConclude(state, command), x.settings.onRecall),
      (facts, state) => {
        const result = resultIn(facts)
        // The agent has reported by its tools in this turn: its last words are kept, and not said a second time.
        const silent = reported && result.kind === 'interim'
        // Its own revision: it may have been told of a later one while it ran.
        const revision = state.turns.get(left.turn)?.revision ?? request.revision
        const note = noteOf(left, bearingOf(state, result, revision), language, now)
        const sent = silent ? nothingSent : returning(facts, request, result, note, state.sources)
        const ended = onCancel(run, state, facts, language, now)
        // An answer says itself what was not done; where none goes to the owner, it is told by itself.
        const notDone =
          asked !== null && (silent || placeOf(request) === null) ? untold(run, left, asked, language, now) : []
        return {
          texts: [
            { digest: textDigest, accessScope, body: end.final },
            ...(conclusionDigest === null
              ? []
              : [{ digest: conclusionDigest, accessScope, body: end.conclusion ?? '' }]),
          ],
          deliveries: [...sent.deliveries, ...notDone, ...ended.deliveries],
          ...inLane(run, foresee(state, facts), now, [
            ...sent.wakes,
            ...notDone.map(({ id }) => ({ kind: 'deliver', subject: id, dueAt: now }) as const),
            ...ended.wakes,
          ]),
        }
      },
    )
  const receipt = await untilStored(x, run.hold.signal, commit)
  if (receipt.outcome === 'rejected') return { outcome: 'done', note: 'another run has ended this turn' }
  x.meter.observe('first_answer_seconds', (now - request.openedAt) / SECOND)
  return { outcome: 'done', note: 'answered' }
}

/** The request's place in its lane after a turn, with the wake for what the turn left to do. */
function inLane(run: TurnRun, after: ExchangeState, now: number, wakes: NonNullable<Also['wakes']> = []): Also {
  const { lane, input } = run
  const stands = inputState(after)
  const turn = { kind: 'turn', subject: lane, dueAt: now } as const
  return {
    input: { lane, position: input.position, ...stands },
    wakes: stands.state === 'waiting' ? [...wakes, turn] : wakes,
  }
}

/** Settled when answered; what is deferred or in doubt keeps its place in the inbox and waits for its own wake. */
function inputState(after: ExchangeState): Pick<InputChange, 'state' | 'because'> {
  // What an effect of unknown outcome keeps open waits for its settlement, not for another turn.
  if (openEffects(after, null).length > 0) return { state: 'held', because: 'effect-open' }
  if (owedAsks(after).length > 0 || owesSynthesis(after)) return { state: 'waiting', because: null }
  if (keptBack(after).length > 0) return { state: 'held', because: 'result-withheld' }
  const deferred = [...after.asks.values()].some((ask) => ask.is === 'deferred')
  if (deferred) return { state: 'held', because: 'deferred' }
  return { state: 'settled', because: after.closed === 'resolved' ? 'answered' : (after.closed ?? 'answered') }
}

function resultIn(facts: readonly Fact[]): ResultRecord {
  for (const fact of facts) if (fact.kind === 'result-committed') return fact.result
  throw new Error('a concluded turn has a result')
}

type Sent = Required<Pick<Also, 'deliveries' | 'wakes'>>

const nothingSent: Sent = { deliveries: [], wakes: [] }

const noteOf = (left: TurnYield, bearing: Bearing | null, language: Language, at: number): AnswerNote => ({
  bearing,
  language,
  label: left.profile.realModel ? null : 'no-model',
  refused: left.refused,
  refusedByHost: left.refusedByHost,
  endedWithTurn: left.endedWithTurn,
  leftOut: left.leftOut,
  at,
})

function backToParent(run: TurnRun, now: number): Sent {
  return { deliveries: [], wakes: [{ kind: 'upkeep', subject: `return-${run.request.id}`, dueAt: now }] }
}

/** Writes how a turn ended that gave no answer, and tells the owner where they wait when nothing more is tried. */
export async function endWithoutAnswer(
  x: Exchange,
  run: TurnRun,
  end: TurnEnded,
  left: Pick<TurnYield, 'turn'>,
  asked: { readonly cancelled: boolean; readonly stoppedBy: string | null },
): Promise<JobOutcome> {
  const reported = end.ended === 'completed' && (await saidByTools(x, run, left.turn))
  const ending: TurnEnding = reported ? { ended: 'completed' } : endingOf(end, asked)
  const now = x.clock.now()
  const language = await languageFor(x, run)
  let facts: readonly Fact[] = []
  const receipt = await decideAndCommit(
    x,
    {
      kind: 'end-turn',
      eventId: eventIdOf('ended', left.turn),
      requestId: run.request.id,
      at: now as Instant,
      turn: left.turn,
      attempt: run.attempt,
      ending,
      tries: x.settings.turnTries,
    } as const,
    decideEndTurn,
    (accepted, state) => {
      facts = accepted
      const after = reported
        ? reportedThen(run, state, accepted, language, now)
        : afterEnd(run, state, accepted, left, language, now)
      // Whoever asked for the stop hears what became of it.
      const told = asked.stoppedBy === null ? [] : [upkeep(stopSubject(asked.stoppedBy), now)]
      return { ...after, wakes: [...(after.wakes ?? []), ...told] }
    },
  )
  if (receipt.outcome === 'rejected') return { outcome: 'done', note: 'another run has ended this turn' }
  if (facts.some((fact) => fact.kind === 'cancel-acknowledged')) return { outcome: 'done', note: 'cancelled' }
  if (ending.ended === 'completed') return { outcome: 'done', note: 'reported' }
  if (facts.some((fact) => fact.kind === 'request-held')) {
    await endTurnRow(x.db.sql, left.turn, 'interrupted', 'stop', x.clock.now())
    return { outcome: 'done', note: 'stopped' }
  }
  if (ending.ended === 'interrupted') return { outcome: 'later', at: now as Instant, because: ending.because }
  x.log.warn('a turn ended without an answer', { requestId: run.request.id, turnId: left.turn, reason: ending.because })
  if (facts.some((fact) => fact.kind === 'failure-handed-over')) return { outcome: 'failed', because: ending.because }
  throw new TurnFault(ending.because)
}

/** Its tools have said what there was to say: a report, or that the request goes on elsewhere. */
async function saidByTools(x: Exchange, run: TurnRun, turn: TurnId): Promise<boolean> {
  if (await hasReported(x.db.sql, turn)) return true
  return (await stateOfRequest(x.db.sql, run.request.id)).closed !== null
}

/** Whatever a runtime says of a turn that was stopped: it did not fail by itself, and nothing tries it again. */
function endingOf(
  end: TurnEnded,
  asked: { readonly cancelled: boolean; readonly stoppedBy: string | null },
): Exclude<TurnEnding, { ended: 'completed' }> {
  if (asked.stoppedBy !== null) return { ended: 'interrupted', because: 'stop' }
  if (end.ended === 'failed') return { ended: 'failed', because: end.because }
  if (end.ended === 'completed') return { ended: 'failed', because: 'no-output' }
  return { ended: 'interrupted', because: asked.cancelled ? 'stop' : 'shutdown' }
}

/** The agent had reported by its tools and said nothing more. */
function reportedThen(
  run: TurnRun,
  before: ExchangeState,
  facts: readonly Fact[],
  language: Language,
  now: number,
): Also {
  const ended = onCancel(run, before, facts, language, now)
  return { deliveries: ended.deliveries, ...inLane(run, foresee(before, facts), now, ended.wakes) }
}

/** What follows when a cancellation took effect with these facts. */
function onCancel(run: TurnRun, before: ExchangeState, facts: readonly Fact[], language: Language, now: number): Sent {
  if (!facts.some((fact) => fact.kind === 'cancel-acknowledged')) return nothingSent
  if (placeOf(run.request) === null) return backToParent(run, now)
  return cancellationTold(before, facts, language, now, true)
}

function afterEnd(
  run: TurnRun,
  before: ExchangeState,
  facts: readonly Fact[],
  left: Pick<TurnYield, 'turn'>,
  language: Language,
  now: number,
): Also {
  const { lane, input } = run
  for (const fact of facts) {
    if (fact.kind === 'cancel-acknowledged') {
      return {
        ...onCancel(run, before, facts, language, now),
        input: { lane, state: 'settled', because: 'cancelled', position: input.position },
      }
    }
    if (fact.kind === 'request-held') {
      return {
        input: { lane, state: 'held', because: 'stopped', position: input.position },
        wakes: [upkeep(receiptsSubject(run.request.id), now)],
      }
    }
    if (fact.kind === 'failure-handed-over') {
      const failed = { request: run.request, sources: before.sources, lane, position: input.position }
      return handedOver(failed, fact.because, `failed-${left.turn}`, language, now)
    }
  }
  return {}
}

const upkeep = (subject: string, now: number) => ({ kind: 'upkeep', subject, dueAt: now }) as const

async function languageFor(x: Exchange, run: TurnRun): Promise<Language> {
  return (await conversationOf(x.db.sql, run.request.conversation))?.language ?? 'en'
}
