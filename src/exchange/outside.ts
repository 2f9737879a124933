import { decideNoteOutside } from '../collab/decide/record.js'
import { earlyMs } from '../collab/decide/send.js'
import type { Channel } from '../collab/channel.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { IncomingMessage } from '../collab/message.js'
import type { Observation } from '../collab/observation.js'
import type { DeliveryId, Instant, TurnId } from '../collab/refs.js'
import { DAY, MINUTE, SECOND } from '../lib/time.js'
import { deliveryOf, type DeliveryRow } from '../stores/deliveries/deliveries.js'
import { isAnyOpenIn, unsentOf } from '../stores/deliveries/parts.js'
import { factsOf } from '../stores/ledger/read.js'
import { apiPace, takeSlot } from '../stores/pacing/pacing.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { eventIdOf } from './ids.js'

/** How far the platform's clock may stand from ours. */
const SKEW_MS = 2 * SECOND
const MOST_PAGES = 10

/** The upkeep job that looks beside one answer. */
export const outsideJobOf = (delivery: DeliveryId): string => `outside-${delivery}`

/**
 * Looks whether our own app wrote something in the answer's place while its turn ran that no delivery sent: an agent
 * may hold the app's credentials. What is found is a fact of the exchange, and never an answer.
 *
 * A message that may still be a part of ours, whose own answer was lost, is left until that is settled.
 *
 * @returns done, or later while the platform, our pace or an open send asks to wait
 * @source delivery Out 5
 */
export async function findOutside(x: Exchange, id: DeliveryId): Promise<JobOutcome> {
  const delivery = await deliveryOf(x.db.sql, id)
  const channel = delivery === null ? null : x.channelOf(delivery.bot)
  if (delivery?.request == null || channel === null) return done('nothing to look beside')
  const ran = turnOf(await factsOf(x.db.sql, delivery.request), delivery.causeId)
  if (ran === null) return done('no turn of this request gave it')
  const own = await ownMessages(x, channel, delivery, ran)
  if (!Array.isArray(own)) return own
  const unsent = await unsentOf(
    x.db.sql,
    own.map((message) => message.messageId),
  )
  const outside = own.filter((message) => unsent.has(message.messageId))
  if (outside.length === 0) return done('nothing beside it')
  const now = x.clock.now()
  if (await isAnyOpenIn(x.db.sql, delivery.bot, delivery.route.chatId)) {
    return now - ran.until < DAY ? later(now + MINUTE, 'a send of ours is not settled') : done('cannot be told apart')
  }
  for (const message of outside) await note(x, delivery, ran.turn, message)
  return done(`${outside.length} sent outside`)
}

interface Ran {
  readonly turn: TurnId
  readonly from: number
  readonly until: number
}

/** The turn that gave a result, and when it ran. */
function turnOf(facts: readonly Observation[], result: string): Ran | null {
  for (const fact of facts) {
    if (fact.kind !== 'result-committed' || fact.result.id !== result || fact.turn === null) continue
    const { turn } = fact
    const presented = facts.find((one) => one.kind === 'turn-presented' && one.turn === turn)
    return presented === undefined ? null : { turn, from: presented.at, until: fact.at }
  }
  return null
}

/** What our own app wrote in the delivery's place while the turn ran; or why that cannot be said now. */
async function ownMessages(
  x: Exchange,
  channel: Channel,
  delivery: DeliveryRow,
  ran: Ran,
): Promise<IncomingMessage[] | JobOutcome> {
  const { bot, route } = delivery
  const { chatId, chatType, threadId } = route
  const from = (ran.from - SKEW_MS) as Instant
  const until = (ran.until + SKEW_MS) as Instant
  const names = new Set<string>([bot, channel.identity()?.openId ?? bot])
  const own: IncomingMessage[] = []
  let page: string | null = null
  for (let n = 0; n < MOST_PAGES; n++) {
    if (x.settings.pacing) {
      const slot = await takeSlot(x.db.sql, apiPace(bot, 'get'), x.clock.now(), earlyMs)
      if (slot.taken === 'none') return later(slot.startAt, 'pace')
    }
    const read = await channel.history({ place: { chatId, chatType, threadId }, from, until, page })
    if (read.read === 'later') return later(x.clock.now() + read.retryAfterMs, 'the history makes us wait')
    if (read.read === 'refused') return done(`the history cannot be read: ${read.because}`)
    for (const { message } of read.messages) {
      const ours = message.sender.type === 'bot' && names.has(message.sender.openId)
      if (ours && message.createTime >= from && message.createTime <= until) own.push(message)
    }
    page = read.next
    if (page === null) break
  }
  return own
}

/** Once per message, whichever exchange finds it. */
async function note(x: Exchange, delivery: DeliveryRow, turn: TurnId, message: IncomingMessage): Promise<void> {
  const { messageId, messageType, createTime, chatId } = message
  await decideAndCommit(
    x,
    {
      kind: 'note-outside',
      eventId: eventIdOf('sent-outside', delivery.bot, messageId),
      requestId: delivery.request as NonNullable<DeliveryRow['request']>,
      at: x.clock.now() as Instant,
      during: turn,
      message: { id: messageId, type: messageType, writtenAt: createTime },
    } as const,
    decideNoteOutside,
  )
  x.log.warn('our app sent a message that no delivery sent', { messageId, chatId, turnId: turn })
}

const done = (what: string): JobOutcome => ({ outcome: 'done', note: what })
const later = (at: number, because: string): JobOutcome => ({ outcome: 'later', at: at as Instant, because })
