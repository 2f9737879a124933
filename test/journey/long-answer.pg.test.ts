import { afterAll, beforeAll, expect, test } from 'vitest'
import { longText } from '../../src/runtime/rehearsal/long-text.js'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { acceptance } from '../kit/acceptance.js'
import { textOf, until, testGateway, type TestGateway } from '../kit/gateway.js'

const CONCLUSION = 'The queue is sound; two tables need a look.'
let g: TestGateway
/** 120 KB: fits the chat. */
let long: WorldMessage
/** 300 KB: does not. */
let longer: WorldMessage
beforeAll(async () => {
  g = await testGateway()
  const { world } = g.served.sandbox
  const ask = (size: number) =>
    world.say({ chatId: g.ids.dm, from: g.ids.alice, text: `!long ${size}kb\n!conclusion ${CONCLUSION}` })
  // One after the other: what waits together is answered together.
  long = ask(120)
  await until(() => answersTo(long).length > 0, 'the beginning of the first')
  longer = ask(300)
  await until(() => answersTo(longer).length > 0, 'the beginning of the second')
  await g.quiet(40_000)
})
afterAll(() => g.stop())

const answersTo = (message: WorldMessage) => g.answers(g.ids.dm).filter((part) => part.parentId === message.id)
const named = (end: string) =>
  answersTo(longer)
    .filter((part) => part.msgType === 'file')
    .find((part) => fileOf(part).name.endsWith(end))
function fileOf(message: WorldMessage): { readonly name: string; readonly text: string } {
  const { file_key: key, file_name: name } = JSON.parse(message.content) as { file_key: string; file_name?: string }
  const { world } = g.served.sandbox
  const upload = must(
    world.uploads().find((one) => one.key === key),
    'the upload',
  )
  return { name: name ?? upload.fileName, text: Buffer.from(world.bytesOf(key)).toString('utf8') }
}

acceptance('A9', 'an answer of 120 KB with code, tables and Chinese text arrives whole, its conclusion first', () => {
  const parts = answersTo(long)
  expect(parts.every((part) => part.msgType === 'interactive')).toBe(true)
  expect(textOf(must(parts[0], 'the first part'))).toContain(CONCLUSION)
  const shown = parts.map(textOf).join('\n')
  const sections = [...shown.matchAll(/Section (\d+) 第 \d+ 节/gu)].map((found) => Number(found[1]))
  const wanted = longText(120_000).match(/^## \d+\. Section/gmu) ?? []
  expect(sections).toEqual(wanted.map((_, n) => n + 1))
  for (const line of longText(120_000).match(/^ {2}total \+= .*$/gmu) ?? []) expect(shown).toContain(line.trim())
  for (const [, cell] of longText(120_000).matchAll(/^\| (\d+\.\d+) \|/gmu)) expect(shown).toContain(cell)
})

acceptance('A9', 'one that the chat cannot hold: its conclusion first, then the whole report as files', () => {
  const parts = answersTo(longer)
  expect(parts.map((part) => part.msgType)).toEqual(['interactive', 'file', 'file'])
  expect(textOf(must(parts[0], 'the first part'))).toContain(CONCLUSION)
  expect(named('.md')).toBeDefined()
  expect(named('.html')).toBeDefined()
})

acceptance('A9', 'nothing of it is lost: the attached text holds the answer, byte for byte', async () => {
  const answer = longText(300_000)
  expect(Buffer.byteLength(answer)).toBeGreaterThanOrEqual(299_000)
  expect(fileOf(must(named('.md'), 'the report')).text.endsWith(answer)).toBe(true)
  const kept = await g.db.sql<{ body: string }[]>`
    select t.body from collab.results r join collab.texts t on t.digest = r.text_digest`
  expect(kept.map((row) => row.body).sort()).toEqual([longText(120_000), answer].sort())
})

acceptance('A9', 'the readable page has all of its sections and runs nothing', () => {
  const { text } = fileOf(must(named('.html'), 'the page'))
  const sections = longText(300_000).match(/^## \d+\. Section \d+/gmu) ?? []
  expect(sections.length).toBeGreaterThan(60)
  for (const section of sections) expect(text).toContain(section.slice(3))
  expect(text).not.toMatch(/<script/iu)
})

acceptance('A21', 'a short question has a short answer: one message, no file', async () => {
  const short = g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text: '!reply yes' })
  const to = () => g.answers(g.ids.dm).filter((part) => part.parentId === short.id)
  await until(() => to().length > 0, 'the answer')
  await g.quiet()
  expect(to().map((part) => part.msgType)).toEqual(['text'])
  expect(textOf(must(to()[0], 'the answer')).length).toBeLessThan(2_000)
})

test('an answer of several parts comes in order, each once, and the receipt goes after the last', async () => {
  const said = g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text: '!parts 4' })
  const to = () => g.answers(g.ids.dm).filter((part) => part.parentId === said.id)
  await until(() => to().length >= 4, 'the parts')
  await g.quiet()
  const numbers = to().flatMap((part) =>
    [...textOf(part).matchAll(/(?:^|[\n"]|\\n)(\d+)\. /gu)].map((found) => Number(found[1])),
  )
  expect(numbers.length).toBeGreaterThan(50)
  expect(numbers).toEqual(numbers.map((_, n) => n + 1))
  expect(g.receipts(g.ids.dm, said.id)).toEqual([])
})
