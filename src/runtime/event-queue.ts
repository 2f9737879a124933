import type { TurnEnded, TurnEvent } from '../collab/ports.js'

/**
 * Turns reports that come from callbacks into one stream of turn events.
 *
 * It keeps the promise of the socket: whatever comes after the first `ended` is dropped, so a stream has exactly one.
 * One reader only.
 */
export class EventQueue implements AsyncIterable<TurnEvent> {
  readonly #waiting: TurnEvent[] = []
  #wakeReader: (() => void) | null = null
  #ended = false

  constructor(readonly onReaderGone: () => void = () => {}) {}

  get ended(): boolean {
    return this.#ended
  }

  /** Returns false when the turn has ended already. */
  push(event: TurnEvent): boolean {
    if (this.#ended) return false
    this.#ended = event.kind === 'ended'
    this.#waiting.push(event)
    this.#wakeReader?.()
    return true
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TurnEvent, void, void> {
    let last: TurnEvent['kind'] | null = null
    try {
      while (last !== 'ended') {
        const next = this.#waiting.shift()
        if (next === undefined) {
          await new Promise<void>((resolve) => (this.#wakeReader = resolve))
          this.#wakeReader = null
          continue
        }
        last = next.kind
        yield next
      }
    } finally {
      if (last !== 'ended') this.onReaderGone()
    }
  }
}

export const interrupted: TurnEnded = { kind: 'ended', ended: 'interrupted' }

export function failed(because: Extract<TurnEnded, { ended: 'failed' }>['because'], detail: string): TurnEnded {
  return { kind: 'ended', ended: 'failed', because, detail }
}
