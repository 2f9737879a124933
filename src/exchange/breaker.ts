import { HOUR, MINUTE } from '../lib/time.js'
import type { Channel, ReactReply } from '../collab/channel.js'

/**
 * Stops the decoration calls of one bot while they can only be refused, so that they cost no quota; answers are not
 * asked. In this process only: a restart tries once more.
 */
export interface Breaker {
  /** Until when no reaction call is made; null while they are allowed. */
  openUntil(now: number): number | null
  heard(reply: ReactReply | { readonly reaction: 'removed' }, now: number): void
}

const quotaMs = HOUR
const permissionMs = 10 * MINUTE
/** One chat may refuse us for reasons of its own; several in a row are a missing scope. */
const permissionLimit = 3

const breakers = new WeakMap<Channel, Breaker>()

export function breakerOf(channel: Channel): Breaker {
  const known = breakers.get(channel)
  if (known !== undefined) return known
  const made = makeBreaker()
  breakers.set(channel, made)
  return made
}

function makeBreaker(): Breaker {
  let until = 0
  let denied = 0
  return {
    openUntil: (now) => (until > now ? until : null),
    heard(reply, now) {
      if (reply.reaction === 'placed' || reply.reaction === 'removed') denied = 0
      if (reply.reaction !== 'refused') return
      if (reply.because === 'quota') until = now + quotaMs
      if (reply.because === 'not-permitted') {
        denied += 1
        // Once open, one call after the pause decides again.
        if (denied >= permissionLimit) until = now + permissionMs
      }
    },
  }
}
