import type { UpdateReply } from '../collab/channel.js'
import type { Language, NewDelivery } from '../collab/delivery.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import { isOpen } from '../collab/exchange-state.js'
import type { JobOutcome } from '../collab/jobs.js'
import { progressOf, type Progress } from '../collab/project/progress.js'
import type { Instant, RequestId, ReturnRef } from '../collab/refs.js'
import { digestOf } from '../lib/digest.js'
import { DAY, SECOND } from '../lib/time.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { deliveryOf, putDeliveries } from '../stores/deliveries/deliveries.js'
import { partsOf } from '../stores/deliveries/parts.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import {
  closeProgressCard,
  factsSeen,
  noteShown,
  progressCardOf,
  putProgressCard,
  type ProgressCard,
} from '../stores/progress/progress.js'
import { putWake } from '../stores/wakes/wakes.js'
import type { Exchange } from './deps.js'
import { placeOf } from './place.js'
import { sayingOf } from './say.js'

/** Lark: message-card/patch takes five changes a second of one message; a reader needs fewer. */
const BETWEEN_UPDATES_MS = 2 * SECOND
/** Lark: a card can be changed for 14 days; we follow it with a new one a little earlier. */
const CARD_LIFE_MS = 14 * DAY - 60 * 60 * SECOND
const LOOK_AGAIN_MS = 5 * SECOND
/** Children that are read for one card; their facts stand on the page of the request. */
const CHILDREN_SHOWN = 8

/**
 * Brings the one live card of a request to what the facts say: the first when an answer takes long, a change when a
 * fact changed, the last when it has ended. A card that cannot be changed is left; nothing of the answer hangs on it.
 *
 * @source delivery Out 6
 */
export async function showProgress(x: Exchange, id: RequestId): Promise<JobOutcome> {
  const { sql } = x.db
  const card = await progressCardOf(sql, id)
  if (card !== null && card.closedAt !== null) return done('closed')
  // Counted before the facts are read: what comes meanwhile is seen by the next look.
  const seen = await factsSeen(sql, id)
  const state = await stateOfRequest(sql, id)
  const place = state.request === null ? null : placeOf(state.request)
  if (state.request === null || place === null) return done('nobody waits in a chat')
  const progress = progressOf(state, await childrenOf(x, state))
  const language = (await conversationOf(sql, state.request.conversation))?.language ?? 'en'
  const view: View = { id, conversation: state.request.conversation, place, progress, language, seen }
  if (card === null) return isOver(progress) ? done('nothing to show') : await firstCard(x, view, 1)
  return await changeCard(x, view, card)
}

interface View {
  readonly id: RequestId
  readonly conversation: string
  readonly place: ReturnRef
  readonly progress: Progress
  readonly language: Language
  readonly seen: number
}

const done = (note: string): JobOutcome => ({ outcome: 'done', note })
const isOver = ({ state }: Progress): boolean => state === 'done' || state === 'failed' || state === 'cancelled'

async function childrenOf(x: Exchange, state: ExchangeState): Promise<ReadonlyMap<RequestId, ExchangeState>> {
  const open = [...state.children].flatMap(([child, known]) => (isOpen(known) ? [child] : [])).slice(0, CHILDREN_SHOWN)
  return new Map(await Promise.all(open.map(async (child) => [child, await stateOfRequest(x.db.sql, child)] as const)))
}

async function firstCard(x: Exchange, view: View, generation: number): Promise<JobOutcome> {
  const now = x.clock.now()
  const delivery = deliveryOfCard(view, generation, now)
  const wake = await x.db.tx(async (tx) => {
    const put = await putProgressCard(tx, {
      request: view.id,
      delivery: delivery.id,
      generation,
      shown: digestOf(view.progress),
      seen: view.seen,
      openedAt: now,
      updatedAt: now,
    })
    if (!put) return null
    await putDeliveries(tx, [delivery])
    return await putWake(tx, 'deliver', delivery.id, now)
  })
  if (wake !== null) x.wake.kick([wake])
  return done(wake === null ? 'another run has shown it' : 'shown')
}

function deliveryOfCard(view: View, generation: number, now: number): NewDelivery {
  return sayingOf(
    {
      causeKind: 'progress',
      causeId: `progress-${view.id}-${generation}`,
      route: view.place,
      notice: noticeOf(view),
      language: view.language,
      endsReceipt: null,
      request: view.id,
    },
    now,
  )
}

const noticeOf = (view: View) =>
  ({ kind: 'progress', progress: view.progress, conversation: view.conversation }) as const

async function changeCard(x: Exchange, view: View, card: ProgressCard): Promise<JobOutcome> {
  const { sql } = x.db
  const now = x.clock.now()
  const shown = digestOf(view.progress)
  const note = { request: view.id, generation: card.generation, shown, seen: view.seen, updatedAt: card.updatedAt }
  const delivery = await deliveryOf(sql, card.delivery)
  const messageId = (await partsOf(sql, card.delivery)).find((part) => part.messageId !== null)?.messageId ?? null
  if (messageId === null) {
    if (delivery?.outcome !== 'failed' && delivery?.outcome !== 'parked') return again(now, 'the card is on its way')
    await closeProgressCard(sql, view.id, 'not-sent', now)
    return done('the card could not be sent')
  }
  if (shown === card.shown) {
    await noteShown(sql, note)
    if (isOver(view.progress)) await closeProgressCard(sql, view.id, 'ended', now)
    return done('says it already')
  }
  if (now - card.updatedAt < BETWEEN_UPDATES_MS) {
    return { outcome: 'later', at: (card.updatedAt + BETWEEN_UPDATES_MS) as Instant, because: 'changed just now' }
  }
  if (now - card.openedAt >= CARD_LIFE_MS) return await followWithNew(x, view, card)
  const channel = x.channelOf(view.place.bot)
  if (channel === null) return again(now, 'the bot is not known here')
  const [part] = await channel.plan({ kind: 'notice', notice: noticeOf(view), language: view.language }, view.place)
  const reply: UpdateReply =
    part?.msgType === 'interactive'
      ? await channel.update(messageId, part.content)
      : { update: 'refused', because: 'not-accepted' }
  switch (reply.update) {
    case 'done':
      await noteShown(sql, { ...note, updatedAt: now })
      if (isOver(view.progress)) await closeProgressCard(sql, view.id, 'ended', now)
      return done('changed')
    case 'later':
      return { outcome: 'later', at: (now + reply.retryAfterMs) as Instant, because: 'rate-limit' }
    case 'unknown':
      // The same change again has no further effect.
      return again(now, 'no answer')
    case 'refused':
      if (reply.because === 'too-old') return await followWithNew(x, view, card)
      await closeProgressCard(sql, view.id, 'refused', now)
      return done(`the card cannot be changed (${reply.because})`)
  }
}

/** A card of that age is not followed by one that only says the end: the answer itself says it. */
async function followWithNew(x: Exchange, view: View, card: ProgressCard): Promise<JobOutcome> {
  if (!isOver(view.progress)) return await firstCard(x, view, card.generation + 1)
  await closeProgressCard(x.db.sql, view.id, 'ended', x.clock.now())
  return done('ended')
}

const again = (now: number, because: string): JobOutcome => ({
  outcome: 'later',
  at: (now + LOOK_AGAIN_MS) as Instant,
  because,
})
