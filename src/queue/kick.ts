import { jobIdOf } from '../collab/jobs.js'
import type { QueueName, Wake, WakeRef } from '../collab/ports.js'
import { queueOf } from '../collab/queues.js'
import type { Logger } from '../lib/log.js'
import { logChanges } from './once.js'

/** Refs of one queue that may wait for their turn; what is above it is dropped and the sweep finds it. */
const WAITING_LIMIT = 10_000
const BATCH = 500

export interface Kicker extends Wake {
  /** Stops taking kicks and waits for those under way. */
  close(): Promise<void>
}

/**
 * Puts kicked wakes in the background: one put at a time for each queue, and all kicks that come meanwhile go
 * together into the next. A failed put is dropped, because the row behind it is found by the sweep.
 */
export function makeKicker(
  put: (queue: QueueName, wakes: readonly WakeRef[]) => Promise<void>,
  logger: Logger,
): Kicker {
  const waiting = new Map<QueueName, Map<string, WakeRef>>()
  const running = new Map<QueueName, Promise<void>>()
  const changes = logChanges(
    logger,
    'kicks do not reach the queue; the sweep will put them',
    'kicks reach the queue again',
  )
  let closed = false

  async function drain(queue: QueueName, refs: Map<string, WakeRef>): Promise<void> {
    // One turn of the loop: a burst of commits becomes one call.
    await new Promise((resolve) => setImmediate(resolve))
    while (refs.size > 0) {
      const batch = [...refs].slice(0, BATCH)
      for (const [id] of batch) refs.delete(id)
      try {
        await put(
          queue,
          batch.map(([, wake]) => wake),
        )
        changes.worked()
      } catch (error) {
        changes.failed(error, { queue, count: batch.length })
        // Nobody waits at a close for batches that would fail one by one.
        if (closed) refs.clear()
      }
    }
    running.delete(queue)
  }

  return {
    kick(wakes) {
      if (closed) return
      for (const wake of wakes) {
        const queue = queueOf[wake.kind]
        const refs = waiting.get(queue) ?? new Map<string, WakeRef>()
        waiting.set(queue, refs)
        if (refs.size < WAITING_LIMIT) refs.set(jobIdOf(wake), wake)
        if (!running.has(queue)) running.set(queue, drain(queue, refs))
      }
    },
    async close() {
      closed = true
      await Promise.all(running.values())
    },
  }
}
