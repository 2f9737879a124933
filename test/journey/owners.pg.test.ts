import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seedIds } from '../../src/sandbox/seed.js'
import { textOf, until, testGateway, type TestGateway } from '../kit/gateway.js'

const carol = 'ou_0000000000000000000000000000ca01'
const dave = 'ou_0000000000000000000000000000da7e'
const carolDm = 'oc_0000000000000000000000000000ca01'
const daveDm = 'oc_0000000000000000000000000000da7e'
const bobDm = 'oc_0000000000000000000000000000b0b0'
const room = 'oc_00000000000000000000000000000011'

let g: TestGateway
beforeAll(async () => {
  // Alice is named and bound; Carol and Dave are named and have not written yet; Bob is nobody.
  g = await testGateway({
    env: { LARK_OWNER_OPEN_IDS: `${seedIds.alice}, ${carol}, ${dave}` },
    before: ({ sandbox: { world } }) => {
      world.addPerson({ name: 'Carol', openId: carol })
      world.addPerson({ name: 'Dave', openId: dave })
      const { alice, bob } = {
        alice: 'ou_365dd77a24668d45e4ef2913f80b51bf',
        bob: 'ou_2055637b20a0d512c212157d230c59e8',
      }
      world.addChat({ mode: 'p2p', name: 'Carol', members: [carol], chatId: carolDm })
      world.addChat({ mode: 'p2p', name: 'Dave', members: [dave], chatId: daveDm })
      world.addChat({ mode: 'p2p', name: 'Bob', members: [bob], chatId: bobDm })
      world.addChat({ mode: 'group', name: 'Room', members: [alice, bob, carol, dave], chatId: room })
    },
  })
})
afterAll(() => g.stop())

const say = (chatId: string, from: string, text: string, mentionBot = false) =>
  g.served.sandbox.world.say({ chatId, from, text, mentionBot })
const answersTo = (chatId: string, id: string) => g.answers(chatId).filter((one) => one.parentId === id)
const rows = async (table: 'work_requests' | 'turns' | 'reactions') =>
  (await g.db.sql.unsafe(`select 1 from collab.${table}`)).length

describe('who may start work', () => {
  test('a stranger who writes directly gets one calm line with their id, no reaction and no turn', async () => {
    const said = say(bobDm, g.ids.bob, 'do something for me')
    const told = await until(() => answersTo(bobDm, said.id)[0], 'the line')
    expect(textOf(told)).toContain(g.ids.bob)
    expect(textOf(told)).toContain('I only work for my owners')
    await g.quiet()
    expect(g.answers(bobDm)).toHaveLength(1)
    expect(g.receipts(bobDm, said.id)).toEqual([])
    expect([await rows('work_requests'), await rows('turns'), await rows('reactions')]).toEqual([0, 0, 0])
  })

  test('a member of a group gets one calm line a day, in topics too, and no reaction', async () => {
    const { world } = g.served.sandbox
    const first = say(room, g.ids.bob, 'and here?', true)
    await until(() => g.answers(room).length === 1, 'the line')
    const again = say(room, g.ids.bob, 'hello?', true)
    const root = world.say({ chatId: room, from: g.ids.bob, text: 'a topic', silent: true })
    const inTopic = world.say({
      chatId: room,
      from: g.ids.bob,
      text: 'and there?',
      mentionBot: true,
      threadOf: root.id,
    })
    await until(async () => (await disposed(inTopic.id)) === 'refused', 'the third message to be seen')
    await g.quiet()
    expect(g.answers(room)).toHaveLength(1)
    expect(textOf(g.answers(room)[0] ?? first)).toContain('I only start work for my owners')
    for (const { id } of [first, again, inTopic]) expect(g.receipts(room, id)).toEqual([])
    expect([await rows('work_requests'), await rows('turns'), await rows('reactions')]).toEqual([0, 0, 0])
  })

  test('a named owner who is not bound yet is told what to do in a group, without a reaction', async () => {
    const said = say(room, carol, 'start please', true)
    await until(() => g.answers(room).length === 2, 'the line')
    expect(textOf(g.answers(room)[1] ?? said)).toContain('Send me one direct message first')
    await g.quiet()
    expect(g.receipts(room, said.id)).toEqual([])
    expect(await rows('turns')).toBe(0)
  })

  test('the first direct message of a named owner binds them, with its receipt, and is answered', async () => {
    const said = say(carolDm, carol, '!reply welcome Carol')
    await until(() => g.served.sandbox.stats().reactions[said.id]?.reactedAt.length === 1, 'the receipt')
    const answer = await until(() => answersTo(carolDm, said.id)[0], 'the answer')
    expect(textOf(answer)).toContain('welcome Carol')
    const inGroup = say(room, carol, '!reply now here too', true)
    expect(textOf(await until(() => answersTo(room, inGroup.id)[0], 'the answer in the group'))).toContain(
      'now here too',
    )
  })

  test('a group message of somebody who starts nothing is read by a later turn there, and starts none', async () => {
    const turns = await rows('turns')
    const aside = say(room, g.ids.bob, 'the build is red')
    await until(async () => (await disposed(aside.id)) === 'context-item', 'the aside')
    await g.quiet()
    expect(await rows('turns')).toBe(turns)
    expect(g.receipts(room, aside.id)).toEqual([])
  })
})

describe('two owners', () => {
  test('each has a lane, a workspace and a session of their own; nothing of one is shown to the other', async () => {
    const first = say(g.ids.dm, g.ids.alice, '!reply the secret of Alice\n!end\n!turn')
    const second = say(daveDm, dave, '!reply the secret of Dave\n!end\n!turn')
    const toAlice = await until(() => answersTo(g.ids.dm, first.id)[0], 'the answer to Alice')
    const toDave = await until(() => answersTo(daveDm, second.id)[0], 'the answer to Dave')
    expect(textOf(toAlice)).toContain('the secret of Alice')
    expect(textOf(toDave)).toContain('This is turn 1 of this session.')
    const seen = (chatId: string) => g.answers(chatId).map(textOf).join('\n')
    expect(seen(daveDm)).not.toContain('Alice')
    expect(seen(g.ids.dm)).not.toContain('Dave')
    const lanes = await g.db.sql<{ lane: string; session: string }[]>`
      select distinct t.lane, b.session from collab.turns t
      join collab.work_requests r on r.id = t.request join collab.session_bindings b on b.lane = t.lane
      where r.origin_message in (${first.id}, ${second.id})`
    expect(new Set(lanes.map((row) => row.lane)).size).toBe(2)
    expect(new Set(lanes.map((row) => row.session)).size).toBe(2)
  })

  test('a failure of one is not told to the other', async () => {
    const before = g.answers(g.ids.dm).length
    const said = say(daveDm, dave, '!fail silent')
    await until(() => answersTo(daveDm, said.id)[0], 'the notice')
    // Where Dave's answer cannot arrive at all, its second route is Dave's own.
    const lost = say(room, dave, '!delay 300ms\n!reply lost on the way', true)
    g.served.sandbox.faults.add({ api: 'message.reply', when: { chatId: room }, do: { kind: 'code', code: 230035 } })
    const told = await until(
      () => g.answers(daveDm).find((one) => textOf(one).includes('could not be delivered')),
      "the notice in Dave's direct chat",
    )
    expect(textOf(told)).toContain('0 of 1')
    g.served.sandbox.faults.clear()
    expect(answersTo(room, lost.id)).toHaveLength(0)
    expect(g.answers(g.ids.dm)).toHaveLength(before)
  })
})

async function disposed(messageId: string): Promise<string | null> {
  const [row] = await g.db.sql<{ disposition: string | null }[]>`
    select disposition from collab.ingress_events where key = ${messageId}`
  return row?.disposition ?? null
}
