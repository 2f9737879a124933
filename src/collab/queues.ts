import type { QueueName, WakeKind } from './ports.js'

/** Which queue carries which wake: nothing in `upkeep` or `delivery` ever waits for a model. */
export const queueOf: Readonly<Record<WakeKind, QueueName>> = {
  accept: 'upkeep',
  turn: 'request',
  deliver: 'delivery',
  reaction: 'delivery',
  upkeep: 'upkeep',
}
