import type { JobLookup, JobOutcome, JobRun, Performer } from '../collab/jobs.js'
import { jobIdOf } from '../collab/jobs.js'
import type { BotId, DeliveryId, LaneId, RequestId } from '../collab/refs.js'
import { unreachable } from '../lib/assert.js'
import { errorLabel } from '../lib/log.js'
import { deliveryOf } from '../stores/deliveries/deliveries.js'
import { partsOf } from '../stores/deliveries/parts.js'
import { owedReactions } from '../stores/deliveries/reactions.js'
import { reviveFailed } from '../stores/turns/turns.js'
import { progressOwed } from '../stores/progress/progress.js'
import {
  claimWake,
  failWake,
  markKnown,
  owedWakes,
  putWake,
  raiseLost,
  recoverHeld,
  releaseWake,
  renewWake,
  settleWake,
  type Claim,
} from '../stores/wakes/wakes.js'
import { accept } from './accept.js'
import { tellBroken } from './broken.js'
import { repairChild } from './agents/child.js'
import { tellOfRevisions } from './agents/passed-on.js'
import { tellHeld } from './held.js'
import { fillGaps } from './gap-fill.js'
import { HOUSEKEEPING, keepHouse } from './housekeeping.js'
import { deliver } from './deliver.js'
import { findOutside } from './outside.js'
import { showProgress } from './progress.js'
import { tellBacklog } from './backlog.js'
import type { Exchange } from './deps.js'
import { cancelChild, returnToParent, wakeDeferred } from './returns.js'
import { endReceiptsOf } from './receipts-of.js'
import { settleReaction } from './receipts.js'
import { tellBelow } from './tell-cancel.js'
import { settleStop } from './stop.js'
import { turn } from './turn.js'

/** A receipt that has no outcome after so long was interrupted; its call takes at most that long. */
const REACTION_GRACE_MS = 12_000

/** What workers call: claims the subject, runs its verb, and ends the claim as the verb ended. */
export function createPerformer(x: Exchange): Performer {
  return { perform: (run) => perform(x, run), sweep: (queue) => sweep(x, queue) }
}

async function perform(x: Exchange, run: JobRun): Promise<JobOutcome> {
  const { sql } = x.db
  const claim = await claimFor(x, run)
  if (!claim.claimed) return { outcome: 'done', note: await noteOf(x, run, claim.because) }
  const lost = new AbortController()
  const stopRenewing = x.every(x.settings.holdMs / 3, async () => {
    if (!(await renewWake(sql, run.kind, run.subject, claim.fence, x.clock.now() + x.settings.holdMs))) lost.abort()
  })
  try {
    const outcome = await runVerb(x, run, claim, AbortSignal.any([run.signal, lost.signal]))
    await endClaim(x, run, claim, outcome)
    return outcome
  } catch (error) {
    const label = errorLabel(error)
    // A stop is nobody's fault: the row stays owed, and the queue runs the job again without counting this.
    if (run.lastAttempt && !run.signal.aborted) {
      if (run.kind === 'turn' && !lost.signal.aborted) await tellBroken(x, run.subject as LaneId, claim.fence)
      const next = await failWake(sql, run.kind, run.subject, claim, label, x.clock.now())
      if (next !== null) x.wake.kick([next])
    } else {
      const next = await releaseWake(sql, run.kind, run.subject, claim, x.clock.now(), label)
      if (next !== null) x.wake.kick([next])
    }
    throw error
  } finally {
    stopRenewing()
  }
}

const notes = {
  done: 'already done',
  held: 'held by another run, which puts the next wake',
  unknown: 'nothing is known of this subject',
} as const

/** A replayed delivery says what became of it: nothing is sent, and the receipt is named. */
async function noteOf(x: Exchange, run: JobRun, because: keyof typeof notes): Promise<string> {
  if (run.kind !== 'deliver' || because !== 'done') return notes[because]
  const delivery = await deliveryOf(x.db.sql, run.subject as DeliveryId)
  if (delivery?.outcome !== 'verified' && delivery?.outcome !== 'accepted') return notes[because]
  const sent = (await partsOf(x.db.sql, delivery.id)).flatMap((part) => part.messageId ?? [])
  return `already delivered (${delivery.outcome}: ${sent.join(', ')})`
}

/** A replay of an old job whose lane has gone on since: what failed for good in it runs again. */
async function claimFor(x: Exchange, run: JobRun): Promise<Claim> {
  const claim = () => claimWake(x.db.sql, run.kind, run.subject, x.holder, x.clock.now(), x.settings.holdMs)
  const first = await claim()
  if (first.claimed || first.because !== 'done' || run.kind !== 'turn' || !run.lastAttempt) return first
  const revived = await x.db.tx(async (tx) => {
    const count = await reviveFailed(tx, run.subject)
    if (count > 0) await putWake(tx, 'turn', run.subject, x.clock.now())
    return count
  })
  return revived === 0 ? first : await claim()
}

async function runVerb(
  x: Exchange,
  run: JobRun,
  claim: Extract<Claim, { claimed: true }>,
  signal: AbortSignal,
): Promise<JobOutcome> {
  const { sql } = x.db
  const stillHeld = () => renewWake(sql, run.kind, run.subject, claim.fence, x.clock.now() + x.settings.holdMs)
  switch (run.kind) {
    case 'accept':
      return await accept(x, run.subject)
    case 'turn':
      return await turn(x, run.subject as LaneId, { fence: claim.fence, signal, replayed: claim.from === 'dead' })
    case 'deliver':
      return await deliver(x, run.subject as DeliveryId, {
        signal,
        stillHeld,
        replayed: claim.from === 'dead',
        lastAttempt: run.lastAttempt,
      })
    case 'reaction':
      return await settleReaction(x, run.subject)
    case 'upkeep':
      return await upkeep(x, run.subject)
    default:
      return unreachable(run.kind)
  }
}

async function upkeep(x: Exchange, subject: string): Promise<JobOutcome> {
  if (subject === HOUSEKEEPING) return await keepHouse(x)
  const [verb = '', id = ''] = [subject.slice(0, subject.indexOf('-')), subject.slice(subject.indexOf('-') + 1)]
  if (verb === 'return') return await returnToParent(x, id as RequestId)
  if (verb === 'child') return { outcome: 'done', note: (await repairChild(x, id)) ? 'the child stands' : 'no child' }
  if (verb === 'revised') return { outcome: 'done', note: `${await tellOfRevisions(x, id as RequestId)} told` }
  if (verb === 'due') return await wakeDeferred(x, id as RequestId)
  if (verb === 'below') return await tellBelow(x, id as RequestId)
  if (verb === 'cancel') return await cancelChild(x, id as RequestId)
  if (verb === 'progress') return await showProgress(x, id as RequestId)
  if (verb === 'history') return await fillGaps(x, id as BotId)
  if (verb === 'backlog') return await tellBacklog(x, id)
  if (verb === 'late') return await tellHeld(x, id)
  if (verb === 'stop') return await settleStop(x, id)
  if (verb === 'outside') return await findOutside(x, id as DeliveryId)
  if (verb === 'receipts') return await endReceiptsOf(x, id as RequestId)
  return { outcome: 'done', note: 'nothing of that name' }
}

async function endClaim(
  x: Exchange,
  run: JobRun,
  claim: Extract<Claim, { claimed: true }>,
  outcome: JobOutcome,
): Promise<void> {
  const { sql } = x.db
  const now = x.clock.now()
  switch (outcome.outcome) {
    case 'done': {
      const next = await settleWake(sql, run.kind, run.subject, claim, now)
      if (next !== null) x.wake.kick([next])
      return
    }
    case 'later': {
      const next = await releaseWake(sql, run.kind, run.subject, claim, outcome.at, outcome.because)
      if (next !== null) x.wake.kick([next])
      return
    }
    case 'failed': {
      const next = await failWake(sql, run.kind, run.subject, claim, outcome.because, now)
      if (next !== null) x.wake.kick([next])
      return
    }
    default:
      return unreachable(outcome)
  }
}

/** Puts again what is owed and has no living job: the queue may be lost, the rows are not. */
async function sweep(x: Exchange, queue: JobLookup): Promise<number> {
  const { sql } = x.db
  const now = x.clock.now()
  const owed = await owedWakes(sql, now, x.settings.sweepGraceMs, x.settings.sweepBatch)
  const known = owed.length === 0 ? new Set<string>() : await queue.known(owed)
  await markKnown(
    sql,
    owed.filter((wake) => known.has(jobIdOf(wake))),
    now,
  )
  const lost = owed.filter((wake) => !known.has(jobIdOf(wake)))
  const raised = await raiseLost(sql, lost, now)
  const reactions = await owedReactions(sql, now, REACTION_GRACE_MS, x.settings.sweepBatch)
  const after = x.settings.progressAfterMs
  const looks = after === 0 ? [] : await progressOwed(sql, now, after, x.settings.sweepBatch)
  const woken = await Promise.all([
    ...reactions.map((id) => putWake(sql, 'reaction', id, now)),
    ...looks.map((id) => putWake(sql, 'upkeep', `progress-${id}`, now)),
  ])
  if (raised.length + woken.length > 0) await queue.put([...raised, ...woken])
  return raised.length + woken.length
}

/** At start: what the last process of this installation held runs again at once, without waiting for its lock. */
export async function recover(x: Exchange): Promise<number> {
  const now = x.clock.now()
  const wakes = await recoverHeld(x.db.sql, x.holder, now)
  x.wake.kick([...wakes, await putWake(x.db.sql, 'upkeep', HOUSEKEEPING, now)])
  return wakes.length
}
