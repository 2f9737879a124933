import { must } from '../../../src/lib/assert.js'
import type { IncomingEvent, IncomingMessage } from '../../../src/collab/message.js'
import type { BotIdentity } from '../../../src/collab/channel.js'
import type { Meter } from '../../../src/collab/ports.js'
import type { BotId } from '../../../src/collab/refs.js'
import type { LogFields, Logger } from '../../../src/lib/log.js'
import { toIncomingMessage } from '../../../src/bot/ingress/message.js'
import { rawFromEvent } from '../../../src/bot/ingress/raw.js'
import { createReceive, type ChatPolicy, type Receive, type Take } from '../../../src/bot/ingress/receive.js'
import { sample, sampleBot, sampleSelf, type Envelope } from '../../replay/samples.js'

export const noMeter: Meter = { observe() {}, api() {}, count() {}, lastEvent() {} }

export function messageOf(
  envelope: Envelope,
  bot: BotId = sampleBot,
  self: BotIdentity | null = sampleSelf,
): IncomingMessage {
  const raw = rawFromEvent(envelope.event, 0)
  if (!raw.ok) throw new Error(`malformed: ${raw.field}`)
  return toIncomingMessage(raw.value, { bot, self })
}

/** A sample's message with other content: the content object of the given type. */
export function messageWith(messageType: string, content: unknown, mentions: readonly unknown[] = []): IncomingMessage {
  const base = sample('group_text_no_mention')
  return messageOf({
    ...base,
    event: {
      ...base.event,
      message: {
        ...must(base.event.message, 'message'),
        message_type: messageType,
        content: typeof content === 'string' ? content : JSON.stringify(content),
        mentions,
      },
    },
  })
}

/** A store that remembers each key once, as the real one does. */
export function rememberingTake(): { readonly take: Take; readonly events: IncomingEvent[]; readonly doors: string[] } {
  const events: IncomingEvent[] = []
  const doors: string[] = []
  return {
    events,
    doors,
    take: (event, door) => {
      doors.push(door)
      if (events.some((one) => one.bot === event.bot && one.key === event.key)) {
        return Promise.resolve({ outcome: 'duplicate' })
      }
      events.push(event)
      return Promise.resolve({ outcome: 'stored' })
    },
  }
}

export interface Line {
  readonly level: string
  readonly message: string
  readonly fields: LogFields
}

export function capturingLogger(): { readonly log: Logger; readonly lines: Line[] } {
  const lines: Line[] = []
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields })
    }
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

export function receiveWith(
  take: Take,
  log: Logger,
  identity: () => BotIdentity | null = () => sampleSelf,
  policy: ChatPolicy = { groupsOpen: new Set(), atAllChats: new Set(), botChats: new Set() },
  bot: BotId = sampleBot,
): Receive {
  return createReceive({ bot, identity, policy: () => policy, take, log, meter: noMeter, clock: { now: () => 0 } })
}
