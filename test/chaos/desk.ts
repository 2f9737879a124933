import { jobIdOf, type JobLookup } from '../../src/collab/jobs.js'
import type { WakeRef } from '../../src/collab/ports.js'
import { SECOND } from '../../src/lib/time.js'

export interface Job {
  readonly wake: WakeRef
  state: 'waiting' | 'active' | 'completed' | 'failed'
  dueAt: number
  /** Runs that failed. */
  tries: number
  /** Who runs it. */
  by: string | null
}

/** How long a dead worker's lock lasts, and the longest wait between two tries. */
const LOCK_MS = 22 * SECOND
const LONGEST_WAIT_MS = 16 * SECOND

/** What the queue does for us, and nothing of how: ids that exist are ignored, order by due time, locks that run out. */
export class Desk implements JobLookup {
  private jobs = new Map<string, Job>()
  constructor(private readonly now: () => number) {}

  async put(wakes: readonly WakeRef[]): Promise<void> {
    for (const wake of wakes) {
      const id = jobIdOf(wake)
      if (this.jobs.has(id)) continue
      this.jobs.set(id, { wake, state: 'waiting', dueAt: this.now(), tries: 0, by: null })
    }
  }

  async known(wakes: readonly WakeRef[]): Promise<ReadonlySet<string>> {
    const ids = wakes.map(jobIdOf)
    return new Set(ids.filter((id) => ['waiting', 'active'].includes(this.jobs.get(id)?.state ?? '')))
  }

  take(by: string): Job | null {
    const due = [...this.jobs.values()].filter((job) => job.state === 'waiting' && job.dueAt <= this.now())
    const [first] = due.sort((a, b) => a.dueAt - b.dueAt)
    if (first === undefined) return null
    first.state = 'active'
    first.by = by
    return first
  }

  again(job: Job, at: number): void {
    if (job.state !== 'active') return
    job.state = 'waiting'
    job.by = null
    job.dueAt = Math.max(at, this.now() + 250)
  }

  end(job: Job, state: 'completed' | 'failed'): void {
    if (job.state !== 'active') return
    job.state = state
    job.by = null
  }

  /** Tries never run out here: a job that died of our own faults waits for a person, whatever came before. */
  failedOnce(job: Job): void {
    job.tries += 1
    this.again(job, this.now() + Math.min(SECOND * 2 ** (job.tries - 1), LONGEST_WAIT_MS))
  }

  /** The jobs of a dead process wait until their locks have run out. */
  abandon(by: string): void {
    for (const job of this.jobs.values()) {
      if (job.by === by) this.again(job, this.now() + LOCK_MS)
    }
  }

  /** Somebody presses "run again" on an ended job. */
  replay(nth: number): void {
    const ended = [...this.jobs.values()].filter((job) => job.state === 'completed' || job.state === 'failed')
    const job = ended[nth % Math.max(1, ended.length)]
    if (job === undefined) return
    job.state = 'waiting'
    job.dueAt = this.now()
  }

  /** The queue's server loses everything. */
  lose(): void {
    this.jobs = new Map()
  }

  nextAt(): number | null {
    const times = [...this.jobs.values()].filter((job) => job.state === 'waiting').map((job) => job.dueAt)
    return times.length === 0 ? null : Math.min(...times)
  }
}
