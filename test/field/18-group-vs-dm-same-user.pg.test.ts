import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { textOf, until, type TestGateway } from '../kit/gateway.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const { groupA, dm } = caseIds
let g: TestGateway
let one: WorldMessage
let two: WorldMessage
let three: WorldMessage
beforeAll(async () => {
  g = await caseGateway()
  const { world, faults } = g.served.sandbox
  const events = caseEvents('18-group-vs-dm-same-user')
  // The words of the case stand first, a rehearsed answer behind them; the direct one needs several messages, and its
  // second part fails once and is sent later.
  const directives = ['!reply answer one', '!parts 4', '!reply answer three']
  const said = directives.map((directive, n) => {
    const event = must(events[n], 'an event')
    const { text } = JSON.parse(must(event.event.message, 'a message').content) as { text: string }
    return staged(g.served, event, {}, JSON.stringify({ text: `${text}\n${directive}` }))
  })
  faults.add({ api: 'message.reply', when: { nth: 2, chatId: dm }, do: { kind: 'rate-limit', resetSeconds: 1 } })
  ;[one, two, three] = said.map(({ message }) => message) as [WorldMessage, WorldMessage, WorldMessage]
  const push = (n: number) => world.pushEvent(must(said[n], 'an event').envelope)
  push(0)
  push(1)
  // Two of one chat that wait together are answered together: this one comes when the first turn has begun.
  await until(
    async () =>
      (
        await g.db.sql`select 1 from collab.turns where request in (
    select id from collab.work_requests where origin_message = ${one.id})`
      ).length > 0,
    'the first turn',
  )
  push(2)
  await until(() => g.answers(groupA).length === 2 && g.answers(dm).length >= 4, 'all answers')
  await g.quiet()
})
afterAll(() => g.stop())

describe('case 18, one person in a group and in a direct chat', () => {
  test('each answer goes to the chat of its own question', () => {
    expect(g.answers(groupA).map((answer) => answer.parentId)).toEqual([one.id, three.id])
    expect(g.answers(groupA).map(textOf)).toEqual([
      expect.stringContaining('answer one'),
      expect.stringContaining('answer three'),
    ])
    expect(g.answers(dm).every((answer) => answer.parentId === two.id)).toBe(true)
  })

  test('all parts of the long one go to the direct chat, in order, although one failed and came later', () => {
    const shown = g.answers(dm).map((answer) => /\((\d)\/(\d)\)/u.exec(textOf(answer)))
    expect(shown.map((found) => Number(found?.[1]))).toEqual([1, 2, 3, 4])
    expect(g.served.sandbox.stats().calls['message.reply']?.['99991400']).toBe(1)
    for (const answer of g.answers(groupA)) expect(textOf(answer)).not.toMatch(/\(\d\/\d\)/u)
  })

  test('the group does not see the direct conversation, nor the other way round', async () => {
    const lanes = await g.db.sql<{ origin: string; lane: string }[]>`
      select r.origin_message as origin, i.lane from collab.turn_inputs i join collab.work_requests r on r.id = i.request`
    const laneOf = (message: WorldMessage) => lanes.find((row) => row.origin === message.id)?.lane
    expect(laneOf(one)).toBe(laneOf(three))
    expect(laneOf(one)).not.toBe(laneOf(two))
  })
})
