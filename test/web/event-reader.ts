import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** Reads server-sent events one at a time. */
export interface EventReader {
  /** The next one; rejects when the stream ends. */
  next(): Promise<EventSourceMessage>
  close(): Promise<void>
}

export function openStream(response: Response): EventReader {
  if (response.body === null || !response.ok) throw new Error(`no stream: ${response.status}`)
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const waiting: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => void waiting.push(event) })
  return {
    async next() {
      for (;;) {
        const event = waiting.shift()
        if (event !== undefined) return event
        const { value, done } = await reader.read()
        if (done) throw new Error('the stream has ended')
        parser.feed(decoder.decode(value, { stream: true }))
      }
    },
    close: () => reader.cancel(),
  }
}
