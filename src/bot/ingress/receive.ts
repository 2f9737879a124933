import type { IncomingEvent, IncomingMessage } from '../../collab/message.js'
import type { BotIdentity } from '../../collab/channel.js'
import type { Meter } from '../../collab/ports.js'
import type { BotId, Instant } from '../../collab/refs.js'
import type { Logger } from '../../lib/log.js'
import type { Clock } from '../../lib/time.js'
import { Fields } from './content/read.js'
import { readEvent } from './event.js'
import { answerPress, type Act, type Answer } from './press.js'
import { judgeAuthority } from './principal.js'
import { storable } from '../../lib/storable.js'

export type Door = 'webhook' | 'websocket'

/** Stores one event once, with its wake and the receipt's row; throws when the store cannot be reached. */
export type Take = (event: IncomingEvent, door: Door) => Promise<{ readonly outcome: 'stored' | 'duplicate' }>

/** A press on a card is answered with more than that it is stored. */
export type Received = 'stored' | 'duplicate' | 'malformed' | { readonly answer: Answer }

export type Receive = (envelope: unknown, door: Door) => Promise<Received>

/** Which chats of this bot are wider than the default; read for each event, so a change counts at once. */
export interface ChatPolicy {
  readonly groupsOpen: ReadonlySet<string>
  readonly atAllChats: ReadonlySet<string>
  readonly botChats: ReadonlySet<string>
}

export interface ReceiveParts {
  readonly bot: BotId
  readonly identity: () => BotIdentity | null
  readonly policy: () => ChatPolicy
  readonly take: Take
  /** Carries out a press; absent: presses are only stored. */
  readonly press?: Act
  readonly log: Logger
  readonly meter: Meter
  readonly clock: Clock
}

/** How many names of unknown tags one process remembers, so that each is logged once. */
const REMEMBERED = 500

/** The one path behind both doors: normalise, judge, store. It returns when the event is stored, not before. */
export function createReceive(parts: ReceiveParts): Receive {
  const { bot, log, meter, clock } = parts
  const noted = new Set<string>()

  function noteUnknown(event: IncomingEvent): void {
    if (event.kind !== 'message') return
    for (const name of event.message.unknown) {
      if (noted.has(name) || noted.size >= REMEMBERED) continue
      noted.add(name)
      log.warn('unknown content, shown as its text', { reason: name, messageId: event.message.messageId })
    }
  }

  return async (envelope, door) => {
    const from = clock.now()
    const self = parts.identity()
    const policy = parts.policy()
    const judge = (message: IncomingMessage) => judgeAuthority(message, { self, ...policy })
    const reading = readEvent(envelope, { bot, self, now: from, judge })
    if (reading.read === 'malformed') {
      log.warn('event refused: malformed', { reason: reading.field, ...idOf(envelope) })
      return 'malformed'
    }
    const event = storable(reading.event)
    if (event === undefined) {
      log.warn('event refused: malformed', { reason: 'nested too deep', ...idOf(envelope) })
      return 'malformed'
    }
    noteUnknown(event)
    const { outcome } = await parts.take(event, door)
    meter.lastEvent(clock.now() as Instant)
    log.debug('event taken', {
      eventId: event.eventId,
      reason: `${event.eventType} ${outcome}`,
      ms: clock.now() - from,
      ...(event.kind === 'message' ? { messageId: event.message.messageId, chatId: event.message.chatId } : {}),
    })
    if (event.kind === 'card-action' && parts.press !== undefined) {
      return { answer: await answerPress(parts.press, event, log) }
    }
    return outcome
  }
}

/** What the platform calls an event that we could not read: only what is surely an id, never other content. */
function idOf(envelope: unknown): { readonly eventId?: string } {
  const fields = new Fields(envelope)
  const eventId = fields.object('header').string('event_id') || fields.string('uuid')
  return /^[A-Za-z0-9_-]{1,64}$/.test(eventId) ? { eventId } : {}
}
