import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { until, testGateway, type TestGateway } from '../kit/gateway.js'

// What the cases 26 and 27 say of a payload, taken by a platform that refuses what it does not know.

const sourceOf = (folder: string) => readFileSync(new URL(`../cases/${folder}/input.md`, import.meta.url), 'utf8')
const links = sourceOf('26-bad-links-and-images-in-markdown')
const escapes = sourceOf('27-newlines-and-escapes-survive')

let g: TestGateway
beforeAll(async () => {
  g = await testGateway()
})
afterAll(() => g.stop())

const partsOf = (question: string) => g.db.sql<{ state: string; type: string; detached: boolean }[]>`
  select p.state, p.msg_type as type, p.detached from collab.delivery_parts p
  join collab.deliveries d on d.id = p.delivery join collab.work_requests w on w.id = d.request
  where w.origin_message = ${question} order by p.index, p.sub_index`

async function answerTo(markdown: string): Promise<{ readonly question: string; readonly answer: WorldMessage }> {
  const before = new Set(g.answers(g.ids.dm).map((one) => one.id))
  const asked = g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text: `!reply\n${markdown}` })
  const answer = await until(() => g.answers(g.ids.dm).find((one) => !before.has(one.id)), 'the answer')
  await g.quiet()
  return { question: asked.id, answer }
}

/** The Markdown of a card's elements. */
function markdownOf(message: WorldMessage): string {
  const found: string[] = []
  JSON.parse(message.content, (key, value: unknown) => {
    if (key === 'content' && typeof value === 'string') found.push(value)
    return value
  })
  return found.join('\n')
}

describe('cases 26 and 27, as the platform takes them', () => {
  test('no link and no picture takes the answer down: it is one card, with no second form', async () => {
    const { question, answer } = await answerTo(links)
    expect(answer.msgType).toBe('interactive')
    expect(answer.parentId).toBe(question)
    expect(await partsOf(question)).toEqual([{ state: 'verified', type: 'interactive', detached: false }])
    expect(markdownOf(answer)).toContain('[ok](https://example.test/a?b=1&c=2)')
  })

  test('a reply and a new message say the same, line by line', async () => {
    const replied = await answerTo(escapes)
    // The reply is refused in so many words: the same card goes as a message of its own.
    const refusal = { kind: 'code', code: 230011 } as const
    g.served.sandbox.faults.add({ api: 'message.reply', when: { contains: '项目一' }, times: 1, do: refusal })
    const anew = await answerTo(escapes)
    expect(anew.answer.parentId).toBeNull()
    expect((await partsOf(anew.question)).map((part) => part.state)).toEqual(['superseded', 'verified'])
    const lines = (message: WorldMessage) => markdownOf(message).split('\n')
    const said = lines(replied.answer)
    expect(said).toContain('- 项目一')
    // Before it stands only what it answers.
    expect(lines(anew.answer).slice(-said.length + 1)).toEqual(said.slice(1))
    expect(markdownOf(anew.answer)).toMatch(/no longer be replied to|已无法回复/u)
  })
})
