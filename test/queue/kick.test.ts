import { describe, expect, test } from 'vitest'
import type { QueueName, WakeRef } from '../../src/collab/ports.js'
import { makeKicker } from '../../src/queue/kick.js'
import { gate, keptLog } from './kit.js'

const turn = (subject: string, generation = 1): WakeRef => ({ kind: 'turn', subject, generation })
const deliver = (subject: string): WakeRef => ({ kind: 'deliver', subject, generation: 1 })

function recorded(answer: (nth: number) => Promise<void> = () => Promise.resolve()) {
  const puts: [QueueName, string[]][] = []
  const log = keptLog()
  const kicker = makeKicker(async (queue, wakes) => {
    puts.push([queue, wakes.map((wake) => wake.subject)])
    await answer(puts.length)
  }, log)
  return { puts, log, kicker }
}

describe('kicks', () => {
  test('a burst becomes one put for each queue, without repeats', async () => {
    const { puts, kicker } = recorded()
    kicker.kick([turn('a')])
    kicker.kick([turn('b'), deliver('d')])
    kicker.kick([turn('a')])
    expect(puts).toEqual([])
    await kicker.close()
    expect(puts).toEqual([
      ['request', ['a', 'b']],
      ['delivery', ['d']],
    ])
  })

  test('kicks that come while a put is under way go together into the next', async () => {
    const slow = gate()
    const { puts, kicker } = recorded((nth) => (nth === 1 ? slow.opened : Promise.resolve()))
    kicker.kick([turn('a')])
    await new Promise((resolve) => setImmediate(resolve))
    expect(puts).toHaveLength(1)
    for (const subject of ['b', 'c', 'd']) kicker.kick([turn(subject)])
    await new Promise((resolve) => setImmediate(resolve))
    expect(puts).toHaveLength(1)
    slow.open()
    await kicker.close()
    expect(puts).toEqual([
      ['request', ['a']],
      ['request', ['b', 'c', 'd']],
    ])
  })

  test('failing puts are dropped, told once, and the next success is told once', async () => {
    let down = true
    const { puts, log, kicker } = recorded(() => (down ? Promise.reject(new Error('away')) : Promise.resolve()))
    const settle = async (): Promise<void> => {
      for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve))
    }
    kicker.kick([turn('a')])
    await settle()
    kicker.kick([turn('b')])
    await settle()
    down = false
    kicker.kick([turn('c')])
    await settle()
    kicker.kick([turn('d')])
    await kicker.close()
    expect(puts.map(([, subjects]) => subjects)).toEqual([['a'], ['b'], ['c'], ['d']])
    expect(log.lines.map((line) => line.level)).toEqual(['warn', 'info'])
  })

  test('a queue that hangs holds neither the caller nor the other queues', async () => {
    const never = gate()
    const puts: string[] = []
    const kicker = makeKicker(async (queue) => {
      puts.push(queue)
      if (queue === 'request') await never.opened
    }, keptLog())
    kicker.kick([turn('a')])
    kicker.kick(Array.from({ length: 20_000 }, (_, at) => turn(`t${at}`)))
    kicker.kick([deliver('d')])
    for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(puts).toEqual(['request', 'delivery'])
    never.open()
    await kicker.close()
  })

  test('a close does not try one batch after the other while the queue is away', async () => {
    const slow = gate()
    const { puts, kicker } = recorded(async () => {
      await slow.opened
      throw new Error('away')
    })
    kicker.kick(Array.from({ length: 5_000 }, (_, at) => turn(`t${at}`)))
    await new Promise((resolve) => setImmediate(resolve))
    const closed = kicker.close()
    slow.open()
    await closed
    expect(puts).toHaveLength(1)
  })

  test('a large burst is put in parts of at most 500', async () => {
    const { puts, kicker } = recorded()
    kicker.kick(Array.from({ length: 1_200 }, (_, at) => turn(`t${at}`)))
    await kicker.close()
    expect(puts.map(([, subjects]) => subjects.length)).toEqual([500, 500, 200])
  })
})
