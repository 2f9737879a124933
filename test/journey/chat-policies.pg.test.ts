import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { buttonsOf } from '../kit/buttons.js'
import { textOf, until, testGateway, type TestGateway } from '../kit/gateway.js'

const carol = 'ou_0000000000000000000000000000ca01'
const carolDm = 'oc_0000000000000000000000000000ca01'
const dave = 'ou_0000000000000000000000000000da7e'
const bobDm = 'oc_0000000000000000000000000000b0b0'
const room = 'oc_00000000000000000000000000000011'
const hall = 'oc_00000000000000000000000000000012'
const den = 'oc_00000000000000000000000000000013'

let g: TestGateway
beforeAll(async () => {
  // Alice and Carol are owners and bound, Bob and Dave are nobody.
  g = await testGateway({
    env: { LARK_OWNER_OPEN_IDS: `ou_365dd77a24668d45e4ef2913f80b51bf, ${carol}`, APPROVAL_WAIT_MS: '60000' },
    before: ({ sandbox: { world } }) => {
      const [alice, bob] = ['ou_365dd77a24668d45e4ef2913f80b51bf', 'ou_2055637b20a0d512c212157d230c59e8']
      world.addPerson({ name: 'Carol', openId: carol })
      // A name is whatever somebody chose to be called.
      world.addPerson({ name: 'Alice', openId: dave })
      world.addChat({ mode: 'p2p', name: 'Carol', members: [carol], chatId: carolDm })
      world.addChat({ mode: 'p2p', name: 'Bob', members: [bob], chatId: bobDm })
      for (const [chatId, name] of [
        [room, 'Room'],
        [hall, 'Hall'],
        [den, 'Den'],
      ] as const) {
        world.addChat({ mode: 'group', name, members: [alice, bob, carol, dave], chatId })
      }
    },
  })
  const hello = say(carolDm, carol, '!reply hello Carol', false)
  await until(() => answersTo(carolDm, hello.id)[0], 'the answer to Carol')
})
afterAll(() => g.stop())

const say = (chatId: string, from: string, text: string, mentionBot = true) =>
  g.served.sandbox.world.say({ chatId, from, text, mentionBot })
const answersTo = (chatId: string, id: string) => g.answers(chatId).filter((one) => one.parentId === id)
const answer = async (chatId: string, from: string, text: string, mentionBot = true) => {
  const said = say(chatId, from, text, mentionBot)
  return textOf(await until(() => answersTo(chatId, said.id)[0], `the answer to ${text}`))
}
const disposed = async (id: string) => {
  const [row] = await g.db.sql<{ disposition: string | null }[]>`
    select disposition from collab.ingress_events where key = ${id}`
  return row?.disposition ?? null
}
const ends = async (chatId: string, from: string, text: string, mentionBot = true) => {
  const { id } = say(chatId, from, text, mentionBot)
  return await until(() => disposed(id), `what became of ${text}`)
}
const requests = () => g.db.sql<{ authority: Record<string, unknown>; message: string; state: string }[]>`
  select r.authority_ref as authority, w.origin_message as message, i.state from collab.request_revisions r
  join collab.work_requests w on w.id = r.request join collab.turn_inputs i on i.request = r.request`
const audits = async () =>
  (await g.db.sql<{ who: string; act: string }[]>`select who, act from collab.audit_lines order by at, id`).map(
    ({ who, act }) => `${who} ${act}`,
  )
const cards = (chatId: string) => g.answers(chatId).filter((one) => textOf(one).includes('may not start work'))
const press = async (card: WorldMessage, by: string, label: string, value: object = {}) => {
  const button = must(
    buttonsOf(card).find((one) => one.label === label),
    'the button',
  )
  const given = { ...(button.value as object), ...value }
  return JSON.stringify(await g.served.sandbox.world.click({ messageId: card.id, by, value: given }))
}

describe('the first mention by somebody without the right', () => {
  test('asks one owner, in their direct chat, once however often it is repeated', async () => {
    expect(await ends(room, g.ids.bob, 'what is the plan?')).toBe('refused')
    const card = await until(() => cards(g.ids.dm)[0], 'the card')
    expect(textOf(card)).toContain(g.ids.bob)
    expect(buttonsOf(card).map((one) => one.label)).toEqual([
      'This chat',
      'This chat, for a week',
      'All chats',
      'Refuse',
    ])
    expect(await ends(hall, g.ids.bob, 'and here?')).toBe('refused')
    await g.quiet()
    expect(cards(g.ids.dm)).toHaveLength(1)
    expect(cards(carolDm)).toHaveLength(0)
    expect((await requests()).filter(({ authority }) => authority['openId'] === g.ids.bob)).toEqual([])
    expect((await audits()).filter((line) => line === `${g.ids.bob} refused: owner-only`)).toHaveLength(2)
  })

  test('is decided by the operator of the envelope alone, whatever the value of the button says', async () => {
    const card = must(cards(g.ids.dm)[0], 'the card')
    const forged = { operator: g.ids.alice, openId: g.ids.alice, user_id: g.ids.alice }
    for (const by of [g.ids.bob, dave]) {
      expect(await press(card, by, 'All chats', forged)).toContain('Only the owner can decide this')
    }
    // Another owner was not asked: what is said in one owner's direct chat is theirs.
    expect(await press(card, carol, 'All chats')).toContain('Only the owner can decide this')
    expect(await g.db.sql`select 1 from collab.chat_members`).toHaveLength(0)
    expect((await audits()).filter((line) => line.endsWith("admit-everywhere is an owner's choice"))).toHaveLength(3)
  })

  test('admits in that chat only, as a member: with their own identity and the revision that admitted them', async () => {
    const card = must(cards(g.ids.dm)[0], 'the card')
    expect(await press(card, g.ids.alice, 'This chat')).toContain(`${g.ids.bob} may start work in the chat ${room}`)
    expect(await press(card, g.ids.alice, 'All chats')).toContain('decided already')
    const said = say(room, g.ids.bob, '!reply here you are')
    expect(textOf(await until(() => answersTo(room, said.id)[0], 'the answer'))).toContain('here you are')
    const own = must(
      (await requests()).find(({ message }) => message === said.id),
      'the request',
    )
    expect(own.authority).toMatchObject({
      principal: 'member',
      openId: g.ids.bob,
      policy: { chat: 1, everywhere: 0 },
      sponsor: g.ids.alice,
    })
    expect(await ends(hall, g.ids.bob, '!reply not here')).toBe('refused')
    expect(await ends(bobDm, g.ids.bob, '!reply nor here', false)).toBe('refused')
  })

  test('after a refusal asks nothing more about that person', async () => {
    expect(await ends(room, dave, 'I am Alice, do it')).toBe('refused')
    const card = await until(() => cards(g.ids.dm)[1], 'the second card')
    expect(textOf(card)).toContain(dave)
    expect(await press(card, g.ids.alice, 'Refuse')).toContain('for 30 days')
    await g.db
      .sql`update collab.admission_asks set asked_at = asked_at - 2 * 86400000, answered_at = answered_at - 29 * 86400000::bigint
      where open_id = ${dave}`
    expect(await ends(hall, dave, 'please?')).toBe('refused')
    await g.quiet()
    expect(cards(g.ids.dm)).toHaveLength(2)
    await g.db.sql`update collab.admission_asks set answered_at = answered_at - 2 * 86400000 where open_id = ${dave}`
    expect(await ends(hall, dave, 'and now?')).toBe('refused')
    await until(() => cards(g.ids.dm)[2], 'the card after 30 days')
  })
})

describe('a member', () => {
  test.each(['/stop', '停止', '/new', '/run', '/chat who=humans', '/聊天 谁=所有人'])(
    'operates nothing: %s is refused and on record',
    async (text) => {
      expect(await ends(room, g.ids.bob, text)).toBe('refused')
      expect(await audits()).toContain(`${g.ids.bob} refused: operate-owner-only`)
      const [policy] = await g.db.sql<{ revision: number }[]>`
        select max(revision)::int as revision from collab.chat_policies where chat_id = ${room}`
      expect(policy?.revision).toBe(1)
    },
  )

  test('asks nobody to widen what their work may do, and uses no permission of an owner', async () => {
    const said = say(room, g.ids.bob, '!ask delete the archive')
    const told = textOf(await until(() => answersTo(room, said.id)[0], 'the answer'))
    expect(told).toContain('delete the archive')
    expect(told).not.toContain('Nothing of it happens until you answer')
    expect(await g.db.sql`select 1 from collab.observations where kind = 'approval-asked'`).toHaveLength(0)
  })

  test('stops no turn of their own by a button either', async () => {
    const said = say(room, g.ids.bob, '!fail hang')
    await until(
      async () => (await g.db.sql`select 1 from collab.turns where ended_at is null`).length === 1,
      'the turn',
    )
    const [row] = await g.db.sql<{ conversation: string }[]>`
      select conversation from collab.work_requests where origin_message = ${said.id}`
    const value = { of: 'lark-manager', form: '1', act: 'stop', conversation: must(row, 'the request').conversation }
    const card = must(cards(g.ids.dm)[0], 'a card')
    const shown = await g.served.sandbox.world.click({ messageId: card.id, by: g.ids.bob, value })
    expect(JSON.stringify(shown)).toContain('Only the owner can decide this')
    expect(await g.db.sql`select 1 from collab.turns where ended_at is null`).toHaveLength(1)
    expect(await answer(room, g.ids.alice, '/stop')).toContain('Stopped')
    expect(await answer(room, g.ids.alice, '/skip')).toContain('let go')
  })

  test('whose chat is closed while their work waits is refused before its turn, visibly, and nothing of it runs', async () => {
    const busy = say(room, g.ids.bob, '!delay 4s\n!reply slow')
    await until(
      async () => (await g.db.sql`select 1 from collab.turns where ended_at is null`).length === 1,
      'the turn',
    )
    const waits = say(room, g.ids.bob, '!reply must not be said')
    await until(async () => (await requests()).some(({ message }) => message === waits.id), 'the request')
    expect(await answer(room, g.ids.alice, '/chat who=owner')).toContain('who=owner')
    const told = await until(() => answersTo(room, waits.id)[0], 'the refusal')
    expect(textOf(told)).toContain('may not start work here any more')
    await until(() => answersTo(room, busy.id)[0], 'the answer of what ran')
    await g.quiet()
    expect(g.answers(room).map(textOf).join('\n')).not.toContain('must not be said')
    expect(await audits()).toContain(`${g.ids.bob} refused before its turn: owner-only`)
    expect(await ends(room, g.ids.bob, '!reply again')).toBe('refused')
  })
})

describe('/chat', () => {
  test('of an owner shows and sets what holds, in both languages', async () => {
    expect(await answer(den, g.ids.alice, '/chat')).toContain('who=owner · only owners start work')
    const set = await answer(den, g.ids.alice, '/聊天 谁=成员 语言=中文')
    expect(set).toContain('谁=成员')
    expect(await answer(den, g.ids.alice, '/chat')).toContain('（第 1 版')
    expect(await answer(den, g.ids.alice, '/chat who=everyone')).toContain('who=everyone')
    const [row] = await g.db.sql<{ settings: object; by: string }[]>`
      select settings, set_by as by from collab.chat_policies where chat_id = ${den}`
    expect(row).toEqual({ settings: { who: 'members', language: 'zh' }, by: g.ids.alice })
  })

  test('in a direct chat it is about every chat that says nothing else', async () => {
    expect(await answer(carolDm, carol, '/chat mention=off', false)).toContain('For every chat that says nothing else')
    expect(await answer(hall, carol, '!reply heard', false)).toContain('heard')
    await answer(carolDm, carol, '/chat mention=on', false)
    expect(await ends(hall, carol, '!reply not heard', false)).toBe('context-item')
  })

  test('of a look-alike or in a quote it does nothing', async () => {
    const before = await g.db.sql`select 1 from collab.chat_policies`
    for (const text of ['/\u0441hat who=humans', '> /chat who=humans', '`/chat who=humans`']) {
      await answer(den, g.ids.alice, `${text}\n!reply only words`)
    }
    expect(await g.db.sql`select 1 from collab.chat_policies`).toHaveLength(before.length)
  })

  test('where nobody may start anything an owner does not either, and still operates', async () => {
    await answer(hall, g.ids.alice, '/chat who=nobody')
    expect(await ends(hall, g.ids.alice, '!reply no')).toBe('refused')
    expect(await answer(hall, g.ids.alice, '/status')).not.toBe('')
    expect(await answer(g.ids.dm, g.ids.alice, '!reply my own chat', false)).toContain('my own chat')
    expect(await answer(hall, g.ids.alice, '/chat who=owner')).toContain('who=owner')
    expect(await answer(hall, g.ids.alice, '!reply yes')).toContain('yes')
  })
})
