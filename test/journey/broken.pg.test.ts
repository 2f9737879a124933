import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { textOf, testGateway, until, type TestGateway } from '../kit/gateway.js'

let g: TestGateway
beforeAll(async () => {
  g = await testGateway()
})
afterAll(() => g.stop())

test('a fault of our own that does not pass is told to the owner like a failed turn, and a replay goes on', async () => {
  // No workspace can be made: a file stands where their folder should be.
  const workspaces = join(g.dataDir, 'workspaces')
  rmSync(workspaces, { recursive: true, force: true })
  writeFileSync(workspaces, '')
  const said = g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text: '!reply at last' })
  const to = () => g.answers(g.ids.dm).filter((one) => one.parentId === said.id)
  // Five tries with growing waits; nobody waits for ever without a word.
  const notice = await until(() => to()[0], 'the notice', 45_000)
  expect(textOf(notice)).not.toContain(g.dataDir)
  await until(() => g.receipts(g.ids.dm, said.id).join() === 'CrossMark', 'the mark')
  const [wake] = await g.db.sql<{ state: string; subject: string; generation: number; error: string }[]>`
    select state, subject, generation, last_error as error from collab.wakes where kind = 'turn'`
  expect(wake?.state).toBe('dead')
  expect(wake?.error).not.toContain(g.dataDir)
  rmSync(workspaces)
  mkdirSync(workspaces)
  const path = `/queues/api/queues/request/turn-${wake?.subject}-g${wake?.generation}/retry`
  expect((await g.api(path, { method: 'PUT' })).status).toBeLessThan(300)
  await until(() => to().some((one) => textOf(one).includes('at last')), 'the answer')
  await g.quiet()
  expect(to()).toHaveLength(2)
})
