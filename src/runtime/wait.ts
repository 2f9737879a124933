/** Waits `ms` milliseconds, or less when `signal` aborts. Says whether the whole time passed. */
export function wait(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false)
    const onAbort = (): void => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve(true)
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** Resolves when `signal` aborts; at once if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** The value, or `late` when it takes longer than `ms`. The promise itself goes on. */
export async function within<T, L>(ms: number, value: Promise<T>, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<L>((resolve) => (timer = setTimeout(() => resolve(late), ms)))
  try {
    return await Promise.race([value, timeUp])
  } finally {
    clearTimeout(timer)
  }
}
