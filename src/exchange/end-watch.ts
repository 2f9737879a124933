import type { RuntimeSession, TurnEvent } from '../collab/ports.js'
import { SECOND } from '../lib/time.js'
import { endAsked } from '../stores/turns/stops.js'
import type { Exchange } from './deps.js'

/** How often a running turn looks whether it shall end: it is heard of by whichever process, and ends within 3 s. */
const LOOK_MS = 0.25 * SECOND
/** What a runtime gets to end its turn by itself before its session is closed. */
const PATIENCE_MS = 1.5 * SECOND

/** Looks, while a turn runs, whether it shall end. */
export interface EndWatch {
  /** Aborted when it shall. */
  readonly signal: AbortSignal
  /** Resolves when the executor is proved gone, although the runtime has not said that the turn ended. */
  readonly gone: Promise<'gone'>
  /** The request was cancelled. */
  cancelled(): boolean
  /** The mark of the stop that asked; null: none did. */
  stoppedBy(): string | null
  close(): void
}

/**
 * The runtime is told to interrupt; one that does not end its turn loses its session, with the process group behind it.
 *
 * @source delivery In 9
 */
export function watchEnd(x: Exchange, turn: string, request: string, session: RuntimeSession): EndWatch {
  const asked = new AbortController()
  let cancelled = false
  let stoppedBy: string | null = null
  let since: number | null = null
  let closing = false
  let resolveGone: (gone: 'gone') => void = () => {}
  const gone = new Promise<'gone'>((resolve) => (resolveGone = resolve))
  const close = x.every(LOOK_MS, async () => {
    if (since === null) {
      const wish = await endAsked(x.db.sql, turn, request)
      cancelled = wish.cancelled
      stoppedBy = wish.stoppedBy
      if (!cancelled && stoppedBy === null) return
      since = x.clock.now()
      asked.abort()
    } else if (!closing && x.clock.now() - since >= PATIENCE_MS) {
      closing = true
      if ((await session.close()).executor === 'gone') resolveGone('gone')
    }
  })
  return { signal: asked.signal, gone, cancelled: () => cancelled, stoppedBy: () => stoppedBy, close }
}

/** The events of a turn to their end; an executor that is gone has interrupted it. */
export async function* untilGone(events: AsyncIterable<TurnEvent>, gone: Promise<'gone'>): AsyncIterable<TurnEvent> {
  const reading = events[Symbol.asyncIterator]()
  for (;;) {
    const next = await Promise.race([reading.next(), gone])
    if (next === 'gone') {
      yield { kind: 'ended', ended: 'interrupted' }
      return
    }
    if (next.done === true) return
    yield next.value
  }
}
