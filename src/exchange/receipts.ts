import { unreachable } from '../lib/assert.js'
import { errorLabel } from '../lib/log.js'
import { DAY, HOUR, SECOND } from '../lib/time.js'
import { earlyMs } from '../collab/decide/send.js'
import type { ReceiptEnd } from '../collab/delivery.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { Channel } from '../collab/channel.js'
import type { WakeRef } from '../collab/ports.js'
import type { BotId, Instant } from '../collab/refs.js'
import type { SqlLike } from '../stores/db.js'
import {
  askEnd,
  moveReaction,
  prepareReaction,
  reactionOf,
  reactionStands,
  type ReactionRow,
} from '../stores/deliveries/reactions.js'
import { apiPace, cleanupPace, takeSlot, type PaceKey } from '../stores/pacing/pacing.js'
import { claimWake, putWake, releaseWake, settleWake } from '../stores/wakes/wakes.js'
import { breakerOf } from './breaker.js'
import type { Exchange } from './deps.js'

export { owedReactions } from '../stores/deliveries/reactions.js'

/** After that a reaction is given up: its own fact, which never touches the delivery. */
const triesFor24h = 32
const placingPatienceMs = DAY

/**
 * Places the receipt of a message, in process, right after the event was stored; the row is `prepared` already. Never
 * throws and never waits: what it cannot do now is done by a `reaction` job, or skipped and counted.
 *
 * @param acceptedAt when the event was stored, in milliseconds since the epoch
 * @source delivery.md In 8, Out 3; Lark: message-reaction/create
 */
export async function placeReceipt(
  x: Exchange,
  receipt: {
    readonly id: string
    readonly bot: BotId
    readonly messageId: string
    readonly chatId: string
    readonly emoji: string
  },
  acceptedAt: number,
): Promise<void> {
  try {
    const channel = x.channelOf(receipt.bot)
    if (channel === null) return
    const row = { id: receipt.id, state: 'prepared', attempts: 0 } as const
    const now = x.clock.now()
    if (breakerOf(channel).openUntil(now) !== null) return await skip(x, row, 'breaker-open')
    const startAt = await slotAt(x, apiPace(receipt.bot, 'react'))
    if (startAt > acceptedAt + x.settings.receiptSlotMs) return await skip(x, row, 'no-slot')
    if (startAt > now + earlyMs) return await tryAt(x, row, 'slot', startAt, 0)
    const end = await place(x, channel, { ...row, messageId: receipt.messageId, emoji: receipt.emoji })
    if (end === 'placed') {
      x.meter.observe('ingress_receipt_seconds', (x.clock.now() - acceptedAt) / SECOND)
    } else if (end !== 'ended') await tryAt(x, row, end.because, end.at, 1)
  } catch (error) {
    // The row without an outcome is found by the sweep, and looked up before it is placed again.
    x.log.warn('a receipt was left to the sweep', { messageId: receipt.messageId, error: errorLabel(error) })
  }
}

/** What is to happen to the reactions of a message, put in the transaction of the fact that ends them. */
export async function askReceiptEnd(
  x: Exchange,
  tx: SqlLike,
  receipt: { readonly bot: BotId; readonly messageId: string; readonly chatId: string; readonly end: ReceiptEnd },
): Promise<readonly WakeRef[]> {
  const { bot, messageId, chatId, end } = receipt
  const now = x.clock.now()
  const ids: string[] = []
  const { receiptPolicy: policy, reactions } = x.settings
  // A retained receipt says "received" for good; only a failure is still added to it.
  const emoji = end === 'withdrawn' || (end === 'done' && policy === 'retain') ? '' : reactions[end]
  if (end !== 'withdrawn' && emoji !== '') {
    const mark = { id: x.newId(), bot, messageId, chatId, purpose: end, emoji, preparedAt: now }
    const id = await prepareReaction(tx, mark)
    if (id !== null) ids.push(id)
  }
  // After the mark: a message is never without any sign in between.
  ids.push(...(await askEnd(tx, { bot, messageId, end, policy, now })))
  const wakes: WakeRef[] = []
  for (const id of ids) wakes.push(await putWake(tx, 'reaction', id, now))
  return wakes
}

/**
 * Ends the receipt of a message as the policy says: the mark first, then the receipt goes. What fails stays owed as a
 * `reaction` wake; nothing here touches the delivery.
 */
export async function endReceipt(
  x: Exchange,
  receipt: { readonly bot: BotId; readonly messageId: string; readonly chatId: string; readonly end: ReceiptEnd },
): Promise<void> {
  const wakes = await x.db.tx((tx) => askReceiptEnd(x, tx, receipt))
  await settleHere(x, wakes)
}

/** Runs `reaction` wakes in this process, under the same claim as a job would. Faults leave the wake for the sweep. */
export async function settleHere(x: Exchange, wakes: readonly WakeRef[]): Promise<void> {
  for (const wake of wakes) {
    try {
      const now = x.clock.now()
      const claim = await claimWake(x.db.sql, 'reaction', wake.subject, x.holder, now, x.settings.holdMs)
      if (!claim.claimed) continue
      const outcome = await settleReaction(x, wake.subject)
      if (outcome.outcome === 'later') {
        const next = await releaseWake(x.db.sql, 'reaction', wake.subject, claim, outcome.at, outcome.because)
        if (next !== null) x.wake.kick([next])
        continue
      }
      const next = await settleWake(x.db.sql, 'reaction', wake.subject, claim, x.clock.now())
      if (next !== null) x.wake.kick([next])
    } catch (error) {
      x.log.warn('a reaction was left to the sweep', { reason: wake.subject, error: errorLabel(error) })
    }
  }
}

/**
 * The `reaction` job: settles one reaction that has no outcome, or removes one whose end was asked for. A doubtful one
 * is looked up before it is placed again; only reactions that we placed are removed.
 *
 * Removal is tried for 24 h, once more if the message is gone.
 */
export async function settleReaction(x: Exchange, id: string): Promise<JobOutcome> {
  const row = await reactionOf(x.db.sql, id)
  if (row === null) return { outcome: 'done', note: 'no such reaction' }
  if (row.state !== 'prepared' && row.state !== 'removing') return { outcome: 'done', note: row.state }
  const now = x.clock.now()
  const channel = x.channelOf(row.bot)
  if (channel === null) return later(now + 30 * SECOND, 'channel-down')
  if (row.nextTryAt !== null && row.nextTryAt > now + earlyMs) return later(row.nextTryAt, row.because ?? 'not-before')
  const open = breakerOf(channel).openUntil(now)
  if (open !== null) return later(open, 'breaker-open')
  const startAt = await slotAt(x, row.state === 'removing' ? cleanupPace(row.bot) : apiPace(row.bot, 'react'))
  if (startAt > now + earlyMs) {
    const tooLate = row.state === 'prepared' && row.purpose === 'received' && row.attempts === 0
    if (!tooLate || startAt <= row.preparedAt + x.settings.receiptSlotMs) return later(startAt, 'slot')
    await skip(x, row, 'no-slot')
    return { outcome: 'done', note: 'skipped' }
  }
  return row.state === 'prepared' ? settlePrepared(x, channel, row) : remove(x, channel, row)
}

async function settlePrepared(x: Exchange, channel: Channel, row: ReactionRow): Promise<JobOutcome> {
  const look = await channel.findReaction(row.messageId, row.emoji)
  if (look.found === 'unknown') return again(x, row, 'look-up-failed')
  if (look.found !== null) {
    await stands(x, row.id, look.found)
    return { outcome: 'done', note: 'placed' }
  }
  const end = await place(x, channel, row)
  if (end === 'placed' || end === 'ended') return { outcome: 'done', note: end }
  return again(x, row, end.because, end.at)
}

type PlaceEnd = 'placed' | 'ended' | { readonly because: string; readonly at: number | null }

async function place(
  x: Exchange,
  channel: Channel,
  row: Pick<ReactionRow, 'id' | 'state' | 'messageId' | 'emoji' | 'attempts'>,
): Promise<PlaceEnd> {
  const reply = await channel.react(row.messageId, row.emoji)
  const now = x.clock.now()
  breakerOf(channel).heard(reply, now)
  switch (reply.reaction) {
    case 'placed':
      await stands(x, row.id, reply.reactionId)
      return 'placed'
    case 'refused':
      await moveReaction(x.db.sql, row, final('refused', reply.because, now))
      x.meter.count('reactions_total', 'refused')
      x.log.warn('a reaction was refused', { messageId: row.messageId, reason: reply.because, code: reply.code ?? 0 })
      return 'ended'
    case 'unknown':
      return { because: 'unknown', at: null }
    case 'later':
      return { because: 'rate-limit', at: now + reply.retryAfterMs }
    default:
      return unreachable(reply)
  }
}

async function stands(x: Exchange, id: string, reactionId: string): Promise<void> {
  const state = await reactionStands(x.db.sql, id, reactionId, x.clock.now())
  x.meter.count('reactions_total', 'placed')
  // Its end was asked for while the call ran; the wake of that end may have run already.
  if (state === 'removing') x.wake.kick([await putWake(x.db.sql, 'reaction', id, x.clock.now())])
}

async function remove(x: Exchange, channel: Channel, row: ReactionRow): Promise<JobOutcome> {
  let reactionId = row.reactionId
  if (reactionId === null) {
    const look = await channel.findReaction(row.messageId, row.emoji)
    if (look.found === 'unknown') return again(x, row, 'look-up-failed')
    if (look.found === null) return removed(x, row, 'not-there')
    reactionId = look.found
  }
  const reply = await channel.unreact(row.messageId, reactionId)
  breakerOf(channel).heard(reply, x.clock.now())
  if (reply.reaction === 'removed' || reply.reaction === 'placed') return removed(x, row, row.because)
  switch (reply.reaction) {
    case 'refused':
      if (reply.because === 'message-gone' && row.attempts > 0) return removed(x, row, 'message-gone')
      return again(x, row, reply.because)
    case 'unknown':
      return again(x, row, 'unknown')
    case 'later':
      return again(x, row, 'rate-limit', x.clock.now() + reply.retryAfterMs)
    default:
      return unreachable(reply)
  }
}

async function removed(x: Exchange, row: ReactionRow, because: string | null): Promise<JobOutcome> {
  await moveReaction(x.db.sql, row, final('removed', because, x.clock.now()))
  x.meter.count('reactions_total', 'removed')
  return { outcome: 'done', note: 'removed' }
}

/** Tries again with back-off (10 s, doubling up to 1 h), or gives the reaction up after 24 h. */
async function again(x: Exchange, row: ReactionRow, because: string, at: number | null = null): Promise<JobOutcome> {
  const now = x.clock.now()
  const over = row.state === 'prepared' ? now - row.preparedAt > placingPatienceMs : row.attempts + 1 >= triesFor24h
  if (over) {
    const state = row.state === 'prepared' ? 'skipped' : 'cleanup-failed'
    await moveReaction(x.db.sql, row, final(state, because, now))
    x.meter.count('reactions_total', state)
    x.log.warn('a reaction was given up', { messageId: row.messageId, reason: because })
    return { outcome: 'done', note: state }
  }
  const nextTryAt = at ?? now + Math.min(10 * SECOND * 2 ** Math.min(row.attempts, 12), HOUR)
  const waits = { state: row.state, because, nextTryAt, settledAt: null, tried: at === null ? 1 : 0 } as const
  await moveReaction(x.db.sql, row, waits)
  return later(nextTryAt, because)
}

async function skip(x: Exchange, row: Pick<ReactionRow, 'id' | 'state'>, because: string): Promise<void> {
  await moveReaction(x.db.sql, row, final('skipped', because, x.clock.now()))
  x.meter.count('reactions_total', 'skipped')
}

/** Leaves a receipt to a job of its own. */
async function tryAt(
  x: Exchange,
  row: Pick<ReactionRow, 'id' | 'state'>,
  because: string,
  at: number | null,
  tried: 0 | 1,
): Promise<void> {
  const nextTryAt = at ?? x.clock.now() + 10 * SECOND
  const wake = await x.db.tx(async (tx) => {
    const to = { state: row.state, because, nextTryAt, settledAt: null, tried } as const
    return (await moveReaction(tx, row, to)) ? putWake(tx, 'reaction', row.id, nextTryAt) : null
  })
  if (wake !== null) x.wake.kick([wake])
}

/** When a reaction call may start; a slot that is not now is not kept. */
async function slotAt(x: Exchange, pace: readonly PaceKey[]): Promise<number> {
  const now = x.clock.now()
  if (!x.settings.pacing) return now
  return (await takeSlot(x.db.sql, pace, now, earlyMs)).startAt
}

function final(state: ReactionRow['state'], because: string | null, now: number) {
  return { state, because, nextTryAt: null, settledAt: now, tried: 0 } as const
}

function later(at: number, because: string): JobOutcome {
  return { outcome: 'later', at: at as Instant, because }
}
