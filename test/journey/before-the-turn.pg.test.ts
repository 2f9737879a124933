import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SECOND } from '../../src/lib/time.js'
import { must } from '../../src/lib/assert.js'
import { buttonsOf } from '../kit/buttons.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { heldRecordingEnv, recordedPrompts } from '../kit/recording.js'

const folder = mkdtempSync(join(tmpdir(), 'lark-manager-holds-'))
const hold = (n: number) => writeFileSync(join(folder, `hold-${n}`), '')
const letGo = (n: number) => rmSync(join(folder, `hold-${n}`))
let g: TestGateway
beforeAll(async () => {
  g = await testGateway({ env: heldRecordingEnv(folder) })
})
afterAll(async () => {
  await g.stop()
  rmSync(folder, { recursive: true, force: true })
})

const prompts = () => recordedPrompts(g.dataDir)
/** The prompt in which one message was shown. */
const promptWith = (words: string) => until(() => prompts().find((one) => one.text.includes(words)), `"${words}"`)
const world = () => g.served.sandbox.world
const say = (text: string) => world().say({ chatId: g.ids.dm, from: g.ids.alice, text })
const receiptOf = (id: string) => until(() => g.receipts(g.ids.dm, id).includes('Get'), 'the receipt')
const past = (time: number) => until(() => Date.now() > time, 'a moment')

async function revisionsOf(message: string): Promise<number> {
  const [row] = await g.db.sql<{ head: number }[]>`
    select h.revision as head from collab.request_heads h join collab.work_requests r on r.id = h.request
    where r.origin_message = ${message}`
  return row?.head ?? 0
}

describe('a message that its sender edits', () => {
  test.each([
    ['the platform tells of it', true],
    ['only a read-back shows it', false],
  ])('while it waits: the turn is shown the latest words, and only them (%s)', async (name, told) => {
    const busy = prompts().length + 1
    hold(busy)
    say(`a long job, ${name}`)
    await promptWith(`a long job, ${name}`)
    const said = say(`the first words, ${name}`)
    await receiptOf(said.id)
    world().edit(said.id, `the last words, ${name}`, { told })
    if (told) await until(async () => (await revisionsOf(said.id)) === 2, 'the revision')
    else await past(said.createTime + 1.5 * SECOND)
    letGo(busy)
    const { text } = await promptWith(`the last words, ${name}`)
    expect(text).toContain(`<<<message>>>\nthe last words, ${name}\n<<<end of message>>>`)
    expect(text).not.toContain('the first words')
    await g.quiet()
    expect(await revisionsOf(said.id)).toBe(2)
    // The old words stand where they were said.
    const texts = await g.db.sql`select 1 from collab.texts where body = ${`the first words, ${name}`}`
    expect(texts).toHaveLength(1)
    expect(g.answers(g.ids.dm).filter((answer) => answer.parentId === said.id)).toHaveLength(1)
  })

  const answersTo = (id: string) => g.answers(g.ids.dm).filter((answer) => answer.parentId === id)
  const cardOf = (id: string) =>
    until(() => answersTo(id).find((one) => one.content.includes('after I had answered it')), 'the card')
  const press = async (card: { readonly id: string; readonly content: string }, label: string) => {
    const { value } = must(
      buttonsOf(card).find((one) => one.label === label),
      label,
    )
    return JSON.stringify(await world().click({ messageId: card.id, by: g.ids.alice, value }))
  }

  test('while the turn works on it: the new words are owed next, and its sender is told so', async () => {
    hold(prompts().length + 1)
    const busy = prompts().length + 1
    const said = say('the draft of the words')
    await promptWith('the draft of the words')
    world().edit(said.id, 'the final form of the words', { told: true })
    await until(() => answersTo(said.id).find((one) => one.content.includes('I take them up next')), 'the notice')
    expect(await revisionsOf(said.id)).toBe(2)
    letGo(busy)
    expect((await promptWith('the final form of the words')).text).toContain('the final form of the words')
    await g.quiet()
    expect(await revisionsOf(said.id)).toBe(2)
    const answers = answersTo(said.id).filter((one) => one.content.includes('was read'))
    expect(answers).toHaveLength(2)
    expect(g.receipts(g.ids.dm, said.id)).toEqual([])
  })

  test('after it was answered: nothing runs by itself; the owner is asked, and a press takes the new words up once', async () => {
    const said = say('as it was')
    await until(() => answersTo(said.id)[0], 'the answer')
    await g.quiet()
    world().edit(said.id, 'as it is', { told: true })
    const card = await cardOf(said.id)
    await g.quiet()
    expect(await revisionsOf(said.id)).toBe(1)
    expect(prompts().some((one) => one.text.includes('as it is'))).toBe(false)
    const told = await Promise.all([press(card, 'Take them up'), press(card, 'Leave it')])
    expect(told.filter((one) => one.includes('decided already'))).toHaveLength(1)
    await g.quiet()
    const [row] = await g.db.sql<{ act: string }[]>`select act from collab.card_choices where message_id = ${card.id}`
    expect(await revisionsOf(said.id)).toBe(row?.act === 'take-edit' ? 2 : 1)
    expect(prompts().filter((one) => one.text.includes('as it is'))).toHaveLength(row?.act === 'take-edit' ? 1 : 0)
    const shown = must(
      g.answers(g.ids.dm).find((one) => one.id === card.id),
      'the card',
    )
    expect(buttonsOf(shown)).toEqual([])
  })

  test('left as it is, nothing runs; changed once more, the owner is asked once more', async () => {
    const said = say('a first version')
    await until(() => answersTo(said.id)[0], 'the answer')
    await g.quiet()
    world().edit(said.id, 'a second version', { told: true })
    expect(await press(await cardOf(said.id), 'Leave it')).toContain('The answer stays as it is.')
    world().edit(said.id, 'a third version', { told: true })
    const asking = () => answersTo(said.id).filter((one) => buttonsOf(one).length > 0)
    await until(() => asking().length === 1, 'the second card')
    expect(await press(must(asking()[0], 'the card'), 'Take them up')).toContain('I take them up next')
    await promptWith('a third version')
    await g.quiet()
    expect(prompts().some((one) => one.text.includes('a second version'))).toBe(false)
    expect(await revisionsOf(said.id)).toBe(2)
  })

  test('blanks alone are no change', async () => {
    const said = say('the same words')
    await until(() => answersTo(said.id)[0], 'the answer')
    await g.quiet()
    const before = answersTo(said.id).length
    world().edit(said.id, 'the  same words ', { told: true })
    await g.served.sandbox.settled()
    await g.quiet()
    expect(answersTo(said.id)).toHaveLength(before)
  })
})

describe('what comes with a message', () => {
  /** One at a time: the order of writing is that of the platform's clock. */
  async function file(fileName: string, body: string) {
    const bytes = Buffer.from(body)
    const sent = world().sayFile({ chatId: g.ids.dm, from: g.ids.alice, fileName, bytes, kind: 'file' })
    await past(sent.createTime)
    return sent
  }

  test('files sent one after the other, and the words about them, go into one turn', async () => {
    const before = prompts().length
    const sent = [await file('a.txt', 'a'), await file('b.txt', 'bb'), await file('c.txt', 'ccc')]
    const about = say('compare these three')
    const { text, files } = await promptWith('compare these three')
    await g.quiet()
    expect(prompts()).toHaveLength(before + 1)
    expect(files.map((one) => one.size)).toEqual([1, 2, 3])
    expect(text).toMatch(/a\.txt[^]*b\.txt[^]*c\.txt/)
    // Each keeps its own receipt until the answer covers it.
    for (const one of [...sent, about]) expect(g.receipts(g.ids.dm, one.id)).toEqual([])
  })

  test('files without a word are taken up together, after a moment', async () => {
    const before = prompts().length
    await file('d.txt', 'dddd')
    await file('e.txt', 'eeeee')
    await until(() => prompts().length > before, 'the turn')
    await g.quiet()
    expect(prompts()).toHaveLength(before + 1)
    expect(
      prompts()
        .at(-1)
        ?.files.map((one) => one.size),
    ).toEqual([4, 5])
  })

  test('a voice message: the agent and its sender are told that there are no words', async () => {
    const voice = world().sayFile({
      chatId: g.ids.dm,
      from: g.ids.alice,
      fileName: 'voice.opus',
      bytes: Buffer.from('OggS-voice'),
      kind: 'audio',
      duration: 4_200,
    })
    const { text, files } = await promptWith('[audio 1: 4.2 s]')
    expect(text).toMatch(/Not available to you:\n- the words of .+: unsupported/)
    expect(files.map((one) => one.size)).toEqual([10])
    await g.quiet()
    const said = g.answers(g.ids.dm).filter((answer) => answer.parentId === voice.id)
    expect(said).toHaveLength(2)
    expect(said.some((answer) => /voice message|语音/.test(answer.content))).toBe(true)
  })

  test('a sticker is named, and said not to be there', async () => {
    const content = JSON.stringify({ file_key: 'file_v3_sticker' })
    world().say({ chatId: g.ids.dm, from: g.ids.alice, raw: { msgType: 'sticker', content } })
    const { text } = await promptWith('[sticker]')
    expect(text).toContain('- sticker 1: unsupported')
  })

  test('a forwarded bundle with a picture inside says what cannot be had', async () => {
    const inner = [
      { from: g.ids.bob, msgType: 'text', content: JSON.stringify({ text: 'look at this chart' }) },
      { from: g.ids.bob, msgType: 'image', content: JSON.stringify({ image_key: 'img_v3_inside' }) },
    ]
    const content = JSON.stringify({ content: 'Merged and Forwarded Message' })
    const raw = { msgType: 'merge_forward', content }
    world().say({ chatId: g.ids.dm, from: g.ids.alice, raw, children: inner })
    const { text } = await promptWith('look at this chart')
    expect(text).toMatch(/\[image 1\]\n> \(files of forwarded messages cannot be fetched\)/)
  })

  test('a message that was withdrawn before it came starts nothing', async () => {
    const before = prompts().length
    world().say({ chatId: g.ids.dm, from: g.ids.alice, raw: { msgType: 'text', content: '' } })
    await until(
      async () =>
        (await g.db.sql`select 1 from collab.ingress_events where disposition = 'ignored' and kind = 'message'`)
          .length === 1,
      'the message to be ignored',
    )
    await g.quiet()
    expect(prompts()).toHaveLength(before)
  })
})
