/** One look at one queue and this process's worker of it. */
export interface Look {
  readonly at: number
  /** Jobs that could run now. */
  readonly backlog: number
  readonly running: number
  readonly concurrency: number
  /** Changes with every start and end of a run. */
  readonly progress: number
}

export interface Quiet {
  readonly progress: number
  /** Since when the worker had work, had room for it and did nothing; null when it is not so. */
  readonly since: number | null
}

export const notQuiet: Quiet = { progress: -1, since: null }

/**
 * Is a worker alive? Judged by what it does, never by its connection: one that is connected and idle although
 * jobs wait is as dead as one that is gone.
 */
export function judge(before: Quiet, look: Look, limitMs: number): { readonly quiet: Quiet; readonly stuck: boolean } {
  const idle = look.backlog > 0 && look.running < look.concurrency && look.progress === before.progress
  const since = idle ? (before.since ?? look.at) : null
  return {
    quiet: { progress: look.progress, since },
    stuck: since !== null && look.at - since >= limitMs,
  }
}
