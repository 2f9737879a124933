import { must, unreachable } from '../lib/assert.js'
import { MINUTE, SECOND } from '../lib/time.js'
import {
  afterLookUp,
  afterReadBack,
  afterSend,
  backoffMs,
  doubtsOf,
  earlyMs,
  nextStep,
  slotNeed,
  slotText,
  windowOf,
  type AfterSend,
  type NextStep,
} from '../collab/decide/send.js'
import { uploadTries } from '../collab/decide/restate.js'
import type { Channel, LookUp, PartToSend, SendReply } from '../collab/channel.js'
import type { Instant } from '../collab/refs.js'
import type { DeliveryRow } from '../stores/deliveries/deliveries.js'
import {
  endAttempt,
  isOtherPart,
  movePart,
  putForms,
  settleDoubts,
  type OtherRow,
  type PartChange,
  type PartRow,
} from '../stores/deliveries/parts.js'
import type { SqlLike } from '../stores/db.js'
import { apiPace, holdKey, holdUntil, rankOf, sendPace, takeRest, type PacedApi } from '../stores/pacing/pacing.js'
import type { Exchange } from './deps.js'
import { beginInTurn, waitsForOthers } from './in-turn.js'
import { answeredMessage, formsOf } from './restate.js'

/** A call that was written down but not made within this time is not made at all: others may have judged it lost. */
const callAgeMs = 10 * SECOND

/** Lark: message/create. The other limits are those of the whole app. */
const CHAT_LIMIT = 230020
/** A longer wait is a used-up quota: each message finds out for itself whether it is lifted. */
const LONGEST_HOLD_MS = 2 * MINUTE

/** `moved`: read the parts again. `lost`: another run holds the delivery; every later write of this one is refused. */
export type StepEnd = 'moved' | 'lost'

/**
 * One step of one part: persist the attempt, call, persist the locator; or read back, look up, upload.
 *
 * Each answer is recorded before anything else happens, and each state that a crash can leave says by itself what
 * comes next (`nextStep`). What is refused for good is superseded by its other form where it has one.
 *
 * @source delivery.md Out 3, 4, 5, 7; Lark: message/create (uuid)
 */
export async function takeStep(
  x: Exchange,
  channel: Channel,
  delivery: DeliveryRow,
  part: PartRow,
  step: Exclude<NextStep, { step: 'skip' | 'stop' | 'wait' }>,
): Promise<StepEnd> {
  switch (step.step) {
    case 'upload':
      return upload(x, channel, delivery, part)
    case 'send':
      return send(x, channel, delivery, part, step.uuid)
    case 'look-up':
      return lookUp(x, channel, delivery, part, step, null)
    case 'read-back':
      return readBack(x, channel, delivery, part, step.messageId)
    default:
      return unreachable(step)
  }
}

async function send(
  x: Exchange,
  channel: Channel,
  delivery: DeliveryRow,
  part: PartRow,
  uuid: string,
): Promise<StepEnd> {
  if (await waitsForOthers(x, delivery, part)) return 'moved'
  if (!(await slotFor(x, delivery, part, 'send'))) return 'moved'
  const hangs = part.detached && delivery.route.threadId !== null
  const threadRoot = hangs ? ((await answeredMessage(x, delivery))?.rootId ?? null) : null
  const id = x.newId()
  const startedAt = x.clock.now()
  // A run that was held up since it decided may find the uuid's window closed: then only a look at the chat decides.
  const again = nextStep(part, startedAt)
  if (again.step !== 'send' || again.uuid !== uuid) return 'moved'
  const begun = await beginInTurn(x, delivery, part, { id, by: x.holder, now: startedAt })
  if (begun !== 'begun') return begun === 'lost' ? 'lost' : 'moved'
  const late = x.clock.now() - startedAt > callAgeMs
  const reply: SendReply | 'not-called' = late
    ? 'not-called'
    : await channel.send({ ...toSend(channel, delivery, part, uuid), threadRoot })
  const now = x.clock.now()
  const doubts = doubtsOf(part.history).length > 0
  if (reply === 'not-called') {
    const end = { id, outcome: 'not-called', code: null, detail: 'the run was held up before the call', now } as const
    const change = { ...still(part, doubts), because: 'not-called', counts: false }
    return (await endAttempt(x.db.sql, part, end, change)) ? 'moved' : 'lost'
  }
  const after = afterSend(part, reply, now)
  const end = {
    id,
    outcome: reply.reply,
    code: reply.reply === 'taken' ? null : reply.code,
    detail: reply.reply === 'refused' ? reply.detail : reply.reply === 'taken' ? null : reply.because,
    now,
  }
  if (reply.reply === 'later' && reply.because === 'rate-limit') await holdAll(x, delivery, reply, now)
  const change = changeOf(part, after, doubts, now)
  if (after.to === 'failed') {
    const forms = await formsOf(x, channel, delivery, part, after.because)
    return await superseded(x, part, forms, (tx, state) => endAttempt(tx, part, end, { ...change, state }))
  }
  if (!(await endAttempt(x.db.sql, part, end, change))) return 'lost'
  if (after.to === 'look-up') {
    const held = { ...part, state: 'ambiguous' } as const
    return lookUp(x, channel, delivery, held, windowOf(doubtsOf(part.history), now), after.because)
  }
  return 'moved'
}

/** A refusal and what stands for the part from now on, in one transaction; without another form it has failed. */
async function superseded(
  x: Exchange,
  part: PartRow,
  forms: readonly OtherRow[],
  refuse: (tx: SqlLike, state: 'failed' | 'superseded') => Promise<boolean>,
): Promise<StepEnd> {
  return await x.db.tx(async (tx) => {
    if (!(await refuse(tx, forms.length === 0 ? 'failed' : 'superseded'))) return 'lost'
    if (forms.length > 0) await putForms(tx, part, forms)
    return 'moved'
  })
}

function changeOf(part: PartRow, after: AfterSend, doubts: boolean, now: number): PartChange {
  switch (after.to) {
    case 'accepted':
      return { ...still(part, true), state: 'accepted', messageId: after.messageId }
    case 'ambiguous':
      return { ...still(part, true), state: 'ambiguous', because: after.because, notBefore: after.at }
    case 'failed':
      return { ...still(part, doubts), state: 'failed', because: after.because, settledAt: now }
    case 'look-up':
      return { ...still(part, doubts), because: after.because }
    case 'later':
      return { ...still(part, doubts), because: after.because, notBefore: after.at, counts: false }
    default:
      return unreachable(after)
  }
}

/** A part that has no answer yet: doubtful when an earlier call may have arrived, planned otherwise. */
function still(part: PartRow, doubts: boolean): PartChange {
  return {
    state: doubts ? 'ambiguous' : 'planned',
    because: null,
    notBefore: null,
    messageId: part.messageId,
    settledAt: null,
    counts: true,
    windowOpen: doubts,
  }
}

/** Looks for what became of doubtful calls. `refused`: the reason of a refusal that came after them. */
async function lookUp(
  x: Exchange,
  channel: Channel,
  delivery: DeliveryRow,
  part: PartRow,
  window: { readonly from: number; readonly to: number },
  refused: string | null,
): Promise<StepEnd> {
  if (refused === null && !(await slotFor(x, delivery, part, 'get'))) return 'moved'
  const from = window.from as Instant
  const to = window.to as Instant
  let look: LookUp = await channel.lookUp(toSend(channel, delivery, part, null), part.plain, { from, to })
  if (look.looked === 'found' && (await isOtherPart(x.db.sql, part, look.messageId))) {
    look = { looked: 'incomplete', because: 'no-content-to-match' }
  }
  const now = x.clock.now()
  const after = afterLookUp(part, look, refused, now)
  if (after.to === 'failed') {
    const forms = await formsOf(x, channel, delivery, part, after.because)
    return await superseded(x, part, forms, async (tx, state) => {
      const to = { state, because: after.because, notBefore: null, settledAt: now }
      if (!(await movePart(tx, part, part.state, to))) return false
      await settleDoubts(tx, part, 'absent', 'proved absent from the chat')
      return true
    })
  }
  return x.db.tx(async (tx) => {
    const move = (to: Parameters<typeof movePart>[3]) => movePart(tx, part, part.state, to)
    const clear = { because: null, notBefore: null, looked: 'well' } as const
    let moved: boolean
    switch (after.to) {
      case 'accepted':
        moved = await move({ ...clear, state: 'accepted', messageId: after.messageId })
        if (moved) await settleDoubts(tx, part, 'found', 'found in the chat')
        break
      case 'send-anew':
        moved = await move({ ...clear, state: 'planned' })
        if (moved) await settleDoubts(tx, part, 'absent', 'proved absent from the chat')
        break
      case 'later':
        moved = await move({
          state: 'ambiguous',
          because: after.because,
          notBefore: after.at,
          looked: after.because === 'look-up-unavailable' ? 'in-vain' : 'well',
        })
        break
      case 'parked':
        moved = await move({ ...clear, state: 'parked', because: after.because, settledAt: now })
        break
      default:
        return unreachable(after)
    }
    return moved ? 'moved' : 'lost'
  })
}

async function readBack(
  x: Exchange,
  channel: Channel,
  delivery: DeliveryRow,
  part: PartRow,
  messageId: string,
): Promise<StepEnd> {
  if (!(await slotFor(x, delivery, part, 'get'))) return 'moved'
  const read = await channel.readBack(messageId, toSend(channel, delivery, part, null), part.plain)
  const now = x.clock.now()
  const after = afterReadBack(part, read, now)
  if (after.to === 'accepted') {
    x.log.warn('a message was accepted and not verified', {
      deliveryId: part.delivery,
      messageId,
      reason: after.because,
    })
  }
  const moved = await movePart(x.db.sql, part, 'accepted', {
    state: after.to === 'verified' ? 'verified' : 'accepted',
    because: after.to === 'verified' ? null : after.because,
    notBefore: after.to === 'later' ? after.at : null,
    looked: after.to === 'later' ? 'in-vain' : 'well',
    ...(after.to === 'later' ? {} : { settledAt: now }),
  })
  return moved ? 'moved' : 'lost'
}

/** Only the message call is visible: a doubtful upload is simply repeated. The key is stored before that call. */
async function upload(x: Exchange, channel: Channel, delivery: DeliveryRow, part: PartRow): Promise<StepEnd> {
  if (!(await slotFor(x, delivery, part, 'upload'))) return 'moved'
  const file = must(part.file, 'the file of a file part')
  const bytes = { [Symbol.asyncIterator]: () => x.artifacts.read(file.digest)[Symbol.asyncIterator]() }
  const reply = await channel.upload(part, bytes)
  const now = x.clock.now()
  const clear = { state: part.state, because: null, notBefore: null }
  const move = async (to: Partial<Parameters<typeof movePart>[3]>): Promise<StepEnd> =>
    (await movePart(x.db.sql, part, part.state, { ...clear, ...to })) ? 'moved' : 'lost'
  if ('upload' in reply) return await move({ uploadKey: reply.key })
  const because = reply.reply === 'later' ? reply.because : `upload-${reply.because}`
  if (reply.reply === 'later') return await move({ because, notBefore: now + reply.retryAfterMs })
  if (reply.reply === 'ambiguous' && part.attempts + 1 < uploadTries) {
    return await move({ because, notBefore: now + backoffMs(part.key, part.attempts + 1), tried: 1 })
  }
  const forms = await formsOf(x, channel, delivery, part, because)
  x.log.warn('a file was not taken', { deliveryId: delivery.id, reason: because, code: reply.code ?? 0 })
  const to = { because, notBefore: null, settledAt: now }
  return await superseded(x, part, forms, (tx, state) => movePart(tx, part, part.state, { ...to, state }))
}

/** True: the call may go now. False: its slot is kept on the part and survives a restart; nobody waits for it here. */
async function slotFor(x: Exchange, delivery: DeliveryRow, part: PartRow, api: PacedApi): Promise<boolean> {
  if (!x.settings.pacing) return true
  const { route, causeKind } = delivery
  const now = x.clock.now()
  const need = slotNeed(part, now)
  const pace = api === 'send' ? sendPace(route.bot, route.chatId, rankOf[causeKind]) : apiPace(route.bot, api)
  const slot = await takeRest(x.db.sql, pace, need.held, now)
  if (slot.startAt <= now + earlyMs) return true
  const because = slotText({ kept: slot.held, again: need.again })
  await movePart(x.db.sql, part, part.state, { state: part.state, because, notBefore: slot.startAt })
  return false
}

/** What the platform says of one message holds for all that need the same, in every worker. */
async function holdAll(
  x: Exchange,
  { route }: DeliveryRow,
  reply: Extract<SendReply, { readonly reply: 'later' }>,
  now: number,
): Promise<void> {
  if (!x.settings.pacing || reply.retryAfterMs > LONGEST_HOLD_MS) return
  const what = reply.code === CHAT_LIMIT ? { chatId: route.chatId } : ({ api: 'send' } as const)
  await holdUntil(x.db.sql, [holdKey(route.bot, what)], now + reply.retryAfterMs)
}

function toSend(channel: Channel, delivery: DeliveryRow, part: PartRow, uuid: string | null): PartToSend {
  const content = part.uploadKey === null ? part.content : channel.withUpload(part, part.uploadKey)
  const route = part.detached ? { ...delivery.route, replyTo: null } : delivery.route
  return { route, msgType: part.msgType, content, uuid }
}
