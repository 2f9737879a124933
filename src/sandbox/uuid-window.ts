import { HOUR, type Clock } from '../lib/time.js'

/**
 * Equal uuid: at most one success per hour, by uuid alone, whatever the target or the content.
 * A later duplicate gets the first message; one that comes while the first is still being worked on gets 230049.
 * Source: message/create, message/reply; that a duplicate answers code 0 is reported, not documented.
 */
export interface UuidWindow {
  /** The message sent with this uuid within the hour. */
  sent(uuid: string): string | undefined
  remember(uuid: string, messageId: string): void
  /** False when a call with the uuid is in flight. */
  enter(uuid: string): boolean
  leave(uuid: string): void
}

export function createUuidWindow(clock: Clock): UuidWindow {
  const done = new Map<string, { readonly messageId: string; readonly at: number }>()
  const inFlight = new Set<string>()
  return {
    sent(uuid) {
      const first = done.get(uuid)
      return first !== undefined && clock.now() - first.at < HOUR ? first.messageId : undefined
    },
    remember: (uuid, messageId) => void done.set(uuid, { messageId, at: clock.now() }),
    enter(uuid) {
      if (inFlight.has(uuid)) return false
      inFlight.add(uuid)
      return true
    },
    leave: (uuid) => void inFlight.delete(uuid),
  }
}
