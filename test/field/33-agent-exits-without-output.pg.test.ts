import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { textOf, testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'

let g: TestGateway
beforeAll(async () => {
  const command = await scriptedAgent()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command() } })
})
afterAll(() => g.stop())

const say = (text: string) => g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text }).id
const answersTo = (id: string) => g.answers(g.ids.dm).filter((one) => one.parentId === id)
const turnsOf = (id: string) => g.db.sql<{ ended: string | null; because: string | null }[]>`
  select t.ended, t.because from collab.turns t join collab.work_requests r on r.id = t.request
  where r.origin_message = ${id} order by t.started_at`

describe('case 33, an agent that ends without an answer', () => {
  test('an end that calls itself good and has no text is a failure of its own, tried once more, then told', async () => {
    const silent = say('!nothing-to-say')
    const notice = await until(() => answersTo(silent)[0], 'the notice')
    expect(textOf(notice)).toContain('The agent finished without an answer.')
    await until(() => g.receipts(g.ids.dm, silent).join() === 'CrossMark', 'the mark')
    const turns = await turnsOf(silent)
    expect(turns).toHaveLength(2)
    expect(await g.db.sql`select 1 from collab.results`).toHaveLength(0)
    expect(answersTo(silent)).toHaveLength(1)
  })

  test('an explicit error of the agent is told as what it is, with what can be done', async () => {
    const limited = say('!fail unavailable')
    const notice = await until(() => answersTo(limited)[0], 'the notice')
    expect(textOf(notice)).toContain('The agent could not be reached.')
    expect(textOf(notice)).toContain('Your message is kept')
    await until(() => g.receipts(g.ids.dm, limited).join() === 'CrossMark', 'the mark')
    await until(async () => (await turnsOf(limited)).every((turn) => turn.ended !== null), 'the ends of both turns')
    expect((await turnsOf(limited)).map((turn) => turn.because)).toEqual(['unavailable', 'unavailable'])
  })

  test('text before an explicit error does not make it a success', async () => {
    const both = say('!reply half of it\n!fail exit')
    const notice = await until(() => answersTo(both)[0], 'the notice')
    expect(textOf(notice)).toContain('The agent ended before it answered.')
    expect(textOf(notice)).not.toContain('half of it')
    expect(await g.db.sql`select 1 from collab.results`).toHaveLength(0)
  })

  test('the request can be replayed', async () => {
    const list = await until(async () => {
      const response = await g.api('/queues/api/queues?activeQueue=request&status=failed&page=1&jobsPerPage=20')
      const { queues } = (await response.json()) as { queues: { name: string; jobs: { id: string }[] }[] }
      const jobs = queues.find((queue) => queue.name === 'request')?.jobs ?? []
      return jobs.length > 0 && jobs
    }, 'failed jobs')
    const before = (await g.db.sql`select 1 from collab.turns`).length
    const { id } = must(list[0], 'a job')
    expect((await g.api(`/queues/api/queues/request/${id}/retry`, { method: 'PUT' })).status).toBeLessThan(300)
    await until(async () => (await g.db.sql`select 1 from collab.turns`).length > before, 'another turn')
  })
})
