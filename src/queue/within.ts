/** No single word with the queue's server may take longer; a client that never was connected would wait for ever. */
export const CALL_LIMIT_MS = 5_000

/**
 * Waits for a call at most `limitMs`, then fails with a `QueueTimeout`. The call itself goes on: whatever it still
 * does is harmless (a job that already exists is ignored), and its late failure is swallowed.
 */
export async function within<T>(limitMs: number, what: string, call: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const called = call()
  called.catch(() => {})
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new QueueTimeout(`${what} took longer than ${limitMs} ms`)), limitMs)
  })
  try {
    return await Promise.race([called, limit])
  } finally {
    clearTimeout(timer)
  }
}

export class QueueTimeout extends Error {
  override readonly name = 'QueueTimeout'
}
