import { errorLabel } from '../lib/log.js'
import { MINUTE, SECOND } from '../lib/time.js'
import { nextOfDelivery, outcomeOf } from '../collab/decide/send.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { Channel, Outgoing } from '../collab/channel.js'
import type { WakeRef } from '../collab/ports.js'
import type { DeliveryId, Instant } from '../collab/refs.js'
import {
  answerBefore,
  answerBehind,
  bodyOf,
  deliveryOf,
  lockDelivery,
  settleDelivery,
  type DeliveryRow,
} from '../stores/deliveries/deliveries.js'
import { closeLost, commitPlan, partsOf, type PartRow } from '../stores/deliveries/parts.js'
import { putWake } from '../stores/wakes/wakes.js'
import type { Exchange } from './deps.js'
import { outsideJobOf } from './outside.js'
import { pageOf } from './page.js'
import { peopleOf } from './people.js'
import { askReceiptEnd, settleHere } from './receipts.js'
import { resumeDelivery } from './retry.js'
import { takeStep } from './send.js'
import { tellUndelivered, type DeliveryEnd } from './undelivered.js'

export interface DeliverRun {
  /** Aborted when the process stops: the step in flight is finished and recorded. */
  readonly signal: AbortSignal
  /** Whether this run still holds the delivery's wake. */
  stillHeld(): Promise<boolean>
  /** Somebody replays a job that had failed for good: what failed is tried again, what is parked is looked up again. */
  readonly replayed?: boolean
  /** No try follows by itself: what cannot be planned now ends the delivery. */
  readonly lastAttempt?: boolean
}

/**
 * Brings one delivery to its end: planned once, parts in order, each call written down before it is made.
 *
 * Everything is read again from the rows, so a run may be killed anywhere, repeated, or replayed long after: what is
 * delivered answers so, and what is doubtful is settled before anything is sent again.
 *
 * @returns done; later with the time that the next part waits for; failed when a part was refused for good or is parked
 *   for the operator. A fault is an exception
 * @source delivery.md Out 2–5, 7
 */
export async function deliver(x: Exchange, deliveryId: DeliveryId, run: DeliverRun): Promise<JobOutcome> {
  const delivery = await deliveryOf(x.db.sql, deliveryId)
  if (delivery === null) return done('no such delivery')
  if (delivery.outcome === 'verified' || delivery.outcome === 'accepted') return done('already delivered')
  const channel = x.channelOf(delivery.bot)
  if (channel === null) return later(x.clock.now() + 30 * SECOND, 'channel-down')
  if (delivery.outcome !== null && run.replayed === true) await resumeDelivery(x, deliveryId)
  else if (delivery.outcome !== null && delivery.plannedAt === null) return failed('failed: there is no plan of it')
  if (delivery.plannedAt === null) {
    // Nothing of it is in the chat: it waits for the answer before it, whose end wakes it.
    if ((await answerBefore(x.db.sql, delivery)) !== null) return later(x.clock.now() + MINUTE, 'earlier-answer')
    const because = await plan(x, channel, delivery, run)
    if (because !== null) return settle(x, delivery, { outcome: 'failed', arrived: 0, total: 0, because })
  }
  return sendParts(x, channel, delivery, run)
}

/** Stores the parts of a delivery. Null, or why there is nothing to send; a fault that may pass is an exception. */
async function plan(
  x: Exchange,
  channel: Channel,
  delivery: DeliveryRow,
  run: DeliverRun,
): Promise<'text-erased' | 'empty' | 'planning' | null> {
  try {
    const content = await contentOf(x, delivery)
    if (content === null) return 'text-erased'
    const parts = await channel.plan(content, delivery.route)
    if (parts.length === 0) return 'empty'
    await commitPlan(x.db.sql, delivery.id, parts, x.clock.now())
    return null
  } catch (error) {
    // A stop takes things away under a run; that says nothing about the delivery.
    if (run.lastAttempt !== true || run.signal.aborted) throw error
    // Thrown once more, it would be a job that is dead, and nobody would be told.
    x.log.error('a delivery could not be planned', { deliveryId: delivery.id, error: errorLabel(error) })
    return 'planning'
  }
}

async function sendParts(x: Exchange, channel: Channel, delivery: DeliveryRow, run: DeliverRun): Promise<JobOutcome> {
  if (!(await run.stillHeld())) return done('taken over by another run')
  await closeLost(x.db.sql, delivery.id, x.clock.now())
  for (;;) {
    const parts = await partsOf(x.db.sql, delivery.id)
    const next = nextOfDelivery(parts, x.clock.now())
    if (next.part === null) {
      const end = outcomeOf(parts)
      const ended = end.outcome === null ? null : await settle(x, delivery, { ...end, outcome: end.outcome })
      if (next.until !== null) {
        if (parts.every(isInChat)) await letNextGo(x, delivery)
        return later(next.until, next.because)
      }
      // A part that is neither due nor waiting nor at an end would be a state that nobody moves.
      return ended ?? later(x.clock.now() + MINUTE, 'nothing-due')
    }
    if (run.signal.aborted) return later(x.clock.now(), 'stopping')
    if (!(await run.stillHeld())) return done('taken over by another run')
    const end = await takeStep(x, channel, delivery, next.part, next.step)
    if (end === 'lost') return done('taken over by another run')
  }
}

function isInChat(part: PartRow): boolean {
  return part.state === 'superseded' || part.state === 'accepted' || part.state === 'verified'
}

/** Only its read-back is left, and that can take an hour: the answer behind it need not wait for that. */
async function letNextGo(x: Exchange, delivery: DeliveryRow): Promise<void> {
  const behind = await answerBehind(x.db.sql, delivery)
  if (behind !== null) x.wake.kick([await putWake(x.db.sql, 'deliver', behind, x.clock.now())])
}

/** What is to be said, from the stored bodies; null when the text was erased meanwhile. */
async function contentOf(x: Exchange, delivery: DeliveryRow): Promise<Outgoing | null> {
  const { source } = delivery
  if (source.kind === 'notice') return { kind: 'notice', notice: source.notice, language: source.language }
  const markdown = await bodyOf(x.db.sql, source.textDigest, source.accessScope)
  if (markdown === null) return null
  const conclusion =
    source.conclusionDigest === null ? null : await bodyOf(x.db.sql, source.conclusionDigest, source.accessScope)
  return {
    kind: 'answer',
    markdown,
    conclusion,
    label: source.label,
    refusedOperations: source.refusedOperations,
    language: source.language,
    reportName: source.reportName,
    attachments: source.files,
    people: await peopleOf(x, delivery),
    page: pageOf(x, delivery.request),
    ...(source.refusedByHost === undefined ? {} : { refusedByHost: source.refusedByHost }),
    ...(source.endedWithTurn === undefined ? {} : { endedWithTurn: source.endedWithTurn }),
    ...(source.leftOut === undefined ? {} : { leftOut: source.leftOut }),
    ...(source.bearing === undefined ? {} : { bearing: source.bearing }),
    ...(source.from === undefined ? {} : { from: source.from }),
  }
}

/** The end of a delivery, with all that follows from it in one transaction; the receipt goes after that. */
async function settle(x: Exchange, delivery: DeliveryRow, end: DeliveryEnd): Promise<JobOutcome> {
  const now = x.clock.now()
  const put = await x.db.tx(async (tx) => {
    // Under its lock: an operator who took a part up again after it was read must find a delivery that goes on.
    await lockDelivery(tx, delivery.id)
    if (end.total > 0 && outcomeOf(await partsOf(tx, delivery.id)).outcome !== end.outcome) return 'taken-up'
    if (!(await settleDelivery(tx, delivery.id, end.outcome, now))) return null
    const { endsReceipt, alsoEnds = [] } = delivery.source
    const reactions: WakeRef[] = []
    for (const messageId of endsReceipt === null || end.outcome === 'parked'
      ? []
      : [endsReceipt.messageId, ...alsoEnds]) {
      const how = end.outcome === 'failed' ? 'failed' : (endsReceipt?.end ?? 'done')
      reactions.push(
        ...(await askReceiptEnd(x, tx, { messageId, chatId: delivery.route.chatId, bot: delivery.bot, end: how })),
      )
    }
    const broken = end.outcome === 'failed' || end.outcome === 'parked'
    const notices = broken ? await tellUndelivered(x, tx, delivery, end) : []
    const behind = await answerBehind(tx, delivery)
    const next = behind === null ? [] : [await putWake(tx, 'deliver', behind, now)]
    // What else our app said while the answer was made is looked for once the answer itself is out of the way.
    const answers = delivery.request !== null && (delivery.causeKind === 'result' || delivery.causeKind === 'interim')
    const beside = answers ? [await putWake(tx, 'upkeep', outsideJobOf(delivery.id), now)] : []
    return { reactions, wakes: [...notices, ...next, ...beside] }
  })
  if (put === 'taken-up') return later(now, 'taken up again')
  const why = end.because === null ? '' : ` (${end.because})`
  const note = `${end.outcome}: ${end.arrived} of ${end.total} parts arrived${why}`
  const ended: JobOutcome = end.outcome === 'failed' || end.outcome === 'parked' ? failed(note) : done(note)
  if (put === null) return ended
  x.meter.count('deliveries_total', end.outcome)
  if (end.outcome === 'verified' && delivery.causeKind === 'result') {
    x.meter.observe('result_to_verified_seconds', (now - delivery.createdAt) / SECOND)
  }
  if (end.outcome === 'failed' || end.outcome === 'parked') {
    x.log.warn('a delivery did not arrive whole', {
      deliveryId: delivery.id,
      reason: end.because ?? 'unknown',
      count: end.arrived,
    })
  }
  x.wake.kick(put.wakes)
  await settleHere(x, put.reactions)
  return ended
}

function done(note: string): JobOutcome {
  return { outcome: 'done', note }
}

function later(at: number, because: string): JobOutcome {
  return { outcome: 'later', at: at as Instant, because }
}

function failed(because: string): JobOutcome {
  return { outcome: 'failed', because }
}
