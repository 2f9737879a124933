import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { testGateway, textOf, until, type TestGateway } from '../kit/gateway.js'

const source = readFileSync(new URL('../cases/23-tables-over-limit/input.md', import.meta.url), 'utf8')
let g: TestGateway
beforeAll(async () => {
  g = await testGateway()
})
afterAll(() => g.stop())

const ask = (text: string, chatId: string = g.ids.dm) =>
  g.served.sandbox.world.say({ chatId, from: g.ids.alice, text, mentionBot: chatId !== g.ids.dm }).id
const isCard = '"msg_type":"interactive"'

describe('case 23, a card that the platform still refuses', () => {
  test('falls back to rich text with all seven tables, in order; the code of the refusal is kept', async () => {
    const { faults } = g.served.sandbox
    const stop = faults.add({
      api: 'message.reply',
      when: { contains: isCard },
      do: {
        kind: 'code',
        code: 230099,
        msg: 'Failed to create card content, ext=ErrCode: 11310; ErrMsg: card table number over limit',
      },
    })
    const id = ask(`!reply ${source}`)
    await until(async () => {
      const rows = await g.db.sql`select 1 from collab.deliveries where cause_kind = 'result' and outcome = 'verified'`
      return rows.length === 1
    }, 'the answer')
    stop()
    const answers = g.answers(g.ids.dm)
    expect(new Set(answers.map((answer) => answer.msgType))).toEqual(new Set(['post']))
    expect(answers.every((answer) => answer.parentId === id)).toBe(true)
    const said = answers.map(textOf).join('\n')
    const order = [1, 2, 3, 4, 5, 6, 7].map((n) => said.indexOf(`| a${n} | ${n} |`))
    expect(order.every((at) => at >= 0)).toBe(true)
    expect([...order].sort((a, b) => a - b)).toEqual(order)
    const attempts = await g.db.sql<{ code: number; detail: string }[]>`
      select code, detail from collab.send_attempts where outcome = 'refused'`
    expect(attempts.length).toBe(answers.length)
    for (const { code, detail } of attempts) {
      expect(code).toBe(230099)
      expect(detail).toMatch(/^ErrCode 11310/)
    }
  })

  test('and where rich text is refused, too, it is text; the API shows which row stands for which', async () => {
    const { faults } = g.served.sandbox
    const stops = [isCard, '"msg_type":"post"'].map((contains) =>
      faults.add({ api: 'message.reply', when: { contains }, do: { kind: 'code', code: 230001 } }),
    )
    const id = ask('!reply **bold** and\n\n| a | b |\n| - | - |\n| 1 | 2 |')
    const answer = await until(() => g.answers(g.ids.dm).find((one) => one.parentId === id), 'the answer')
    await g.quiet()
    for (const stop of stops) stop()
    expect(answer.msgType).toBe('text')
    expect(textOf(answer)).toContain('| 1 | 2 |')
    const { items } = (await (await g.api('/api/v1/deliveries?limit=1')).json()) as {
      items: { parts: { index: number; subIndex: number; msgType: string; state: string; because: string }[] }[]
    }
    expect(must(items[0], 'the delivery').parts).toMatchObject([
      { index: 0, subIndex: 0, msgType: 'interactive', state: 'superseded', because: 'bad-format' },
      { index: 0, subIndex: 1, msgType: 'post', state: 'superseded', because: 'bad-format' },
      { index: 0, subIndex: 2, msgType: 'text', state: 'verified', because: null },
    ])
  })

  test('a text that an audit refuses has one refusal, no ladder and no second route; the owner gets the page', async () => {
    const { faults } = g.served.sandbox
    const before = g.answers(g.ids.dm).length
    const stop = faults.add({
      api: 'message.reply',
      when: { contains: 'forbidden words' },
      do: { kind: 'code', code: 230028 },
    })
    ask('!reply **forbidden words**', g.ids.group)
    const notice = await until(() => g.answers(g.ids.group)[0], 'the notice in the place')
    const direct = await until(() => g.answers(g.ids.dm)[before], "the notice in the owner's chat")
    // The refused delivery itself stays a dead job, so nothing is quiet: both notices have arrived.
    await until(async () => {
      const rows = await g.db.sql`select 1 from collab.deliveries where cause_kind = 'notice' and outcome = 'verified'`
      return rows.length === 2
    }, 'the end of both notices')
    stop()
    expect(textOf(notice)).toContain('cannot be shown here')
    const [request] = await g.db.sql<
      { id: string }[]
    >`select id from collab.work_requests order by opened_at desc limit 1`
    expect(textOf(direct)).toContain(`${g.gateway.url}/requests/${request?.id}`)
    expect(textOf(direct)).toContain('0 of 1 parts arrived')
    const chats = [g.ids.group, g.ids.dm].flatMap((chatId) => g.answers(chatId))
    expect(chats.filter((message) => textOf(message).includes('forbidden words'))).toEqual([])
    expect(g.served.sandbox.stats().calls['message.reply']?.['230028']).toBe(1)
    expect(g.answers(g.ids.group)).toHaveLength(1)
    expect(g.answers(g.ids.dm)).toHaveLength(before + 1)
  })
})
