import { describe, expect, test } from 'vitest'
import { holdsOnlyFiles } from '../../src/exchange/burst.js'
import { isOrder } from '../../src/exchange/late.js'
import { historiesDue, isDeaf } from '../../src/exchange/presence.js'
import { HOUR, MINUTE } from '../../src/lib/time.js'
import { seemsShared } from '../../src/stores/presence/gaps.js'

describe('when the histories are read', () => {
  const row = { firstAt: 0, openedAt: 0, askedAt: 0, lastEventAt: null as number | null, returned: false }
  const due = (more: Partial<typeof row>, now: number) => historiesDue({ ...row, ...more }, now, 10 * MINUTE)

  test('at once after an absence', () => {
    expect(due({ returned: true, lastEventAt: 1_000 }, 1_001)).toBe(true)
  })

  test('after a silence, which an event, a reading or an opening ends', () => {
    expect(due({}, 10 * MINUTE - 1)).toBe(false)
    expect(due({}, 10 * MINUTE)).toBe(true)
    expect(due({ lastEventAt: MINUTE }, 10 * MINUTE)).toBe(false)
    expect(due({ askedAt: MINUTE }, 10 * MINUTE)).toBe(false)
    expect(due({ openedAt: MINUTE }, 10 * MINUTE)).toBe(false)
  })

  test('once an hour also when events keep coming', () => {
    expect(due({ lastEventAt: HOUR - 1 }, HOUR - 1)).toBe(false)
    expect(due({ lastEventAt: HOUR - 1 }, HOUR)).toBe(true)
  })
})

test('a door is deaf when a message was written after its opening and nothing came since', () => {
  expect(isDeaf({ missedAt: null, lastEventAt: null }, 0)).toBe(false)
  expect(isDeaf({ missedAt: 10, lastEventAt: null }, 5)).toBe(true)
  expect(isDeaf({ missedAt: 10, lastEventAt: 9 }, 5)).toBe(true)
  expect(isDeaf({ missedAt: 10, lastEventAt: 11 }, 5)).toBe(false)
  expect(isDeaf({ missedAt: 10, lastEventAt: 9 }, 15)).toBe(false)
})

test.each([
  [0, 0, false],
  [1, 19, false],
  [1, 18, true],
  [5, 95, false],
  [6, 95, true],
  [1, 0, true],
])('%i missed beside %i that came: seems shared is %s', (missed, messages, shared) => {
  expect(seemsShared({ missed, messages })).toBe(shared)
})

test.each([
  ['/run', true],
  [' /restart ', true],
  ['／停止', true],
  ['/跳过', true],
  ['stop', true],
  ['/run it now', false],
  ['/usr/bin/env', false],
  ['run', false],
  ['please /run', false],
  ['', false],
])('%j is an order: %s', (text, order) => {
  expect(isOrder(text)).toBe(order)
})

test('a message is nothing but files when its type says so and one is there', () => {
  const attachment = { kind: 'image', key: 'k', fileName: null, durationMs: null, downloadable: true } as const
  expect(holdsOnlyFiles({ messageType: 'image', attachments: [attachment] })).toBe(true)
  expect(holdsOnlyFiles({ messageType: 'image', attachments: [] })).toBe(false)
  for (const messageType of ['post', 'audio', 'text', 'sticker']) {
    expect(holdsOnlyFiles({ messageType, attachments: [attachment] })).toBe(false)
  }
})
