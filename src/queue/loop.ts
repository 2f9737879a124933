import type { Changes } from './once.js'
import { within } from './within.js'

export interface Loop {
  /** No round begins any more; one under way is waited for, at most `limitMs`. */
  stop(limitMs: number): Promise<void>
}

/** Runs a round, waits `everyMs`, runs the next: rounds never overlap, and one that fails does not end the loop. */
export function every(everyMs: number, changes: Changes, round: () => Promise<void>): Loop {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let current: Promise<void> = Promise.resolve()

  async function one(): Promise<void> {
    try {
      await round()
      changes.worked()
    } catch (error) {
      if (!stopped) changes.failed(error)
    }
    next()
  }
  function next(): void {
    if (!stopped) timer = setTimeout(() => void (current = one()), everyMs)
  }
  next()

  return {
    async stop(limitMs) {
      stopped = true
      clearTimeout(timer)
      await within(limitMs, 'a last round', () => current).catch(() => {})
    },
  }
}
