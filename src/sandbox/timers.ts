/** Runs `fn` once after `ms` milliseconds; the returned function cancels it. Tests give their own to move time by hand. */
export interface Timers {
  set(fn: () => void, ms: number): () => void
}

/** Real time that never keeps the process alive: an event waiting six hours for its last push must not hold a shutdown. */
export const realTimers: Timers = {
  set(fn, ms) {
    const handle = setTimeout(fn, ms)
    handle.unref()
    return () => clearTimeout(handle)
  },
}

/** Resolves after `ms` on the given timers. */
export function sleep(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.set(resolve, ms))
}
