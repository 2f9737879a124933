import { errorLabel, type Logger } from '../lib/log.js'

/** One thing to close. Doors first, then workers, then what they stand on. */
export interface Stop {
  readonly name: string
  run(): Promise<void>
}

/** Closes one after the other; what fails to close does not keep the rest open. */
export async function inOrder(stops: readonly Stop[], log: Logger): Promise<void> {
  for (const stop of stops) {
    try {
      await stop.run()
    } catch (error) {
      log.warn('a part did not close well', { reason: stop.name, error: errorLabel(error) })
    }
  }
}

/** How long a stop may take, in ms, before the process ends without the rest. */
const STOP_LIMIT_MS = 10_000

/**
 * Aborted by the first signal to stop; a second one exits at once, and so does a stop that hangs. Asked for before
 * anything is opened, so that a signal during the start closes what was opened until then.
 */
export function onStopSignal(): AbortSignal {
  const asked = new AbortController()
  const onSignal = () => {
    if (asked.signal.aborted) process.exit(130)
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref()
    asked.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal)
  return asked.signal
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
