import { describe, expect, test } from 'vitest'
import { judge, notQuiet, type Look, type Quiet } from '../../src/queue/liveness.js'

const LIMIT = 1_000
const base: Look = { at: 0, backlog: 3, running: 0, concurrency: 2, progress: 7 }

function watch(...looks: readonly Partial<Look>[]): boolean[] {
  let quiet: Quiet = notQuiet
  return looks.map((look) => {
    const judged = judge(quiet, { ...base, ...look }, LIMIT)
    quiet = judged.quiet
    return judged.stuck
  })
}

describe('is a worker alive', () => {
  test('one that does nothing before waiting jobs is stuck after the limit, not before', () => {
    expect(watch({ at: 0 }, { at: 500 }, { at: 1_400 }, { at: 1_500 })).toEqual([false, false, false, true])
  })

  test('every start or end begins the time anew', () => {
    expect(
      watch({ at: 0 }, { at: 100 }, { at: 900, progress: 8 }, { at: 1_200, progress: 8 }, { at: 2_100, progress: 8 }),
    ).toEqual([false, false, false, false, false])
  })

  test('one without work is never stuck', () => {
    expect(watch({ backlog: 0 }, { at: 5_000, backlog: 0 }, { at: 9_000, backlog: 0 })).toEqual([false, false, false])
  })

  test('one whose places are all taken is never stuck, however long its jobs are', () => {
    expect(watch({ running: 2 }, { at: 5_000, running: 2 }, { at: 9_000, running: 2 })).toEqual([false, false, false])
  })

  test('one with a free place before waiting jobs is stuck even while it runs others', () => {
    expect(watch({ running: 1 }, { at: 100, running: 1 }, { at: 1_100, running: 1 })).toEqual([false, false, true])
  })
})
