import { afterAll, beforeAll, expect, test } from 'vitest'
import { textOf, until, testGateway, type TestGateway } from '../kit/gateway.js'

let g: TestGateway
beforeAll(async () => {
  g = await testGateway({ env: { LARK_OWNER_OPEN_IDS: 'ou_somebody_else' } })
})
afterAll(async () => {
  await g.stop()
})

test('an owner who was bound and is taken off the list starts no turn, gets no receipt, and hears so', async () => {
  const said = g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text: '!reply still mine?' })
  const told = await until(() => g.answers(g.ids.dm)[0], 'the refusal')
  expect(told.parentId).toBe(said.id)
  expect(textOf(told)).toContain(g.ids.alice)
  await g.quiet()
  expect(g.receipts(g.ids.dm, said.id)).toEqual([])
  expect(await g.db.sql`select 1 from collab.turns`).toHaveLength(0)
})
