import type { WakeKind, WakeRef } from './ports.js'
import type { Instant } from './refs.js'

/** How one run of a job ended. A fault is an exception: the queue tries again, and after the last try it stays visible. */
export type JobOutcome =
  /** Also when there was nothing to do: an old job replayed ends green and says so in `note`. */
  | { readonly outcome: 'done'; readonly note: string }
  /** A wait that the platform or a condition asks for; it costs no attempt. */
  | { readonly outcome: 'later'; readonly at: Instant; readonly because: string }
  /** For good: recorded, told to the owner, no further try by itself. The job stays failed and visible; a replay runs again. */
  | { readonly outcome: 'failed'; readonly because: string }

export interface JobRun {
  readonly kind: WakeKind
  readonly subject: string
  readonly generation: number
  /** Aborted when the process stops: finish the step in flight, record, return. */
  readonly signal: AbortSignal
  /** No further try follows by itself: a fault now ends as `dead`. */
  readonly lastAttempt: boolean
}

/** What a worker calls; everything is read again from the ledger, so an old job can do no harm. */
export interface Performer {
  perform(run: JobRun): Promise<JobOutcome>
  /** One round: what is owed and has no living job, and what lost its holder. Returns how many were put again. */
  sweep(queue: JobLookup): Promise<number>
}

/** The queue, seen by the sweep. Throws when the queue cannot be reached: then nothing is put again. */
export interface JobLookup {
  /** The keys (`jobIdOf`) of those that the queue still knows in any state that will run or may be replayed. */
  known(wakes: readonly WakeRef[]): Promise<ReadonlySet<string>>
  put(wakes: readonly WakeRef[]): Promise<void>
}

/** `kind-subject-gN`; BullMQ refuses `:` and whole numbers as ids and ignores an id that still exists. */
export function jobIdOf(wake: WakeRef): string {
  return `${wake.kind}-${wake.subject}-g${wake.generation}`
}
