import { describe, expect, test } from 'vitest'
import { EventQueue, interrupted } from '../../src/runtime/event-queue.js'
import { aborted, wait, within } from '../../src/runtime/wait.js'
import { collect } from '../kit/runtime-bench.js'

describe('a stream of turn events', () => {
  test('gives what came before the reader, in order, and stops at the first end', async () => {
    const queue = new EventQueue()
    queue.push({ kind: 'started', hostTurn: 't' })
    expect(queue.push(interrupted)).toBe(true)
    expect(queue.push({ kind: 'ended', ended: 'completed', final: 'late', conclusion: null })).toBe(false)
    expect(queue.push({ kind: 'activity', activity: 'other' })).toBe(false)
    expect((await collect(queue)).events).toEqual([{ kind: 'started', hostTurn: 't' }, interrupted])
  })

  test('gives what comes while the reader waits', async () => {
    const queue = new EventQueue()
    const read = collect(queue, (event) => {
      if (event.kind === 'started') queue.push(interrupted)
    })
    queue.push({ kind: 'started', hostTurn: 't' })
    expect((await read).events).toHaveLength(2)
  })

  test('tells when the reader leaves before the end, and only then', async () => {
    let left = 0
    const first = new EventQueue(() => left++)
    first.push({ kind: 'started', hostTurn: 't' })
    for await (const _ of first) break
    expect(left).toBe(1)
    const second = new EventQueue(() => left++)
    second.push(interrupted)
    for await (const _ of second) break
    expect(left).toBe(1)
  })
})

describe('waiting', () => {
  test('ends early when it is aborted, and says so', async () => {
    const abort = new AbortController()
    const waiting = wait(60_000, abort.signal)
    abort.abort()
    expect(await waiting).toBe(false)
    expect(await wait(60_000, abort.signal)).toBe(false)
    expect(await wait(1, new AbortController().signal)).toBe(true)
    await aborted(abort.signal)
  })

  test('gives up on what takes too long', async () => {
    expect(await within(5, new Promise<string>(() => {}), 'late')).toBe('late')
    expect(await within(60_000, Promise.resolve('in time'), 'late')).toBe('in time')
    await expect(within(60_000, Promise.reject(new Error('broken')), 'late')).rejects.toThrow('broken')
  })
})
