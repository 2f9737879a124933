import { afterAll, beforeAll, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { textOf, until, testGateway, type TestGateway } from '../kit/gateway.js'

let g: TestGateway
beforeAll(async () => {
  g = await testGateway()
})
afterAll(() => g.stop())

interface Shown {
  readonly items: readonly { readonly id: string; readonly origin: { readonly messageId: string } }[]
}
interface Request {
  readonly state: string
  readonly deliveries: readonly {
    readonly state: string
    readonly parts: readonly { readonly index: number; readonly state: string; readonly messageId: string | null }[]
  }[]
}

test('case 24: the parts come one after the other, and the record names the message of each', async () => {
  const code = '数据'.repeat(12_000)
  const { world } = g.served.sandbox
  const asked = world.say({ chatId: g.ids.dm, from: g.ids.alice, text: `!reply\n\`\`\`text\n${code}\n\`\`\`` })
  const answers = () => g.answers(g.ids.dm).filter((one) => one.parentId === asked.id)
  await until(() => answers().length > 0, 'the first part')
  await g.quiet()
  const shown = answers()
  expect(shown.length).toBeGreaterThan(1)
  shown.forEach((one, at) => expect(textOf(one)).toContain(`(${at + 1}/${shown.length})`))

  const { items } = (await (await g.api('/api/v1/requests')).json()) as Shown
  const listed = must(
    items.find((item) => item.origin.messageId === asked.id),
    'the request',
  )
  const request = (await (await g.api(`/api/v1/requests/${listed.id}`)).json()) as Request
  expect(request.state).toBe('closed')
  const [delivery] = request.deliveries
  expect(delivery?.parts.map((part) => [part.index, part.state, part.messageId])).toEqual(
    shown.map((one, at) => [at, 'verified', one.id]),
  )
})
