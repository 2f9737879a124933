import { describe, expect, test } from 'vitest'
import type { JobLookup, Performer } from '../../src/collab/jobs.js'
import { startSweeper } from '../../src/queue/sweeper.js'
import { gate, keptLog, until } from './kit.js'

const lookup: JobLookup = { known: () => Promise.resolve(new Set<string>()), put: () => Promise.resolve() }

function sweeping(sweep: (nth: number) => Promise<number>) {
  const log = keptLog()
  let rounds = 0
  let given: JobLookup | null = null
  const performer: Performer = {
    perform: () => Promise.reject(new Error('no job is run by the sweep')),
    sweep: async (queue) => {
      given = queue
      rounds += 1
      return await sweep(rounds)
    },
  }
  const loop = startSweeper({ performer, lookup, logger: log, everyMs: 1 })
  return { log, loop, rounds: () => rounds, given: () => given }
}

describe('the sweep', () => {
  test('runs again and again, with the lookup, and says what it put', async () => {
    const { log, loop, rounds, given } = sweeping((nth) => Promise.resolve(nth === 2 ? 3 : 0))
    await until('three rounds', () => rounds() >= 3)
    await loop.stop(1_000)
    expect(given()).toBe(lookup)
    expect(log.lines).toEqual([{ level: 'info', message: 'the sweep put lost wakes again', fields: { count: 3 } }])
  })

  test('a failing round is told once and does not end it; that it works again is told once', async () => {
    const { log, loop, rounds } = sweeping((nth) => (nth <= 4 ? Promise.reject(new Error('away')) : Promise.resolve(0)))
    await until('six rounds', () => rounds() >= 6)
    await loop.stop(1_000)
    expect(log.lines.map((line) => [line.level, line.fields.error])).toEqual([
      ['warn', 'Error: away'],
      ['info', undefined],
    ])
  })

  test('rounds do not overlap, however long one takes', async () => {
    let running = 0
    let most = 0
    const { loop, rounds } = sweeping(async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running -= 1
      return 0
    })
    await until('six rounds', () => rounds() >= 6)
    await loop.stop(1_000)
    expect(most).toBe(1)
    expect(running).toBe(0)
  })

  test('a stop waits for the round under way, and none follows', async () => {
    const slow = gate()
    let ended = false
    const { loop, rounds } = sweeping(async () => {
      await slow.opened
      ended = true
      return 0
    })
    await until('a round began', () => rounds() === 1)
    const stopped = loop.stop(5_000)
    expect(ended).toBe(false)
    slow.open()
    await stopped
    expect(ended).toBe(true)
    expect(rounds()).toBe(1)
  })

  test('a stop does not wait for ever for a round that hangs', async () => {
    const { loop, rounds } = sweeping(() => new Promise(() => {}))
    await until('a round began', () => rounds() === 1)
    await loop.stop(20)
    expect(rounds()).toBe(1)
  })
})
