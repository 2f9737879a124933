import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'

let g: TestGateway
beforeAll(async () => {
  g = await testGateway()
})
afterAll(async () => {
  await g.stop()
})

const reactionsOf = (chatId: string, id: string) =>
  g.served.sandbox.world.messages(chatId).find((message) => message.id === id)?.reactions ?? []

describe('the main job', () => {
  test('a direct message gets a receipt, one answer that replies to it, and the receipt goes when it is verified', async () => {
    const { world } = g.served.sandbox
    const said = world.say({ chatId: g.ids.dm, from: g.ids.alice, text: '!reply the build is green' })
    await until(() => reactionsOf(g.ids.dm, said.id).some((reaction) => reaction.emoji === 'Get'), 'the receipt')
    const answer = await until(() => g.answers(g.ids.dm).find((message) => message.parentId === said.id), 'the answer')
    expect(answer.content).toContain('the build is green')
    expect(answer.content).toContain('no model')
    await until(() => reactionsOf(g.ids.dm, said.id).length === 0, 'the end of the receipt')
    const list = (await (await g.api('/api/v1/requests')).json()) as { items: { id: string; state: string }[] }
    expect(list.items).toHaveLength(1)
    const shown = await until(async () => {
      const view = (await (await g.api(`/api/v1/requests/${list.items[0]?.id}`)).json()) as {
        state: string
        axes: unknown
        origin: { messageId: string }
      }
      return view.state === 'closed' ? view : null
    }, 'the request to be closed')
    expect(shown.axes).toEqual({ assignment: 'presented', judgment: 'resolved', control: 'open', delivery: 'verified' })
    expect(shown.origin.messageId).toBe(said.id)
  })
})
