import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MINUTE } from '../../src/lib/time.js'
import { must } from '../../src/lib/assert.js'
import { buttonsOf } from '../kit/buttons.js'
import { textOf, until, testGateway, type TestGateway } from '../kit/gateway.js'

let g: TestGateway
beforeAll(async () => {
  g = await testGateway()
})
afterAll(() => g.stop())

/** Says something that reaches the gateway so many minutes after it was written. */
const say = (minutesAgo: number, text: string, chatId: string = g.ids.dm, mentionBot = chatId !== g.ids.dm) =>
  g.served.sandbox.world.say({
    chatId,
    from: g.ids.alice,
    text,
    mentionBot,
    createTime: Date.now() - minutesAgo * MINUTE,
  }).id
const notices = (chatId: string = g.ids.dm) =>
  g.answers(chatId).filter((message) => /reached me late|晚到/u.test(textOf(message)))
const answersTo = (id: string, chatId: string = g.ids.dm) => g.answers(chatId).filter((one) => one.parentId === id)

interface Listed {
  readonly id: string
  readonly state: string
  readonly origin: { readonly messageId: string }
  readonly next: { readonly owner: string; readonly condition: string } | null
}
async function request(messageId: string): Promise<Listed> {
  const { items } = (await (await g.api('/api/v1/requests?limit=100')).json()) as { items: Listed[] }
  const listed = must(
    items.find((item) => item.origin.messageId === messageId),
    'the request',
  )
  return (await (await g.api(`/api/v1/requests/${listed.id}`)).json()) as Listed
}

const unresolved = async () =>
  (await (await g.api('/metrics')).text()).split('\n').filter((line) => line.startsWith('requests_unresolved'))

describe('messages that come late', () => {
  let held: readonly string[]
  test('they are held with their receipt, shown as owed to the owner, and nothing runs', async () => {
    held = [say(45, '!reply first'), say(30, '!reply second'), say(20, '!reply third')]
    for (const id of held) await until(() => g.receipts(g.ids.dm, id).includes('Get'), 'a receipt')
    await until(() => notices().length > 0, 'the notice')
    await g.quiet()
    expect(await g.db.sql`select 1 from collab.turns`).toHaveLength(0)
    for (const id of held) {
      const shown = await request(id)
      expect(shown.state).toBe('open')
      expect(shown.next).toMatchObject({ owner: 'owner', condition: 'word-of-owner' })
    }
    expect(await unresolved()).toContain('requests_unresolved{axis="assignment",value="held"} 3')
  })

  test('one notice tells of all of them, with their number and the age of the oldest', () => {
    expect(notices()).toHaveLength(1)
    const [notice] = notices()
    expect(textOf(must(notice, 'it'))).toContain('3 messages reached me late')
    expect(textOf(must(notice, 'it'))).toContain('45 minutes ago')
    expect(notice?.parentId).toBe(held[0])
  })

  test('one more that comes after the notice is told of too, and the notice counts all', async () => {
    const later = say(15, '!reply fourth')
    held = [...held, later]
    await until(() => notices().length === 2, 'a second notice')
    await g.quiet()
    expect(textOf(must(notices()[1], 'it'))).toContain('4 messages reached me late')
  })

  test('a message that is not late runs at once, before them', async () => {
    const now = say(0, '!reply at once')
    await until(() => answersTo(now).length === 1, 'the answer')
    for (const id of held) expect(answersTo(id).filter(isAnswer)).toHaveLength(0)
  })

  test('/run starts all in one turn, in the order in which they were written, and their receipts go when it is answered', async () => {
    const word = say(0, '/run')
    const told = await until(() => answersTo(word)[0], 'the answer to the word')
    expect(textOf(told)).toContain('4 messages are running now')
    const texts = ['first', 'second', 'third', 'fourth']
    const answered = () => g.answers(g.ids.dm).filter((one) => held.includes(one.parentId ?? '') && isAnswer(one))
    await until(() => answered().length === 1, 'the answer')
    await g.quiet()
    expect(answered().map((one) => one.parentId)).toEqual(held.slice(0, 1))
    const answer = textOf(must(answered()[0], 'the answer'))
    const places = texts.map((text) => answer.indexOf(text))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    for (const id of [...held, word]) expect(g.receipts(g.ids.dm, id)).toEqual([])
    for (const id of held) expect((await request(id)).state).toBe('closed')
    expect((await unresolved()).filter((line) => !line.endsWith(' 0'))).toEqual([])
  })

  test('the cards that had asked show what the word decided, and a press that comes after it hears the same', async () => {
    const asked = notices().map((one) => one.id)
    expect(asked.length).toBeGreaterThan(0)
    for (const card of notices()) {
      expect(textOf(card)).toContain('reached me late')
      expect(textOf(card)).toContain('4 messages are running now')
      expect(buttonsOf(card)).toEqual([])
    }
    const value = { of: 'lark-manager', form: '1', act: 'skip-held', conversation: await conversationOf(held[0]) }
    const { world } = g.served.sandbox
    const pressed = await world.click({ messageId: must(asked[0], 'the card'), by: g.ids.alice, value })
    expect(JSON.stringify(pressed)).toContain('This was decided already: run.')
    await g.quiet()
  })
  const conversationOf = async (message: string | undefined) =>
    (
      await g.db.sql<{ id: string }[]>`
        select conversation as id from collab.work_requests where origin_message = ${message ?? ''}`
    )[0]?.id
  const isAnswer = (message: ReturnType<typeof g.answers>[number]) => !notices().some((one) => one.id === message.id)

  test('/跳过 lets them go: nothing runs, the receipts go, and the requests are closed', async () => {
    const turns = (await g.db.sql`select 1 from collab.turns`).length
    const late = [say(40, '!reply 不要', g.ids.group), say(25, '!reply 也不要', g.ids.group)]
    await until(() => notices(g.ids.group).length === 1, 'the notice')
    expect(textOf(must(notices(g.ids.group)[0], 'it'))).toMatch(/2 条消息/u)
    const word = say(0, '/跳过', g.ids.group)
    await until(() => answersTo(word, g.ids.group).length === 1, 'the answer to the word')
    await g.quiet()
    for (const id of [...late, word]) expect(g.receipts(g.ids.group, id)).toEqual([])
    expect(await g.db.sql`select 1 from collab.turns`).toHaveLength(turns)
    for (const id of late) expect((await request(id)).state).toBe('closed')
    expect(answersTo(word, g.ids.group)).toHaveLength(1)
  })

  test('with nothing held, the words say so', async () => {
    const word = say(0, '/skip')
    const told = await until(() => answersTo(word)[0], 'the answer')
    expect(textOf(told)).toContain('Nothing is waiting here.')
  })

  test('a control word that itself comes late is not carried out, now or later', async () => {
    const kept = say(30, '!reply kept')
    await until(() => notices().length === 3, 'the notice')
    const late = say(20, '/run')
    await until(async () => (await disposition(late)) === 'late-control', 'the word to be seen')
    await g.quiet()
    // Its sender hears that it was too late, and nothing else.
    expect(answersTo(late).map(textOf)).toEqual([expect.stringContaining('reached me too late')])
    expect(g.receipts(g.ids.dm, late)).toEqual([])
    expect((await request(kept)).next).toMatchObject({ condition: 'word-of-owner' })
    const skip = say(0, '/skip')
    await until(() => answersTo(skip).length === 1, 'the end')
    await g.quiet()
    expect((await request(kept)).state).toBe('closed')
  })

  test('words of one place do nothing to what is held in another', async () => {
    const inGroup = say(30, '!reply here', g.ids.group)
    await until(() => notices(g.ids.group).length === 2, 'the notice')
    const word = say(0, '/run')
    expect(textOf(await until(() => answersTo(word)[0], 'the answer'))).toContain('Nothing is waiting here.')
    expect((await request(inGroup)).next).toMatchObject({ condition: 'word-of-owner' })
  })
})

async function disposition(messageId: string): Promise<string | null> {
  const [row] = await g.db.sql<{ disposition: string | null }[]>`
    select disposition from collab.ingress_events where key = ${messageId}`
  return row?.disposition ?? null
}
