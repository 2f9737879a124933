import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { textOf, until, type TestGateway } from '../kit/gateway.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const { groupA } = caseIds
let g: TestGateway
beforeAll(async () => {
  g = await caseGateway()
})
afterAll(() => g.stop())

/** Pushes event `n` of the case; the first one says to the built-in agent what stands for its long work. */
function push(n: number): string {
  const event = must(caseEvents('08-stop-while-busy')[n], 'an event')
  const text = n === 0 ? JSON.stringify({ text: '@_user_1 !fail hang' }) : undefined
  const said = staged(g.served, event, {}, text)
  g.served.sandbox.world.pushEvent(said.envelope)
  return said.message.id
}
const answersTo = (id: string) => g.answers(groupA).filter((one) => one.parentId === id)
const turns = () => g.db.sql<{ ended: string | null; because: string | null }[]>`
  select ended, because from collab.turns order by started_at`

describe('case 08, a stop while the agent is busy', () => {
  let asked: string
  test('the word after the mention ends the turn within three seconds, with one confirmation', async () => {
    asked = push(0)
    const presented = () => g.db.sql`select 1 from collab.observations where kind = 'turn-presented'`
    await until(async () => (await presented()).length === 1, 'the turn')
    await until(() => g.receipts(groupA, asked).includes('Get'), 'the receipt')
    const from = performance.now()
    const stop = push(1)
    const told = await until(() => answersTo(stop)[0], 'the confirmation')
    expect(performance.now() - from).toBeLessThanOrEqual(3_000)
    expect(textOf(told)).toContain('Stopped: the turn that was running has ended without an answer.')
    expect(await turns()).toEqual([{ ended: 'interrupted', because: 'stop' }])
    await g.quiet()
    expect(answersTo(stop)).toHaveLength(1)
  })

  test('the second stop, in Chinese and without a slash, answers that nothing runs', async () => {
    const again = push(2)
    const told = await until(() => answersTo(again)[0], 'the answer')
    expect(textOf(told)).toMatch(/这里没有正在执行的内容|Nothing is running here/u)
    await g.quiet()
    expect(answersTo(again)).toHaveLength(1)
  })

  test('no stop is ever work: one request was opened, no turn saw the word, and nothing started afterwards', async () => {
    const requests = await g.db.sql<{ message: string }[]>`select origin_message as message from collab.work_requests`
    expect(requests.map((row) => row.message)).toEqual([asked])
    expect(await turns()).toHaveLength(1)
    expect(answersTo(asked)).toEqual([])
  })

  test('the reaction on the first message is gone, and what it asked is held until its owner says run or skip', async () => {
    expect(g.receipts(groupA, asked)).toEqual([])
    const { items } = (await (await g.api('/api/v1/requests')).json()) as {
      items: { state: string; next: { owner: string; condition: string } | null }[]
    }
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({ state: 'open', next: { owner: 'owner', condition: 'word-of-owner' } })
  })
})
