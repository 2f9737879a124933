/** `npm run chaos -- --runs N --seed N` sets these; without them the suite has its own size and a new seed each time. */
export function runs(usual: number): {
  numRuns: number
  endOnFailure: boolean
  interruptAfterTimeLimit?: number
  seed?: number
  path?: string
} {
  const { CHAOS_RUNS, CHAOS_SEED, CHAOS_PATH, CHAOS_NO_SHRINK } = process.env
  return {
    endOnFailure: CHAOS_NO_SHRINK !== undefined,
    numRuns: CHAOS_RUNS === undefined ? usual : Number(CHAOS_RUNS),
    // A slow machine plays fewer of the usual ones.
    ...(CHAOS_RUNS === undefined ? { interruptAfterTimeLimit: 90_000 } : {}),
    ...(CHAOS_SEED === undefined ? {} : { seed: Number(CHAOS_SEED) }),
    ...(CHAOS_PATH === undefined ? {} : { path: CHAOS_PATH }),
  }
}
