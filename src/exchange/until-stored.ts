import { isConnectionLost } from '../stores/db.js'
import type { Exchange } from './deps.js'

/** How long an answer in hand is kept for a database that is away. */
const TRIES = 60
const PAUSE_MS = 1_000

/**
 * Stores what exists only in this process, such as an answer that a model just gave: a database that is away for a
 * moment must not cost a second run of the model. The command keeps its event id, so that a try whose reply was lost
 * is the same command.
 *
 * @throws what the store throws when it is still away after a minute, or when the run is being stopped
 */
export async function untilStored<T>(
  x: Pick<Exchange, 'every'>,
  signal: AbortSignal,
  store: () => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await store()
    } catch (error) {
      if (!isConnectionLost(error) || signal.aborted || tried >= TRIES) throw error
      await pause(x)
    }
  }
}

function pause(x: Pick<Exchange, 'every'>): Promise<void> {
  return new Promise((resolve) => {
    const stop = x.every(PAUSE_MS, async () => {
      stop()
      resolve()
    })
  })
}
