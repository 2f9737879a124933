import { earlyMs } from '../collab/decide/send.js'
import type { Channel } from '../collab/channel.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { IncomingMessage, TurnAuthority } from '../collab/message.js'
import type { BotId, Instant } from '../collab/refs.js'
import { DAY, MINUTE, SECOND } from '../lib/time.js'
import { requestOfOrigin } from '../stores/ledger/find.js'
import { apiPace, takeSlot } from '../stores/pacing/pacing.js'
import { dropGap, intakeOf, recordGap, seemsShared, unknownMessages } from '../stores/presence/gaps.js'
import { hear, notePlaceRead, unreadPlaces, type HistoryPlace } from '../stores/presence/places.js'
import { absenceAt, historiesRead, presenceOf, type Presence } from '../stores/presence/presence.js'
import type { Exchange } from './deps.js'
import { GAP_FILL } from './doors.js'
import { conversationIdOf, ingressIdOf } from './ids.js'
import { recall } from './recall.js'
import { take } from './take.js'

/** Places where nothing was heard for so long are left alone. */
const HEARD_WITHIN_MS = 14 * DAY
/** How far back a history is read at most. */
const LOOK_BACK_MS = 7 * DAY
/** What was written shortly before the last reading may have become visible after it. */
const OVERLAP_MS = MINUTE
/** What was just written is on its way through a door: its first push may still be repeated (Lark: after 15 s). */
const ON_ITS_WAY_MS = 20 * SECOND
/** Pages of one place in one go. */
const MOST_PAGES = 40

interface Found {
  readonly message: IncomingMessage
  readonly turnAuthority: TurnAuthority
}

interface Round {
  readonly bot: BotId
  readonly channel: Channel
  readonly presence: Presence
  away: number
  connected: number
}

/**
 * Reads the histories of all known places since each was read last, and takes what no door brought through the same
 * path as an event: stored once, judged the same, and late (delivery In 5). What was found is a fact of its own.
 *
 * Repeatable at any moment: a place is done when its reading is written down, and what is known already is left alone.
 *
 * @returns later while the platform, or our own pace, asks to wait
 * @source delivery In 5; Lark: message/list
 */
export async function fillGaps(x: Exchange, bot: BotId): Promise<JobOutcome> {
  const { sql } = x.db
  const channel = x.channelOf(bot)
  const presence = await presenceOf(sql, bot)
  if (channel === null || presence === null || presence.askedAt === null) return done('nothing asked for')
  const asked = presence.askedAt
  const round: Round = { bot, channel, presence, away: 0, connected: 0 }
  let read = 0
  for (;;) {
    const places = await unreadPlaces(sql, bot, asked, asked - HEARD_WITHIN_MS)
    if (places.length === 0) break
    for (const place of places) {
      const wait = await readPlace(x, round, place)
      if (wait !== null) return { outcome: 'later', at: wait as Instant, because: 'the history makes us wait' }
      read += 1
    }
  }
  await historiesRead(sql, bot, asked)
  await tell(x, round)
  return done(`${read} read, ${round.away + round.connected} found`)
}

const done = (note: string): JobOutcome => ({ outcome: 'done', note })

/** Null when the place is read as far as it can be now; else when to go on. */
async function readPlace(x: Exchange, round: Round, place: HistoryPlace): Promise<number | null> {
  const { sql } = x.db
  const { bot, channel, presence } = round
  const startedAt = x.clock.now()
  // What was written before the door was opened comes by no first push any more.
  const until = Math.max(startedAt - ON_ITS_WAY_MS, Math.min(presence.openedAt, startedAt))
  const since = Math.max(place.readUntil ?? 0, presence.firstAt, startedAt - LOOK_BACK_MS)
  const from = since - OVERLAP_MS
  const threadId = place.threadId === '' ? null : place.threadId
  const ask = {
    place: { chatId: place.chatId, chatType: place.chatType, threadId },
    from: from as Instant,
    until: until as Instant,
  }
  // A topic is read from its newest message back: what it holds is taken when all of it is there.
  const newestFirst: Found[] = []
  let page: string | null = null
  let progress = false
  for (let n = 0; n < MOST_PAGES; n++) {
    if (x.settings.pacing) {
      const slot = await takeSlot(sql, apiPace(bot, 'get'), x.clock.now(), earlyMs)
      if (slot.taken === 'none') return slot.startAt
    }
    const answer = await channel.history({ ...ask, page })
    if (answer.read === 'later') return x.clock.now() + answer.retryAfterMs
    if (answer.read === 'refused') {
      await notePlaceRead(sql, place.id, { readUntil: null, readAt: startedAt, refused: answer.because })
      return null
    }
    const found = answer.messages.filter(({ message }) => message.createTime >= from && message.createTime <= until)
    await hearTopics(x, place, found, since)
    if (threadId === null) await takeFound(x, round, found)
    else newestFirst.push(...found)
    page = answer.next
    const last = found.at(-1)?.message.createTime
    if (page === null) break
    if (threadId === null && last !== undefined) {
      await notePlaceRead(sql, place.id, { readUntil: last, readAt: null, refused: null })
      progress = last > since
    }
  }
  await takeFound(x, round, newestFirst.toReversed())
  // A chat with more pages than that goes on from where it is; a topic could only begin anew.
  const whole = page === null || threadId !== null || !progress
  if (page !== null) x.log.warn('a history has more than is read at once', { chatId: place.chatId })
  if (whole) await notePlaceRead(sql, place.id, { readUntil: until, readAt: startedAt, refused: null })
  return null
}

/** Topics that began in a chat while nobody heard it: their own container holds the replies. */
async function hearTopics(x: Exchange, place: HistoryPlace, found: readonly Found[], since: number): Promise<void> {
  for (const { message } of found) {
    const { threadId, chatId } = message
    if (place.threadId !== '' || threadId === null) continue
    const id = conversationIdOf(message.bot, chatId, threadId)
    const { bot, chatType } = place
    await hear(x.db.sql, { id, bot, chatId, threadId, chatType }, { readUntil: since, heardAt: x.clock.now() })
  }
}

/** Oldest first. Only people count: what bots and the platform itself write is pushed to nobody. */
async function takeFound(x: Exchange, round: Round, found: readonly Found[]): Promise<void> {
  const { sql } = x.db
  const { bot } = round
  for (const { message } of found) if (message.recalled) await takeRecall(x, bot, message)
  const written = found.filter(
    ({ message }) => message.sender.type === 'user' && message.messageType !== 'system' && !message.recalled,
  )
  const unknown = await unknownMessages(
    sql,
    bot,
    written.map(({ message }) => message.messageId),
  )
  for (const { message, turnAuthority } of written) {
    const { messageId, chatId, createTime } = message
    if (!unknown.has(messageId)) continue
    const now = x.clock.now()
    const because = (await absenceAt(sql, bot, createTime, now)) === null ? 'connected' : 'away'
    const ingress = ingressIdOf(bot, messageId)
    await recordGap(sql, { ingress, bot, messageId, chatId, writtenAt: createTime, because }, now)
    const event = {
      bot,
      key: messageId,
      eventId: `history-${messageId}`,
      eventType: 'im.message.receive_v1',
      kind: 'message',
      message,
      turnAuthority,
    } as const
    const { outcome } = await take(x, event, GAP_FILL)
    if (outcome === 'duplicate') {
      await dropGap(sql, ingress)
      continue
    }
    round[because] += 1
    x.log.info('a message was found that no event brought', { messageId, chatId, reason: because })
  }
}

/** Withdrawn while nobody heard it: the same as its event. */
async function takeRecall(x: Exchange, bot: BotId, message: IncomingMessage): Promise<void> {
  const { messageId, chatId } = message
  if ((await requestOfOrigin(x.db.sql, bot, 'lark', messageId)) === null) return
  const id = `history-recalled-${messageId}`
  await recall(x, {
    kind: 'recalled',
    bot,
    key: id,
    eventId: id,
    eventType: 'im.message.recalled_v1',
    messageId,
    chatId,
  })
}

async function tell(x: Exchange, round: Round): Promise<void> {
  if (round.connected === 0) return
  const intake = await intakeOf(x.db.sql, round.bot, x.clock.now())
  if (!seemsShared(intake)) return
  x.log.warn('another process seems to use this app id', {
    count: intake.missed,
    reason: `of ${intake.messages + intake.missed} messages of the last day, so many came by no event`,
  })
}
