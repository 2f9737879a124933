import { decideCancel } from '../collab/decide/control.js'
import { decideDue } from '../collab/decide/asks.js'
import { decideReturnChild } from '../collab/decide/children.js'
import type { Language } from '../collab/delivery.js'
import { isOpen, type ExchangeState } from '../collab/exchange-state.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { Deferral, DeferralCondition, ResultRecord } from '../collab/observation.js'
import { MANAGER, type Instant, type LaneId, type RequestId, type ResultId } from '../collab/refs.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import type { Also } from '../stores/ledger/commit.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { inputOf } from '../stores/turns/turns.js'
import { tellOfRevisions } from './agents/passed-on.js'
import type { Exchange } from './deps.js'
import { directDeliveries, dueResults } from './direct-return.js'
import { decideAndCommit } from './exchange.js'
import { lookFor } from './executing.js'
import { SECOND } from '../lib/time.js'
import { eventIdOf, laneOf } from './ids.js'
import { placeOf } from './place.js'
import { tellDoneBelow } from './tell-cancel.js'

const done = (note: string): JobOutcome => ({ outcome: 'done', note })

/**
 * A child that ended comes back to its parent: a durable duty of its own, which needs neither the manager's process
 * nor the session that asked. The parent's lane is woken to take it up, or a direct policy sends it as it is.
 *
 * @source RFC §5.6, ledger invariant 9 — A8
 */
export async function returnToParent(x: Exchange, childId: RequestId): Promise<JobOutcome> {
  // First what was passed on with a correction: it comes back with this.
  await tellOfRevisions(x, childId)
  const child = await stateOfRequest(x.db.sql, childId)
  const to = child.request?.returnTo
  if (child.request === null || to === undefined || to.channel !== 'request') return done('nothing to return')
  const end = endOf(child)
  if (end === null) return done('still open')
  const parent = await stateOfRequest(x.db.sql, to.request)
  if (parent.request === null) return done('the parent is unknown')
  const input = await inputOf(x.db.sql, to.request)
  const lane = (input?.lane ?? laneOf(parent.request.conversation, parent.request.target ?? undefined)) as LaneId
  const now = x.clock.now()
  const language = (await conversationOf(x.db.sql, parent.request.conversation))?.language ?? 'en'
  // One that came back with nothing new has nothing to send on: its asker looks at it.
  // To a question that was withdrawn nothing is sent on: its owner decides about what the asker makes of it.
  const kept = parent.recalled && x.settings.onRecall !== 'send'
  const direct = to.direct && !kept && end.result !== null && dueResults(child, returnedBy(parent, childId)).length > 0
  const receipt = await decideAndCommit(
    x,
    {
      kind: 'return-child',
      // Corrected after it came back, it comes back again, and be it with what it had said before.
      eventId: eventIdOf('returned', childId, end.result?.id ?? end.ended, ...(child.head > 1 ? [child.head] : [])),
      requestId: to.request,
      at: now as Instant,
      child: childId,
      ended: end.ended,
      result: end.result?.id ?? null,
      direct,
      childRevision: child.head,
    } as const,
    decideReturnChild,
    (_facts, before) =>
      afterReturn(
        before,
        child,
        { result: end.result, direct },
        { lane, position: input?.position ?? now, language, now },
      ),
    // By which revision it had ended is found out, not said.
    { kind: 'return-child', child: childId, ended: end.ended, result: end.result?.id ?? null, direct: to.direct },
  )
  await tellDoneBelow(x, child)
  return done(receipt.outcome === 'rejected' ? receipt.refusal.reason : `returned: ${end.ended}`)
}

function endOf(
  child: ExchangeState,
): { readonly ended: 'resolved' | 'rejected' | 'cancelled' | 'failed'; readonly result: ResultRecord | null } | null {
  const last = child.results.findLast((result) => result.kind === 'result') ?? null
  if (child.closed === 'resolved') return { ended: 'resolved', result: last }
  if (child.closed === 'rejected') return { ended: 'rejected', result: null }
  if (child.closed === 'cancelled') return { ended: 'cancelled', result: null }
  return child.failure === null ? null : { ended: 'failed', result: null }
}

/** The results with which a child came back so far. */
function returnedBy(parent: ExchangeState, child: RequestId): readonly (ResultId | null)[] {
  const known = parent.children.get(child)
  return known === undefined ? [] : [...known.formerly, known.returned?.result ?? null]
}

/** What a return puts into motion: the parent's lane takes it up, or a direct policy sends it on as it is. */
function afterReturn(
  before: ExchangeState,
  child: ExchangeState,
  back: { readonly result: ResultRecord | null; readonly direct: boolean },
  at: { readonly lane: LaneId; readonly position: number; readonly language: Language; readonly now: number },
): Also {
  const { lane, position, language, now } = at
  const parent = before.request
  if (parent === null) return {}
  if (back.direct) {
    const input = { lane, state: 'settled', because: 'returned-directly', position } as const
    const place = placeOf(parent)
    if (place === null) {
      return { wakes: [{ kind: 'upkeep', subject: `return-${parent.id}`, dueAt: now }], input }
    }
    const deliveries = directDeliveries({
      parent,
      sources: before.sources,
      place,
      from: before.children.get(child.id)?.target ?? MANAGER,
      due: dueResults(child, returnedBy(before, child.id)),
      language,
      ends: ownsAll(before),
      at: now,
    })
    return {
      deliveries,
      wakes: deliveries.map((delivery) => ({ kind: 'deliver', subject: delivery.id, dueAt: now })),
      input,
    }
  }
  // What was answered meanwhile still has to hear of a conclusion; what ended otherwise has not.
  const answered = before.closed === 'resolved' && before.cancel === 'none' && back.result !== null
  if (before.closed !== null && !answered) return {}
  return {
    input: { lane, state: 'waiting', because: null, position },
    wakes: [{ kind: 'turn', subject: lane, dueAt: now }],
  }
}

/** Every owed ask of the parent is one that some child works on. */
function ownsAll(parent: ExchangeState): boolean {
  const handed = new Set([...parent.children.values()].flatMap((child) => child.asks))
  return [...parent.asks].every(([id, ask]) => ask.is !== 'owed' || handed.has(id))
}

/** How often a condition that can be looked at is looked at. */
export const CONDITION_LOOK_MS = 30 * SECOND

/** Deferred asks whose condition came or whose recheck time is there are owed again; else the next look is set. */
export async function wakeDeferred(x: Exchange, requestId: RequestId): Promise<JobOutcome> {
  const state = await stateOfRequest(x.db.sql, requestId)
  if (state.request === null || state.closed !== null) return done('nothing deferred')
  const now = x.clock.now()
  const deferred = [...state.asks].flatMap(([id, ask]) => (ask.is === 'deferred' ? [{ id, until: ask.until }] : []))
  if (deferred.length === 0) return done('nothing deferred')
  const came = await Promise.all(deferred.map((one) => conditionHolds(x, one.until.condition)))
  const due = deferred.filter((one, n) => came[n] === true || one.until.recheckAt <= now)
  const rest = deferred.filter((one) => !due.includes(one)).map((one) => one.until)
  const again = { outcome: 'later', at: nextLook(rest, now) as Instant, because: 'deferred' } as const
  if (due.length === 0) return again
  const input = await inputOf(x.db.sql, requestId)
  const lane = (input?.lane ?? laneOf(state.request.conversation, state.request.target ?? undefined)) as LaneId
  const receipt = await decideAndCommit(
    x,
    {
      kind: 'due-deferral',
      eventId: eventIdOf('due', requestId, state.seq),
      requestId,
      at: now as Instant,
      actor: { kind: 'host' },
      because: came.includes(true) ? 'condition' : 'recheck',
      asks: due.map((one) => one.id),
      found: due.map((one) => one.until),
    } as const,
    decideDue,
    () => ({
      input: { lane, state: 'waiting', because: null, position: input?.position ?? now },
      wakes: [{ kind: 'turn', subject: lane, dueAt: now }],
    }),
  )
  // Put off anew since it was looked at: that has a time of its own.
  if (receipt.outcome === 'rejected') return { outcome: 'later', at: now as Instant, because: receipt.refusal.reason }
  return rest.length === 0 ? done('due') : again
}

/**
 * When to look next at what is put off: at its recheck time, or sooner where somebody can see whether its condition
 * holds. In milliseconds since the epoch.
 */
export function nextLook(deferred: readonly Deferral[], now: number): number {
  const canBeSeen = /^(request-resolved|host-back|agent-free)$/
  return Math.min(
    ...deferred.map(({ condition, recheckAt }) =>
      canBeSeen.test(condition.when) ? Math.min(recheckAt, now + CONDITION_LOOK_MS) : recheckAt,
    ),
  )
}

async function conditionHolds(x: Exchange, condition: DeferralCondition): Promise<boolean> {
  switch (condition.when) {
    case 'request-resolved':
      return (await stateOfRequest(x.db.sql, condition.request)).closed !== null
    case 'host-back': {
      const agents = await x.directory.list({ includeStopped: false })
      return agents.some((agent) => agent.host === condition.host && agent.reachable === true)
    }
    case 'agent-free':
      return (await x.directory.find(condition.agent))?.reachable === true
    // An answer ends it by a fact of its own, in the command that brings the answer (`decide/next-revision.ts`).
    default:
      return false
  }
}

/** A cancelled parent cancels its own direct descendants, and they theirs; each ends at its own safe boundary. */
export async function cancelChild(x: Exchange, childId: RequestId): Promise<JobOutcome> {
  const input = await inputOf(x.db.sql, childId)
  const now = x.clock.now()
  const look = lookFor(childId)
  const { head } = await stateOfRequest(x.db.sql, childId)
  const command = {
    kind: 'cancel-request',
    // Corrected after one that came too late, it can be cancelled once more.
    eventId: eventIdOf('cancelled-by-parent', childId, ...(head > 1 ? [head] : [])),
    requestId: childId,
    at: now as Instant,
    actor: { kind: 'host' },
    onRevision: null,
    because: 'owner',
  } as const
  const { at: _heard, ...said } = command
  const receipt = await decideAndCommit(
    x,
    command,
    (state) => decideCancel(state, { ...command, executing: look.executing() }),
    (facts, state) => {
      const ended = facts.some((fact) => fact.kind === 'cancel-acknowledged')
      return {
        wakes: [
          ...cancelWakes(state, now),
          ...(ended ? [{ kind: 'upkeep' as const, subject: `return-${childId}`, dueAt: now }] : []),
        ],
        ...(ended && input !== null
          ? {
              input: {
                lane: input.lane as LaneId,
                state: 'settled' as const,
                because: 'cancelled',
                position: input.position,
              },
            }
          : {}),
      }
    },
    said,
    look.stands,
  )
  return done(receipt.outcome === 'rejected' ? receipt.refusal.reason : 'cancellation asked for')
}

/** The wakes that carry a cancellation to each open child. */
export function cancelWakes(state: ExchangeState, now: number) {
  return [...state.children]
    .filter(([, child]) => isOpen(child))
    .map(([id]) => ({ kind: 'upkeep' as const, subject: `cancel-${id}`, dueAt: now }))
}
