import { describe, expect, test } from 'vitest'
import { HOUR } from '../../src/lib/time.js'
import { caller, openSandbox, textOf } from './kit.js'

const open = async (options: Parameters<typeof openSandbox>[0] = {}) => {
  const kit = await openSandbox({ rates: false, ...options })
  const call = await caller(kit.url)
  const send = (body: object, type = 'chat_id') => call('POST', `/im/v1/messages?receive_id_type=${type}`, body)
  const sendText = (text: string, more: object = {}) =>
    send({ receive_id: kit.ids.group, msg_type: 'text', content: textOf(text), ...more })
  return { ...kit, call, send, sendText }
}

describe('sending', () => {
  test('the answer has the recorded shape', async () => {
    const { sendText, ids } = await open()
    const { data } = await sendText('hello')
    expect(data).toEqual({
      message_id: expect.stringMatching(/^om_x100b[0-9a-f]{27}$/),
      msg_type: 'text',
      create_time: '1790000000000',
      update_time: '1790000000000',
      deleted: false,
      updated: false,
      chat_id: ids.group,
      sender: { id: 'cli_a1b2c3d4e5f60718', id_type: 'app_id', sender_type: 'app', tenant_key: '1a2b3c4d5e6f7081' },
      body: { content: textOf('hello') },
    })
  })

  test.each([
    ['no receive_id_type', '', {}, 99992402],
    ['an unknown chat', 'chat_id', { receive_id: 'oc_unknown' }, 230034],
    ['an unknown person', 'open_id', { receive_id: 'ou_unknown' }, 99992351],
    ['content as an object', 'chat_id', { content: { text: 'x' } }, 230001],
    ['content that is not JSON', 'chat_id', { content: 'hello' }, 230001],
    ['an empty text', 'chat_id', { content: textOf('') }, 230001],
    ['an unknown type', 'chat_id', { msg_type: 'hologram' }, 230001],
    ['a uuid of 51 characters', 'chat_id', { uuid: 'x'.repeat(51) }, 99992402],
    ['an image key that is not ours', 'chat_id', { msg_type: 'image', content: '{"image_key":"img_x"}' }, 230017],
  ])('refuses %s', async (_what, type, change, code) => {
    const { send, ids, sandbox } = await open()
    const refusal = await send({ receive_id: ids.group, msg_type: 'text', content: textOf('x'), ...change }, type)
    expect(refusal).toMatchObject({ status: 400, code, error: { log_id: expect.any(String) } })
    expect(sandbox.world.messages(ids.group)).toEqual([])
  })

  test('measures the request in UTF-8 bytes: 150 KB for text, 30 KB for a post', async () => {
    const { sendText, send, ids } = await open()
    expect((await sendText('字'.repeat(50_000))).code).toBe(0)
    expect((await sendText('字'.repeat(52_000))).code).toBe(230025)
    const post = (text: string) => ({
      receive_id: ids.group,
      msg_type: 'post',
      content: JSON.stringify({ zh_cn: { content: [[{ tag: 'text', text }]] } }),
    })
    expect((await send(post('字'.repeat(10_000)))).code).toBe(0)
    expect((await send(post('字'.repeat(10_300)))).code).toBe(230025)
  })

  test('a bot outside, a dissolved chat and a person out of range each have their own code', async () => {
    const { sendText, send, sandbox, ids } = await open()
    sandbox.world.removeBot(ids.group)
    expect((await sendText('x')).code).toBe(230002)
    sandbox.world.addBot(ids.group)
    expect((await sendText('x')).code).toBe(0)
    sandbox.world.dissolve(ids.group)
    expect((await sendText('x')).code).toBe(232009)
    sandbox.world.setAvailable(ids.alice, false)
    const direct = { receive_id: ids.alice, msg_type: 'text', content: textOf('x') }
    expect((await send(direct, 'open_id')).code).toBe(230013)
  })

  test('a first message to a person opens their direct chat', async () => {
    const { send, sandbox, ids } = await open()
    const { data } = await send({ receive_id: ids.bob, msg_type: 'text', content: textOf('hi') }, 'open_id')
    const chat = sandbox.world.chats().find((one) => one.chatId === data['chat_id'])
    expect(chat).toMatchObject({ mode: 'p2p', members: new Set([ids.bob]) })
  })
})

describe('the uuid window', () => {
  test('an equal uuid within the hour answers with the first message, whatever the content or target', async () => {
    const { sendText, call, sandbox, ids, time } = await open()
    const first = await sendText('one', { uuid: 'u-1' })
    time.advance(HOUR - 1)
    const again = await sendText('two', { uuid: 'u-1' })
    expect(again).toMatchObject({ code: 0, data: { message_id: first.data['message_id'] } })
    const said = sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'x' })
    const reply = { msg_type: 'text', content: textOf('three'), uuid: 'u-1' }
    const replied = await call('POST', `/im/v1/messages/${said.id}/reply`, reply)
    expect(replied.data['message_id']).toBe(first.data['message_id'])
    time.advance(1)
    expect((await sendText('two', { uuid: 'u-1' })).data['message_id']).not.toBe(first.data['message_id'])
  })

  test('a refused send does not use its uuid up', async () => {
    const { sendText, sandbox, ids } = await open()
    sandbox.faults.add({ api: 'message.create', do: { kind: 'code', code: 230020 }, times: 1 })
    expect((await sendText('one', { uuid: 'u-1' })).code).toBe(230020)
    expect((await sendText('one', { uuid: 'u-1' })).code).toBe(0)
    expect(sandbox.world.messages(ids.group)).toHaveLength(1)
  })

  test('a duplicate while the first is being sent is told so', async () => {
    const { sendText, sandbox, ids, time } = await open()
    sandbox.faults.latency(1_000)
    const first = sendText('one', { uuid: 'u-1' })
    const second = await sendText('one', { uuid: 'u-1' })
    expect(second.code).toBe(230049)
    time.advance(1_000)
    expect((await first).code).toBe(0)
    expect(sandbox.world.messages(ids.group)).toHaveLength(1)
  })
})

describe('replying', () => {
  const reply = { msg_type: 'text', content: textOf('answer') }

  test('a quote in an ordinary group has a root and no thread', async () => {
    const { call, sandbox, ids } = await open()
    const said = sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'x' })
    const { data } = await call('POST', `/im/v1/messages/${said.id}/reply`, reply)
    expect(data).toMatchObject({ root_id: said.id, parent_id: said.id })
    expect(data).not.toHaveProperty('thread_id')
  })

  test('a reply in a topic stays in its topic', async () => {
    const { call, sandbox, ids } = await open()
    const topic = sandbox.world.say({ chatId: ids.topicGroup, from: ids.bob, text: 'topic' })
    expect(topic).toMatchObject({ rootId: null, threadId: expect.stringMatching(/^omt_/) })
    const inside = sandbox.world.say({ chatId: ids.topicGroup, from: ids.alice, text: 'y', replyTo: topic.id })
    const { data } = await call('POST', `/im/v1/messages/${inside.id}/reply`, reply)
    expect(data).toMatchObject({ root_id: topic.id, parent_id: topic.id, thread_id: topic.threadId })
  })

  test('recalled, removed, unknown and forbidden targets each have their own code', async () => {
    const { call, sandbox, ids } = await open()
    const say = (): string => sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'x' }).id
    const [recalled, erased] = [say(), say()]
    sandbox.world.recall(recalled, ids.bob)
    sandbox.world.erase(erased)
    expect((await call('POST', `/im/v1/messages/${recalled}/reply`, reply)).code).toBe(230011)
    expect((await call('POST', `/im/v1/messages/${erased}/reply`, reply)).code).toBe(230110)
    expect((await call('POST', '/im/v1/messages/om_unknown/reply', reply)).code).toBe(99992354)
    const flat = sandbox.world.addChat({ mode: 'group', name: 'flat', members: [ids.bob], threadReplies: false })
    const said = sandbox.world.say({ chatId: flat.chatId, from: ids.bob, text: 'x' })
    const inThread = { ...reply, reply_in_thread: true }
    expect((await call('POST', `/im/v1/messages/${said.id}/reply`, inThread)).code).toBe(230071)
  })
})

describe('post', () => {
  const post = (content: unknown, locale = 'zh_cn') => JSON.stringify({ [locale]: { title: 'T', content } })

  test.each([
    ['no language', JSON.stringify({ title: 'T', content: [[{ tag: 'text', text: 'x' }]] })],
    ['an unknown language', post([[{ tag: 'text', text: 'x' }]], 'xx_yy')],
    ['an empty content', post([])],
    ['an unknown node', post([[{ tag: 'table' }]])],
    ['a link without a legal address', post([[{ tag: 'a', text: 'x', href: 'javascript:alert(1)' }]])],
    [
      'md beside another node',
      post([
        [
          { tag: 'md', text: 'x' },
          { tag: 'text', text: 'y' },
        ],
      ]),
    ],
    ['an unknown style', post([[{ tag: 'text', text: 'x', style: ['blink'] }]])],
    ['a mention of nobody', post([[{ tag: 'at', user_id: 'ou_nobody' }]])],
  ])('refuses %s', async (_what, content) => {
    const { send, ids } = await open()
    expect((await send({ receive_id: ids.group, msg_type: 'post', content })).code).toBe(230001)
  })

  test('is read back without language, md dissolved and mentions as keys', async () => {
    const { send, ids } = await open()
    const md = 'see **bold** and [plan](https://example.com)\n\n```ts\nlet a\n```\n---\n- one'
    const content = post([
      [
        { tag: 'at', user_id: ids.bob },
        { tag: 'text', text: ' hi' },
      ],
      [{ tag: 'md', text: md }],
    ])
    const { data } = await send({ receive_id: ids.group, msg_type: 'post', content })
    const { content: shown } = data['body'] as { content: string }
    expect(JSON.parse(shown)).toEqual({
      title: 'T',
      content: [
        [
          { tag: 'at', user_id: '@_user_1', user_name: 'Bob', style: [] },
          { tag: 'text', text: ' hi', style: [] },
        ],
        [
          { tag: 'text', text: 'see ', style: [] },
          { tag: 'text', text: 'bold', style: ['bold'] },
          { tag: 'text', text: ' and ', style: [] },
          { tag: 'a', href: 'https://example.com', text: 'plan', style: [] },
        ],
        [{ tag: 'code_block', language: 'TS', text: 'let a\n' }],
        [{ tag: 'hr' }],
        [{ tag: 'text', text: '- one', style: [] }],
      ],
    })
  })
})
