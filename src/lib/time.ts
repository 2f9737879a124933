export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The only source of the current time; made in `app`, injected everywhere else. Milliseconds since the epoch, UTC. */
export interface Clock {
  now(): number
}
