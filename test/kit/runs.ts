import type { Parameters } from 'fast-check'

/** `PROPERTY_FACTOR=10` looks ten times as often, and as long. */
const factor = Number(process.env['PROPERTY_FACTOR'] ?? 1)

/** What one property on a real database may take in a usual run, in milliseconds. */
const MOST_MS = 4_000

/** For a test that holds such a property: longer than the property may take, with what surrounds it. */
export const propertyTimeoutMs = MOST_MS * factor * 3 + 60_000

/** A property of the pure core. */
export const often = (runs: number) => ({ numRuns: runs * factor }) satisfies Parameters<unknown>

/** A property on a real database: so many runs, fewer on a slow machine. */
export const boundedRuns = (runs: number) =>
  ({
    numRuns: runs * factor,
    interruptAfterTimeLimit: MOST_MS * factor,
    markInterruptAsFailure: false,
    // A run on a real database is slow: shrinking is bounded by the same time, and the seed is told.
    endOnFailure: process.env['PROPERTY_SHRINK'] === undefined,
  }) satisfies Parameters<unknown>
