import { HOUR, MINUTE, SECOND, type Clock } from '../lib/time.js'
import type { Timers } from './timers.js'

/** What became of one push. `answer` is the receiver's body, needed by card callbacks only. */
export type PushOutcome =
  | { readonly pushed: true; readonly answer: string }
  | {
      readonly pushed: false
      readonly because: 'refused' | 'timeout' | 'connection-lost' | 'no-connection' | 'unreachable'
    }

/** A way to hand one body to the receiver: the webhook or the long connection. */
export interface Carrier {
  /** Resolves at the latest 3 s after the call. */
  carry(eventId: string, envelope: object): Promise<PushOutcome>
}

/** Waits between one failed push and the next. Source: event-subscription-guide overview; at most four more pushes. */
export const repushAfter = [15 * SECOND, 5 * MINUTE, 1 * HOUR, 6 * HOUR] as const

export interface PushRecord {
  readonly eventId: string
  readonly eventType: string
  readonly firstPushedAt: number
  /** Pushes made so far. */
  readonly attempts: number
  readonly state: 'pushing' | 'waiting' | 'delivered' | 'given-up'
  readonly lastFailure: string | null
}

/** At-least-once delivery of events: push, wait, push again with the same event id and body. */
export interface Pusher {
  push(envelope: object): void
  records(): readonly PushRecord[]
  /** Resolves when no push is in flight; waits for later pushes are not awaited. */
  settled(): Promise<void>
  close(): void
}

export function createPusher(options: {
  clock: Clock
  timers: Timers
  carrier: Carrier
  /** True: this acknowledgement does not arrive. */
  ackIsLost: () => boolean
}): Pusher {
  const { clock, timers, carrier } = options
  const records = new Set<{ -readonly [K in keyof PushRecord]: PushRecord[K] }>()
  const inFlight = new Set<Promise<void>>()
  const waits = new Set<() => void>()
  let closed = false
  return {
    push(envelope) {
      const { eventId, eventType } = nameOf(envelope)
      const record = { eventId, eventType, firstPushedAt: clock.now(), attempts: 0, ...fresh }
      records.add(record)
      const attempt = (): void => {
        record.attempts += 1
        record.state = 'pushing'
        const flight = carrier.carry(eventId, envelope).then((outcome) => {
          inFlight.delete(flight)
          if (outcome.pushed && !options.ackIsLost()) return void (record.state = 'delivered')
          record.lastFailure = outcome.pushed ? 'connection-lost' : outcome.because
          const wait = repushAfter[record.attempts - 1]
          if (wait === undefined || closed) return void (record.state = 'given-up')
          record.state = 'waiting'
          const cancel = timers.set(() => {
            waits.delete(cancel)
            attempt()
          }, wait)
          waits.add(cancel)
        })
        inFlight.add(flight)
      }
      attempt()
    },
    records: () => [...records].map((record) => ({ ...record })),
    async settled() {
      while (inFlight.size > 0) await Promise.all(inFlight)
    },
    close() {
      closed = true
      for (const cancel of waits) cancel()
      waits.clear()
    },
  }
}

const fresh: Pick<PushRecord, 'state' | 'lastFailure'> = { state: 'pushing', lastFailure: null }

/** Both envelopes: v2.0 keeps its id in `header`, v1.0 calls it `uuid`. */
export function nameOf(envelope: object): { eventId: string; eventType: string } {
  const { header, uuid, event, type } = envelope as {
    header?: { event_id?: string; event_type?: string }
    uuid?: string
    event?: { type?: string }
    type?: string
  }
  return { eventId: header?.event_id ?? uuid ?? '', eventType: header?.event_type ?? event?.type ?? type ?? '' }
}
