import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../lib/time.js'

/* The one door through which time and chance come in. */

export const systemClock: Clock = { now: () => Date.now() }
export const newId = (): string => randomUUID()
/** 32 random bytes, for tokens and cookies. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Calls `work` again and again; a call that is still running is not overlapped, a fault is left to the next call. */
export function every(ms: number, work: () => Promise<void>): () => void {
  let running = false
  const timer = setInterval(() => {
    if (running) return
    running = true
    work()
      .catch(() => {})
      .finally(() => {
        running = false
      })
  }, ms)
  timer.unref()
  return () => clearInterval(timer)
}
