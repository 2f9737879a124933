import { unreachable } from '../../lib/assert.js'
import { sha256 } from '../../lib/digest.js'
import { HOUR, MINUTE, SECOND } from '../../lib/time.js'
import type { DeliveryOutcome, PartState } from '../delivery.js'
import type { LookUp, ReadBack, SendReply } from '../channel.js'

/** The provider keeps a uuid for one hour from its first success; we stop ten minutes earlier. */
export const uuidWindowMs = 50 * MINUTE
/** An absence is proved only by pages that reach this far beyond the attempt's end. */
export const lookUpMarginMs = 60 * SECOND
/** A look that fails for want of connection is repeated for so long. */
export const lookPatienceMs = HOUR
/**
 * And at least so often, about eight minutes: after an absence of our own the hour is over before the first look, and
 * one fault of the platform's must not decide.
 */
export const lookTries = 9

/** How one call ended. `absent` and `found` replace `ambiguous` once a look at the chat settled it. */
export type AttemptOutcome = 'taken' | 'ambiguous' | 'refused' | 'later' | 'not-called' | 'absent' | 'found'

export interface AttemptTimes {
  readonly startedAt: number
  /** Null while the call runs, and after a crash until the next run closes it. */
  readonly endedAt: number | null
  readonly outcome: AttemptOutcome | null
}

/** What a decision needs to know of a part. */
export interface PartNow {
  readonly key: string
  readonly state: PartState
  readonly because: string | null
  readonly isFile: boolean
  readonly uploadKey: string | null
  readonly messageId: string | null
  readonly attempts: number
  /** Looks at the chat that failed, since the last one that said something. */
  readonly failedLooks: number
  readonly firstCallAt: number | null
  readonly notBefore: number | null
  readonly settledAt: number | null
  readonly history: readonly AttemptTimes[]
}

export type NextStep =
  | { readonly step: 'skip' }
  | { readonly step: 'stop'; readonly because: 'failed' | 'parked' }
  | { readonly step: 'wait'; readonly until: number; readonly because: string; readonly blocks: boolean }
  | { readonly step: 'upload' }
  | { readonly step: 'send'; readonly uuid: string }
  | { readonly step: 'look-up'; readonly from: number; readonly to: number }
  | { readonly step: 'read-back'; readonly messageId: string }

/** Calls that may have put a message into the chat: without an answer, or with a doubtful one. */
export function doubtsOf(history: readonly AttemptTimes[]): readonly AttemptTimes[] {
  return history.filter((attempt) => attempt.endedAt === null || attempt.outcome === 'ambiguous')
}

/**
 * The key whose beginning is the provider's uuid now. Each proof that nothing arrived begins a new generation (key and
 * number of calls proved absent), because the age of the old uuid can no longer be relied on.
 */
export function keyInUse(key: string, history: readonly AttemptTimes[]): string {
  const absent = history.filter((attempt) => attempt.outcome === 'absent').length
  return absent === 0 ? key : sha256(`${key}\u0000${absent}`)
}

/** The provider's uuid of the next call: 40 hex digits. */
export function uuidOf(key: string, history: readonly AttemptTimes[]): string {
  return keyInUse(key, history).slice(0, 40)
}

/**
 * What to do next with one part.
 *
 * Inside the uuid's window a doubtful call is repeated with the same uuid, which cannot make a second message. After
 * it only a look at the chat decides. A part without doubt has nothing in the chat, so its window has not begun.
 *
 * @param now milliseconds since the epoch
 */
export function nextStep(part: PartNow, now: number): NextStep {
  switch (part.state) {
    case 'superseded':
    case 'verified':
      return { step: 'skip' }
    case 'failed':
    case 'parked':
      return { step: 'stop', because: part.state }
    case 'accepted': {
      if (part.settledAt !== null || part.messageId === null) return { step: 'skip' }
      const wait = waitOf(part, now, false)
      return wait ?? { step: 'read-back', messageId: part.messageId }
    }
    case 'sending':
      // Each run closes what it finds open before it asks: this call belongs to another run.
      return { step: 'wait', until: now + SECOND, because: 'held-elsewhere', blocks: true }
    case 'planned':
    case 'ambiguous': {
      const wait = waitOf(part, now, true)
      if (wait !== null) return wait
      const doubts = doubtsOf(part.history)
      if (doubts.length > 0 && (part.firstCallAt === null || now - part.firstCallAt >= uuidWindowMs)) {
        return { step: 'look-up', ...windowOf(doubts, now) }
      }
      if (part.isFile && part.uploadKey === null) return { step: 'upload' }
      return { step: 'send', uuid: uuidOf(part.key, part.history) }
    }
    default:
      return unreachable(part.state)
  }
}

/** The first step that is due in a delivery, or until when it rests. Parts in order; a part that waits holds the later ones. */
export function nextOfDelivery<P extends PartNow>(
  parts: readonly P[],
  now: number,
):
  | { readonly part: P; readonly step: Exclude<NextStep, { step: 'skip' | 'stop' | 'wait' }> }
  | { readonly part: null; readonly until: number | null; readonly because: string } {
  let until: number | null = null
  let because = 'nothing'
  for (const part of parts) {
    const step = nextStep(part, now)
    if (step.step === 'skip') continue
    if (step.step === 'stop') break
    if (step.step !== 'wait') return { part, step }
    if (until === null || step.until < until) ({ until, because } = step)
    // A part that waits only for its read-back is in the chat already: order cannot suffer.
    if (step.blocks) break
  }
  return { part: null, until, because }
}

/** From the earliest doubtful start to the last doubtful end. */
export function windowOf(doubts: readonly AttemptTimes[], now: number): { readonly from: number; readonly to: number } {
  return {
    from: Math.min(...doubts.map((attempt) => attempt.startedAt)),
    to: Math.max(...doubts.map((attempt) => attempt.endedAt ?? now)),
  }
}

function waitOf(part: PartNow, now: number, blocks: boolean): NextStep | null {
  if (part.notBefore === null) return null
  const early = slotOf(part) === null ? 0 : earlyMs
  if (part.notBefore <= now + early) return null
  return { step: 'wait', until: part.notBefore, because: part.because ?? 'not-before', blocks }
}

/* ---------- answers ---------- */

export type AfterSend =
  | { readonly to: 'accepted'; readonly messageId: string }
  | { readonly to: 'ambiguous'; readonly because: string; readonly at: number }
  /** Refused for good in this form. */
  | { readonly to: 'failed'; readonly because: string }
  /** Refused now, but an earlier call may have arrived. */
  | { readonly to: 'look-up'; readonly because: string }
  | { readonly to: 'later'; readonly because: string; readonly at: number }

/** @param part as it was before this call; its history holds the earlier calls only */
export function afterSend(part: PartNow, reply: SendReply, now: number): AfterSend {
  switch (reply.reply) {
    case 'taken':
      return { to: 'accepted', messageId: reply.messageId }
    case 'ambiguous':
      return { to: 'ambiguous', because: reply.because, at: now + backoffMs(part.key, part.attempts + 1) }
    case 'refused':
      return { to: doubtsOf(part.history).length > 0 ? 'look-up' : 'failed', because: reply.because }
    case 'later':
      return { to: 'later', because: reply.because, at: now + withJitter(reply.retryAfterMs, part.key, now) }
    default:
      return unreachable(reply)
  }
}

export type AfterLookUp =
  | { readonly to: 'accepted'; readonly messageId: string }
  | { readonly to: 'send-anew' }
  | { readonly to: 'failed'; readonly because: string }
  | { readonly to: 'later'; readonly because: string; readonly at: number }
  | { readonly to: 'parked'; readonly because: string }

/**
 * Only a proved absence leads to a new message. A look without connection is repeated for an hour, and not given up
 * before it was tried a number of times.
 *
 * @param refused the reason of an explicit refusal that came after the doubtful calls, or null
 */
export function afterLookUp(part: PartNow, look: LookUp, refused: string | null, now: number): AfterLookUp {
  if (look.looked === 'found') return { to: 'accepted', messageId: look.messageId }
  if (look.looked === 'absent') return refused === null ? { to: 'send-anew' } : { to: 'failed', because: refused }
  switch (look.because) {
    case 'too-early': {
      const covered = windowOf(doubtsOf(part.history), now).to + lookUpMarginMs + SECOND
      return { to: 'later', because: 'look-up-too-early', at: Math.max(covered, now + SECOND) }
    }
    case 'unavailable': {
      const since = lookUpSince(part, refused !== null)
      return isLookOwed(part, since, now)
        ? { to: 'later', because: 'look-up-unavailable', at: now + patience(part) }
        : { to: 'parked', because: 'look-up-unavailable' }
    }
    case 'not-permitted':
    case 'no-content-to-match':
      return { to: 'parked', because: `look-up-${look.because}` }
    default:
      return unreachable(look.because)
  }
}

function isLookOwed(part: PartNow, since: number, now: number): boolean {
  return now - since < lookPatienceMs || part.failedLooks + 1 < lookTries
}

/** When the first useful look at a doubtful part was due. */
function lookUpSince(part: PartNow, refused: boolean): number {
  const covered = windowOf(doubtsOf(part.history), 0).to + lookUpMarginMs
  return refused || part.firstCallAt === null ? covered : Math.max(covered, part.firstCallAt + uuidWindowMs)
}

export type AfterReadBack =
  | { readonly to: 'verified' }
  | { readonly to: 'accepted'; readonly because: string }
  | { readonly to: 'later'; readonly because: string; readonly at: number }

/** A message that was accepted is never sent again, whatever a look at it says. */
export function afterReadBack(part: PartNow, read: ReadBack, now: number): AfterReadBack {
  if (read.found === 'as-sent') return { to: 'verified' }
  if (read.found === 'different') return { to: 'accepted', because: `read-back-${read.because}` }
  if (read.because === 'not-permitted') return { to: 'accepted', because: 'read-back-not-permitted' }
  const ends = part.history.filter((attempt) => attempt.outcome === 'taken' || attempt.outcome === 'found')
  const since = Math.max(0, ...ends.map((attempt) => attempt.endedAt ?? 0))
  if (!isLookOwed(part, since, now)) return { to: 'accepted', because: 'read-back-unavailable' }
  return { to: 'later', because: 'read-back-unavailable', at: now + patience(part) }
}

/** How a delivery stands as a whole; null while something will still be tried. Superseded rows do not count. */
export function outcomeOf(parts: readonly PartNow[]): {
  readonly outcome: DeliveryOutcome | null
  readonly arrived: number
  readonly total: number
  readonly because: string | null
} {
  const counted = parts.filter((part) => part.state !== 'superseded')
  const arrived = counted.filter((part) => part.state === 'verified' || part.state === 'accepted').length
  const broken = counted.find((part) => part.state === 'failed') ?? counted.find((part) => part.state === 'parked')
  const sums = { arrived, total: counted.length, because: broken?.because ?? null }
  if (broken !== undefined) return { outcome: broken.state === 'failed' ? 'failed' : 'parked', ...sums }
  if (counted.some((part) => part.settledAt === null)) return { outcome: null, ...sums }
  return { outcome: counted.every((part) => part.state === 'verified') ? 'verified' : 'accepted', ...sums }
}

/** Whether a failure lies in the place, so that no other words would reach it, and not in what was to be said. */
export function isPlaceAtFault(because: string): boolean {
  return /^(upload-)?(target-gone|not-permitted|cannot-reply-here|configuration)$/.test(because)
}

/* ---------- waits ---------- */

/** So much before its slot a call may go: less than a job costs. */
export const earlyMs = 50
/** A slot may be used so long after its start; later than that it is given up once. */
export const lateMs = 250
const lateAgainMs = 5 * SECOND

/** A slot that is kept for a part: of everything that the call needs, or of the levels up to one. */
export interface Slot {
  readonly kept: 'all' | number
  /** It was late once already: a slow queue must not lose its slots for ever. */
  readonly again: boolean
}

export function slotText(slot: Slot): string {
  return `slot-${slot.kept}${slot.again ? '-again' : ''}`
}

export function slotOf(part: Pick<PartNow, 'because'>): Slot | null {
  const match = /^slot-(\d|all)(-again)?$/.exec(part.because ?? '')
  return match === null ? null : { kept: match[1] === 'all' ? 'all' : Number(match[1]), again: match[2] !== undefined }
}

/** What is still held for the call: nothing, all of it, or the levels up to one; and how a new slot is to be marked. */
export function slotNeed(
  part: Pick<PartNow, 'because' | 'notBefore'>,
  now: number,
): { readonly held: 'none' | 'all' | number; readonly again: boolean } {
  const slot = slotOf(part)
  if (slot === null || part.notBefore === null) return { held: 'none', again: false }
  const fresh = now - part.notBefore <= (slot.again ? lateAgainMs : lateMs)
  return fresh ? { held: slot.kept, again: slot.again } : { held: 'none', again: true }
}

/** 1 s, 2 s, 4 s … 2 min, each up to a quarter longer: parts that failed together do not come back together. */
export function backoffMs(key: string, attempt: number): number {
  return withJitter(Math.min(SECOND * 2 ** Math.min(attempt - 1, 10), 2 * MINUTE), key, attempt)
}

function withJitter(ms: number, key: string, turn: number): number {
  const share = parseInt(sha256(`${key}\u0000${turn}`).slice(0, 4), 16) / 0xffff
  return Math.round(ms * (1 + share / 4))
}

/** 2 s, 4 s, 8 s … 10 min, each up to a quarter longer. */
function patience({ key, failedLooks }: PartNow): number {
  return withJitter(Math.min(2 * SECOND * 2 ** Math.min(failedLooks, 10), 10 * MINUTE), key, failedLooks)
}
