import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.js'
import { seedSandboxWorld } from '../../src/sandbox/seed.js'
import { APP_ID, APP_SECRET, caller, handTime, openSandbox } from './kit.js'

const sample = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../samples/${name}.json`, import.meta.url), 'utf8')) as object

/** The names and nesting of a value, its leaves reduced to their types. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'user_agent')
      .map(([name, member]) => [name, shapeOf(member)]),
  )
}

/** A sandbox whose pushes end in a list. */
const open = () => {
  const time = handTime()
  const pushed: Record<string, unknown>[] = []
  let count = 0
  const sandbox = createSandbox({
    clock: time.clock,
    timers: time.timers,
    newId: () => `id-${++count}`,
    app: { appId: APP_ID, appSecret: APP_SECRET, verificationToken: 'vt-1' },
    events: {
      mode: 'webhook',
      url: 'http://receiver.invalid/events',
      fetch: async (_url, init) => {
        pushed.push(JSON.parse(String(init?.body)) as Record<string, unknown>)
        return new Response('{}')
      },
    },
  })
  return { sandbox, ids: seedSandboxWorld(sandbox), pushed, world: sandbox.world }
}

describe('events have the recorded shape', () => {
  test.each([
    ['p2p_text', (t: ReturnType<typeof open>) => t.world.say({ chatId: t.ids.dm, from: t.ids.alice, text: 'x' })],
    [
      'group_text_mention',
      (t: ReturnType<typeof open>) =>
        t.world.say({ chatId: t.ids.group, from: t.ids.alice, text: 'x', mentionBot: true, mentions: [t.ids.bob] }),
    ],
    [
      'group_text_no_mention',
      (t: ReturnType<typeof open>) => t.world.say({ chatId: t.ids.group, from: t.ids.alice, text: 'x' }),
    ],
    [
      'topic_root_post',
      (t: ReturnType<typeof open>) => t.world.say({ chatId: t.ids.topicGroup, from: t.ids.bob, text: 'x' }),
    ],
    [
      'topic_thread_reply',
      (t: ReturnType<typeof open>) => {
        const root = t.world.say({ chatId: t.ids.topicGroup, from: t.ids.bob, text: 'x', silent: true })
        t.world.say({ chatId: t.ids.topicGroup, from: t.ids.alice, text: 'y', replyTo: root.id, mentionBot: true })
      },
    ],
    [
      'group_quote_reply_no_thread',
      (t: ReturnType<typeof open>) => {
        const root = t.world.say({ chatId: t.ids.group, from: t.ids.bob, text: 'x', silent: true })
        t.world.say({ chatId: t.ids.group, from: t.ids.alice, text: 'y', replyTo: root.id, mentionBot: true })
      },
    ],
    [
      'file',
      (t: ReturnType<typeof open>) =>
        t.world.sayFile({ chatId: t.ids.dm, from: t.ids.alice, fileName: 'a', bytes: new Uint8Array(1), kind: 'file' }),
    ],
    [
      'image',
      (t: ReturnType<typeof open>) =>
        t.world.sayFile({
          chatId: t.ids.dm,
          from: t.ids.alice,
          fileName: 'a',
          bytes: new Uint8Array(1),
          kind: 'image',
        }),
    ],
    [
      'recalled',
      (t: ReturnType<typeof open>) => {
        const said = t.world.say({ chatId: t.ids.group, from: t.ids.alice, text: 'x', silent: true })
        t.world.recall(said.id, t.ids.alice)
      },
    ],
    [
      'reaction_created',
      (t: ReturnType<typeof open>) => {
        const said = t.world.say({ chatId: t.ids.group, from: t.ids.alice, text: 'x', silent: true })
        t.world.react(said.id, t.ids.bob, 'THUMBSUP')
      },
    ],
    ['bot_deleted', (t: ReturnType<typeof open>) => t.world.removeBot(t.ids.group)],
    ['bot_added', (t: ReturnType<typeof open>) => t.world.addBot(t.ids.group)],
    ['chat_disbanded', (t: ReturnType<typeof open>) => t.world.dissolve(t.ids.group)],
    ['p2p_chat_entered', (t: ReturnType<typeof open>) => t.world.enterP2p(t.ids.dm)],
  ] as const)('%s', async (name, act) => {
    const kit = open()
    act(kit)
    await kit.sandbox.settled()
    expect(shapeOf(kit.pushed.at(-1))).toEqual(shapeOf(sample(name)))
  })

  test('card_action_trigger, its time in microseconds', async () => {
    const { sandbox, world, pushed, ids } = open()
    const said = world.say({ chatId: ids.group, from: ids.alice, text: 'x', silent: true })
    const value = { action: 'approve', request_id: 'req-0001' }
    await world.click({ messageId: said.id, by: ids.alice, value, name: 'Button_approve' })
    expect(shapeOf(pushed[0])).toEqual(shapeOf(sample('card_action_trigger')))
    expect(pushed[0]).toMatchObject({ header: { create_time: '1790000000000000' } })
    await sandbox.close()
  })

  test('a recorded body is pushed as it is', async () => {
    const { sandbox, world, pushed } = open()
    world.pushEvent(sample('hongbao'))
    await sandbox.settled()
    expect(pushed).toEqual([sample('hongbao')])
    expect(sandbox.pushes()).toMatchObject([{ eventType: 'im.message.receive_v1' }])
  })
})

describe('what people do', () => {
  test('mentions become keys in the order asked, longest names first in the text', async () => {
    const { sandbox, world, ids, pushed } = open()
    const bobby = world.addPerson({ name: 'Bobby' })
    const chat = world.addChat({ mode: 'group', name: 'g', members: [ids.alice, ids.bob, bobby.openId] })
    const said = world.say({
      chatId: chat.chatId,
      from: ids.alice,
      text: 'ask @Bobby and @Bob',
      mentionBot: true,
      mentions: [ids.bob, bobby.openId],
    })
    expect(JSON.parse(said.content)).toEqual({ text: '@_user_1 ask @_user_3 and @_user_2' })
    await sandbox.settled()
    expect(pushed[0]).toMatchObject({
      event: { message: { mentions: [{ name: 'GatewayBot' }, { name: 'Bob' }, { name: 'Bobby' }] } },
    })
  })

  test('another bot speaks as a bot', async () => {
    const { sandbox, world, ids, pushed } = open()
    const robot = world.addPerson({ name: 'Robot', bot: true })
    const chat = world.addChat({ mode: 'group', name: 'g', members: [ids.alice, robot.openId] })
    world.say({ chatId: chat.chatId, from: robot.openId, text: 'beep' })
    await sandbox.settled()
    expect(pushed[0]).toMatchObject({ event: { sender: { sender_type: 'bot' } } })
  })

  test('a bot that was removed hears nothing more', async () => {
    const { sandbox, world, ids, pushed } = open()
    world.removeBot(ids.group)
    world.say({ chatId: ids.group, from: ids.alice, text: 'x' })
    await sandbox.settled()
    expect(pushed.map((event) => (event['header'] as { event_type: string }).event_type)).toEqual([
      'im.chat.member.bot.deleted_v1',
    ])
  })

  test('every change is told to who watches, until they stop', async () => {
    const { sandbox, world, ids } = open()
    const seen: string[] = []
    const stop = sandbox.onChange((change) => void seen.push(change.kind))
    const said = world.say({ chatId: ids.dm, from: ids.alice, text: 'x' })
    world.react(said.id, ids.alice, 'OK')
    world.unreact(said.id, ids.alice, 'OK')
    world.recall(said.id, ids.alice)
    stop()
    world.say({ chatId: ids.dm, from: ids.alice, text: 'y' })
    expect(seen).toEqual(['message-added', 'reaction-added', 'reaction-removed', 'message-recalled'])
  })

  test('who is not a member cannot speak', () => {
    const { world, ids } = open()
    expect(() => world.say({ chatId: ids.dm, from: ids.bob, text: 'x' })).toThrow('not a member')
  })
})

describe('reactions and files over REST', () => {
  test('each reaction refusal has its code', async () => {
    const { url, sandbox, ids } = await openSandbox()
    const call = await caller(url)
    const { world } = sandbox
    const say = (chatId: string = ids.group): string => world.say({ chatId, from: ids.alice, text: 'x' }).id
    const react = (id: string, emoji = 'Get') =>
      call('POST', `/im/v1/messages/${id}/reactions`, { reaction_type: { emoji_type: emoji } })
    const said = say()
    for (const wrong of ['THUMBSDOWN', 'get', 'ROCKET', '']) expect((await react(said, wrong)).code).toBe(231001)
    expect((await react('om_unknown')).code).toBe(231003)
    const recalled = say()
    world.recall(recalled, ids.alice)
    expect((await react(recalled)).code).toBe(231003)

    const mine = await react(said)
    expect((await react(said)).data['reaction_id']).toBe(mine.data['reaction_id'])
    world.react(said, ids.bob, 'OK')
    const foreign = world.messages(ids.group)[0]?.reactions.find((reaction) => reaction.by === ids.bob)?.id ?? ''
    const remove = async (id: string, message = said) =>
      (await call('DELETE', `/im/v1/messages/${message}/reactions/${id}`)).code
    expect(await remove(foreign)).toBe(231007)
    expect(await remove('nonsense')).toBe(231011)
    expect(await remove(String(mine.data['reaction_id']), say())).toBe(231010)
    const listed = await call('GET', `/im/v1/messages/${said}/reactions?page_size=1`)
    expect(listed.data).toMatchObject({ has_more: true, items: [{ operator: { operator_type: 'app' } }] })
    expect(await remove(String(mine.data['reaction_id']))).toBe(0)

    world.removeBot(ids.group)
    expect((await react(said)).code).toBe(231002)
    const topic = say(ids.topicGroup)
    world.dissolve(ids.topicGroup)
    expect((await react(topic)).code).toBe(232009)
  })

  test('uploads have their limits', async () => {
    const { url, sandbox } = await openSandbox()
    const token = await fetch(`${url}/open-apis/auth/v3/tenant_access_token/internal`, {
      method: 'POST',
      body: JSON.stringify({ app_id: APP_ID, app_secret: APP_SECRET }),
    })
    const { tenant_access_token: bearer } = (await token.json()) as { tenant_access_token: string }
    const upload = async (path: string, fields: Record<string, string>, part: string, bytes: Uint8Array) => {
      const body = new FormData()
      for (const [name, value] of Object.entries(fields)) body.append(name, value)
      body.append(part, new Blob([Uint8Array.from(bytes)]), 'part.bin')
      const headers = { authorization: `Bearer ${bearer}` }
      const response = await fetch(`${url}/open-apis/im/v1/${path}`, { method: 'POST', headers, body })
      return ((await response.json()) as { code: number }).code
    }
    const MB = 1024 * 1024
    const png = (size: number) => Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(size - 8)])
    const image = (bytes: Uint8Array) => upload('images', { image_type: 'message' }, 'image', bytes)
    const file = (bytes: Uint8Array, type = 'stream') =>
      upload('files', { file_type: type, file_name: 'a.bin' }, 'file', bytes)
    expect(await image(new Uint8Array(0))).toBe(234010)
    expect(await image(Buffer.from('not an image'))).toBe(234011)
    expect(await image(Buffer.from('89504e470d0a1a0a0000000d4948445200002ee100000001', 'hex'))).toBe(234039)
    expect(await image(png(10 * MB))).toBe(0)
    expect(await image(png(10 * MB + 1))).toBe(234006)
    expect(await file(new Uint8Array(0))).toBe(234010)
    expect(await file(new Uint8Array(1), 'exe')).toBe(234001)
    expect(await file(new Uint8Array(30 * MB))).toBe(0)
    expect(await file(new Uint8Array(30 * MB + 1))).toBe(234006)
    expect(sandbox.world.uploads().map((entry) => entry.bytes.length)).toEqual([10 * MB, 30 * MB])
  })

  test('an image in a rich text can be downloaded, whole or in part', async () => {
    const { url, sandbox, ids } = await openSandbox()
    const { world } = sandbox
    const key = world.upload({ from: ids.alice, fileName: 'a.bin', bytes: Buffer.from('abcdef'), kind: 'image' })
    const post = { content: [[{ tag: 'img', image_key: key }]] }
    const said = world.say({ chatId: ids.group, from: ids.alice, post })
    const token = await fetch(`${url}/open-apis/auth/v3/tenant_access_token/internal`, {
      method: 'POST',
      body: JSON.stringify({ app_id: APP_ID, app_secret: APP_SECRET }),
    })
    const { tenant_access_token: bearer } = (await token.json()) as { tenant_access_token: string }
    const path = `${url}/open-apis/im/v1/messages/${said.id}/resources/${key}?type=image`
    const authorization = `Bearer ${bearer}`
    expect(await (await fetch(path, { headers: { authorization } })).text()).toBe('abcdef')
    const part = await fetch(path, { headers: { authorization, range: 'bytes=2-3' } })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe('bytes 2-3/6')
    expect(await part.text()).toBe('cd')
  })

  test('a resource belongs to its message', async () => {
    const { url, sandbox, ids } = await openSandbox()
    const call = await caller(url)
    const give = (kind: 'file' | 'image') =>
      sandbox.world.sayFile({ chatId: ids.dm, from: ids.alice, fileName: 'a', bytes: Buffer.from('abcdef'), kind })
    const [first, second] = [give('file'), give('image')]
    const code = async (messageId: string, key: string, type: string) =>
      (await call('GET', `/im/v1/messages/${messageId}/resources/${key}?type=${type}`)).code
    expect(await code(first.id, second.key, 'image')).toBe(234003)
    expect(await code(first.id, first.key, 'image')).toBe(234001)
    expect(await code(first.id, first.key, 'video')).toBe(234001)
    sandbox.world.recall(first.id, ids.alice)
    expect(await code(first.id, first.key, 'file')).toBe(230110)
    expect((await call('GET', `/im/v1/images/${second.key}`)).code).toBe(234008)
  })
})

describe('control routes', () => {
  test('drive the world from outside and tell when each reaction came', async () => {
    const { url, ids, time } = await openSandbox()
    const post = async (path: string, body: object) =>
      (await (await fetch(`${url}/sandbox/${path}`, { method: 'POST', body: JSON.stringify(body) })).json()) as Record<
        string,
        unknown
      >
    const get = async (path: string): Promise<unknown> => (await fetch(`${url}/sandbox/${path}`)).json()
    const said = await post('say', { chatId: ids.dm, from: ids.alice, text: 'x' })
    time.advance(40)
    const call = await caller(url)
    await call('POST', `/im/v1/messages/${String(said['id'])}/reactions`, { reaction_type: { emoji_type: 'Get' } })
    expect(await get('stats')).toMatchObject({
      calls: { token: { 0: 1 }, 'reaction.create': { 0: 1 } },
      reactions: { [String(said['id'])]: { saidAt: 1_790_000_000_000, reactedAt: [1_790_000_000_040] } },
    })
    await post('faults', { api: 'message.create', do: { kind: 'code', code: 230022 } })
    const text = { receive_id: ids.alice, msg_type: 'text', content: '{"text":"x"}' }
    expect((await call('POST', '/im/v1/messages?receive_id_type=open_id', text)).code).toBe(230022)
    await post('faults', { clear: true })
    expect((await call('POST', '/im/v1/messages?receive_id_type=open_id', text)).code).toBe(0)
    expect(await get(`messages?chat=${ids.dm}`)).toHaveLength(2)
    expect(await post('say', { chatId: ids.dm })).toHaveProperty('error')
  })
})
