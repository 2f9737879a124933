import { DelayedError, UnrecoverableError, type Job } from 'bullmq'
import { describe, expect, test } from 'vitest'
import type { JobOutcome } from '../../src/collab/jobs.js'
import type { Instant } from '../../src/collab/refs.js'
import type { JobData } from '../../src/queue/job.js'
import { makeRuns, MIN_LATER_MS } from '../../src/queue/run.js'
import { done, fakePerformer, keptLog } from './kit.js'

const NOW = 1_000_000

function running(perform: () => Promise<JobOutcome> | JobOutcome) {
  const performer = fakePerformer(perform)
  const log = keptLog()
  return { performer, log, runs: makeRuns('delivery', { performer, clock: { now: () => NOW }, logger: log }) }
}

/** What a run reads of a job; the rest of BullMQ's class needs a server. */
function job(
  members: Partial<Pick<Job<JobData>, 'id' | 'name' | 'stalledCounter' | 'attemptsMade' | 'progress'>> = {},
) {
  const moved: number[] = []
  const marks: unknown[] = []
  const made = {
    id: 'deliver-d1-g2',
    name: 'deliver',
    data: { id: 'd1' },
    opts: { attempts: 5 },
    stalledCounter: 0,
    attemptsMade: 0,
    progress: 0,
    updateProgress: (mark: unknown) => Promise.resolve(void marks.push(mark)),
    moveToDelayed: (at: number) => Promise.resolve(void moved.push(at)),
    ...members,
  }
  return { moved, marks, job: made as unknown as Job<JobData, string> }
}

describe('one run of a job', () => {
  test.each([
    [0, false],
    [3, false],
    [4, true],
    // BullMQ leaves the count of a job that is replayed by hand at its maximum.
    [5, true],
    [9, true],
  ])('after %i recorded tries the last one is told: %s', async (attemptsMade, last) => {
    const { performer, runs } = running(() => done)
    await runs.run(job({ attemptsMade }).job, 'token')
    expect(performer.runs[0]?.lastAttempt).toBe(last)
  })

  test('a job that failed for good is marked, and a replay of it is told that no further try follows', async () => {
    const failing = running(() => ({ outcome: 'failed', because: 'exited' }))
    const failed = job({ attemptsMade: 1 })
    await expect(failing.runs.run(failed.job, 'token')).rejects.toBeInstanceOf(UnrecoverableError)
    expect(failing.performer.runs[0]?.lastAttempt).toBe(false)
    const replay = running(() => done)
    await replay.runs.run(job({ attemptsMade: 2, progress: String(failed.marks[0]) }).job, 'token')
    expect(replay.performer.runs[0]?.lastAttempt).toBe(true)
  })

  test.each([
    [NOW + 60_000, NOW + 60_000],
    [NOW, NOW + MIN_LATER_MS],
    [NOW - 60_000, NOW + MIN_LATER_MS],
  ])('a wait until %i is moved to %i', async (at, moved) => {
    const { runs } = running(() => ({ outcome: 'later', at: at as Instant, because: 'rate-limit' }))
    const waiting = job()
    await expect(runs.run(waiting.job, 'token')).rejects.toBeInstanceOf(DelayedError)
    expect(waiting.moved).toEqual([moved])
  })

  test('what fails leaves a label without its fields, its further lines and its stack', async () => {
    const cause = Object.assign(new RangeError('too long\nthe private words'), {
      config: { token: 'secret' },
      code: 230,
    })
    const { runs, log } = running(() => Promise.reject(cause))
    const failed = await runs.run(job().job, 'token').catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(Error)
    expect(failed).toMatchObject({ message: 'RangeError 230: too long' })
    expect(Object.keys(failed as Error).filter((key) => key !== 'stack')).toEqual([])
    expect((failed as Error).stack).toBe('Error: RangeError 230: too long')
    expect(JSON.stringify(log.lines)).not.toMatch(/private|secret/)
  })

  test('a performer that throws before it returns a promise is a fault like any other', async () => {
    const { runs } = running(() => {
      throw new Error('at once')
    })
    await expect(runs.run(job().job, 'token')).rejects.toThrow('Error: at once')
    expect(runs.running.size).toBe(0)
  })

  test('a job whose process ended more than three times is not performed, and a replay performs it once more', async () => {
    const { performer, runs, log } = running(() => done)
    await runs.run(job({ stalledCounter: 3 }).job, 'token')
    expect(performer.runs).toHaveLength(1)
    const given = runs.run(job({ stalledCounter: 4 }).job, 'token')
    await expect(given).rejects.toBeInstanceOf(UnrecoverableError)
    expect(performer.runs).toHaveLength(1)
    expect(log.lines.map((line) => line.level)).toEqual(['error'])
    await runs.run(job({ stalledCounter: 4, attemptsMade: 1 }).job, 'token')
    expect(performer.runs).toHaveLength(2)
  })

  test('a wake of another queue is not performed here', async () => {
    const { performer, runs } = running(() => done)
    await expect(runs.run(job({ id: 'turn-t1-g1' }).job, 'token')).rejects.toBeInstanceOf(UnrecoverableError)
    expect(performer.runs).toEqual([])
  })

  test('a job that starts after the stop is told at once', async () => {
    const { performer, runs } = running(() => done)
    runs.abort()
    await runs.run(job().job, 'token')
    expect(performer.runs[0]?.signal.aborted).toBe(true)
  })

  test('every start and end is progress', async () => {
    const { runs } = running(() => done)
    const before = runs.progress()
    await runs.run(job().job, 'token')
    expect(runs.progress()).toBe(before + 2)
  })
})
