import { afterAll, beforeAll, expect, test } from 'vitest'
import { textOf, until, testGateway, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'

let g: TestGateway
beforeAll(async () => {
  const command = await scriptedAgent()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command() } })
})
afterAll(async () => {
  await g.stop()
})

test('an answer with text that Postgres cannot keep arrives with that text replaced, after one run of the agent', async () => {
  const { world } = g.served.sandbox
  // The owner's own message is cleaned at the door, so the agent makes the character itself.
  const said = world.say({ chatId: g.ids.dm, from: g.ids.alice, text: '!nul' })
  const answer = await until(() => g.answers(g.ids.dm).find((one) => one.parentId === said.id), 'the answer')
  expect(textOf(answer)).toContain('before')
  expect(textOf(answer)).toContain('after')
  const next = world.say({ chatId: g.ids.dm, from: g.ids.alice, text: '!reply and on it goes' })
  await until(() => g.answers(g.ids.dm).find((one) => one.parentId === next.id), 'the next answer')
  await g.quiet()
  expect(await g.db.sql`select 1 from collab.turns`).toHaveLength(2)
  for (const one of [said, next]) expect(g.receipts(g.ids.dm, one.id)).toEqual([])
})
