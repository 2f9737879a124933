import type { JobOutcome, JobRun, Performer } from '../../src/collab/jobs.js'
import type { LogFields, Logger } from '../../src/lib/log.js'

/** Polls until the condition holds; fails with its name at the deadline. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}

export interface FakePerformer extends Performer {
  readonly runs: JobRun[]
  /** `kind-subject-gN` of each run, in the order of their starts. */
  started(): string[]
}

export function fakePerformer(perform: (run: JobRun, nth: number) => Promise<JobOutcome> | JobOutcome): FakePerformer {
  const runs: JobRun[] = []
  return {
    runs,
    started: () => runs.map((run) => `${run.kind}-${run.subject}-g${run.generation}`),
    async perform(run) {
      runs.push(run)
      return await perform(run, runs.length)
    },
    sweep: () => Promise.resolve(0),
  }
}

export const done: JobOutcome = { outcome: 'done', note: 'done' }

/** A promise that the test opens. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}

export interface KeptLog extends Logger {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: LogFields }[]
}

export function keptLog(): KeptLog {
  const lines: KeptLog['lines'] = []
  const keep =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push({ level, message, fields })
  return { lines, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }
}
