import { describe, expect, test } from 'vitest'
import { caller, openSandbox, START, textOf } from './kit.js'

const open = async (options: Parameters<typeof openSandbox>[0] = {}) => {
  const kit = await openSandbox(options)
  const call = await caller(kit.url)
  const list = (query: string) => call('GET', `/im/v1/messages?${query}`)
  const idsIn = (data: Readonly<Record<string, unknown>>) =>
    (data['items'] as { message_id: string }[]).map((item) => item.message_id)
  return { ...kit, call, list, idsIn }
}

describe('history', () => {
  test('pages both ways without repeating or hiding a message that arrives in between', async () => {
    const { sandbox, ids, list, idsIn, time } = await open()
    const say = (): string => {
      time.advance(1_000)
      return sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'x' }).id
    }
    const said = [say(), say(), say(), say(), say()]
    const chat = `container_id_type=chat&container_id=${ids.group}&page_size=2`
    for (const [sort, expected] of [
      ['ByCreateTimeAsc', said],
      ['ByCreateTimeDesc', [...said].reverse()],
    ] as const) {
      const seen: string[] = []
      let token = ''
      for (;;) {
        const { data } = await list(`${chat}&sort_type=${sort}&page_token=${encodeURIComponent(token)}`)
        seen.push(...idsIn(data))
        if (data['has_more'] !== true) break
        token = String(data['page_token'])
        if (sort === 'ByCreateTimeDesc') say()
      }
      expect(seen).toEqual(expected)
    }
  })

  test('takes its range in seconds and refuses a token from another order', async () => {
    const { sandbox, ids, list, idsIn } = await open()
    const at = (createTime: number): string =>
      sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'x', createTime }).id
    const [first, second] = [at(START), at(START + 5_999)]
    const chat = `container_id_type=chat&container_id=${ids.group}`
    const from = START / 1_000
    expect(idsIn((await list(`${chat}&start_time=${from}&end_time=${from + 4}`)).data)).toEqual([first])
    expect(idsIn((await list(`${chat}&start_time=${from + 5}&end_time=${from + 5}`)).data)).toEqual([second])
    expect((await list(`${chat}&start_time=${START}`)).code).toBe(230001)
    const { data } = await list(`${chat}&page_size=1`)
    const token = encodeURIComponent(String(data['page_token']))
    expect((await list(`${chat}&sort_type=ByCreateTimeDesc&page_token=${token}`)).code).toBe(230001)
    for (const size of [0, 51, 1.5]) expect((await list(`${chat}&page_size=${size}`)).code).toBe(99992402)
  })

  test('the chat of an ordinary group gives only roots; a thread gives its replies and takes no range', async () => {
    const { sandbox, ids, list, idsIn } = await open()
    const root = sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'root' })
    const inside = sandbox.world.say({ chatId: ids.group, from: ids.alice, text: 'in', threadOf: root.id })
    const quote = sandbox.world.say({ chatId: ids.group, from: ids.alice, text: 'quote', replyTo: quoteTarget() })
    function quoteTarget(): string {
      return sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'other' }).id
    }
    const inChat = idsIn((await list(`container_id_type=chat&container_id=${ids.group}`)).data)
    expect(inChat).toContain(quote.id)
    expect(inChat).not.toContain(inside.id)
    const thread = `container_id_type=thread&container_id=${inside.threadId}`
    expect(idsIn((await list(thread)).data)).toEqual([root.id, inside.id])
    expect((await list(`${thread}&start_time=1790000000`)).code).toBe(230001)
    expect((await list('container_id_type=thread&container_id=omt_none')).code).toBe(230019)
  })

  test('a group that turns to topics makes one of every message from then on, and says so', async () => {
    const { sandbox, ids, call } = await open()
    const before = sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'before' })
    sandbox.world.setThreadStyle(ids.group, true)
    const after = sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'after' })
    expect([before.threadId, after.threadId]).toEqual([null, expect.stringMatching(/^omt_/)])
    expect((await call('GET', `/im/v1/chats/${ids.group}`)).data).toMatchObject({
      chat_mode: 'group',
      group_message_type: 'thread',
    })
    expect(sandbox.pushes().map(({ eventType }) => eventType)).toContain('im.chat.updated_v1')
  })

  test('a thread that was opened on a quote keeps its root in the chat', async () => {
    const { sandbox, ids, list, idsIn } = await open()
    const first = sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'first' })
    const quote = sandbox.world.say({ chatId: ids.group, from: ids.alice, text: 'quote', replyTo: first.id })
    const inside = sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'inside', threadOf: quote.id })
    expect(inside).toMatchObject({ rootId: quote.id, parentId: quote.id })
    expect(idsIn((await list(`container_id_type=chat&container_id=${ids.group}`)).data)).toEqual([first.id, quote.id])
  })

  test('the chat of a topic group gives replies too, unless only roots are asked for', async () => {
    const { sandbox, ids, list, idsIn } = await open()
    const root = sandbox.world.say({ chatId: ids.topicGroup, from: ids.bob, text: 'root' })
    const inside = sandbox.world.say({ chatId: ids.topicGroup, from: ids.alice, text: 'in', replyTo: root.id })
    const chat = `container_id_type=chat&container_id=${ids.topicGroup}`
    expect(idsIn((await list(chat)).data)).toEqual([root.id, inside.id])
    expect(idsIn((await list(`${chat}&only_thread_root_messages=true`)).data)).toEqual([root.id])
  })

  test('a recalled message stays in the list without its content', async () => {
    const { sandbox, ids, list, call } = await open()
    const said = sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'secret', mentions: [ids.alice] })
    sandbox.world.recall(said.id, ids.bob)
    const expected = [{ message_id: said.id, deleted: true, body: { content: 'This message was recalled' } }]
    expect((await list(`container_id_type=chat&container_id=${ids.group}`)).data['items']).toMatchObject(expected)
    expect((await call('GET', `/im/v1/messages/${said.id}`)).data['items']).toMatchObject(expected)
  })

  test('what may not be read says so', async () => {
    const { sandbox, ids, list, call } = await open({ readableHistory: false })
    const said = sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'x' })
    expect((await list(`container_id_type=chat&container_id=${ids.group}`)).code).toBe(99991672)
    sandbox.world.removeBot(ids.group)
    expect((await call('GET', `/im/v1/messages/${said.id}`)).code).toBe(230002)
    expect((await call('GET', '/im/v1/messages/om_unknown')).code).toBe(99992354)
  })

  test('a forwarded bundle is read with its descendants', async () => {
    const { sandbox, ids, call } = await open()
    const bundle = sandbox.world.say({
      chatId: ids.dm,
      from: ids.alice,
      raw: { msgType: 'merge_forward', content: '{"content":"Merged and Forwarded Message"}' },
      children: [{ from: ids.bob, msgType: 'text', content: textOf('first') }],
    })
    const { data } = await call('GET', `/im/v1/messages/${bundle.id}`)
    expect(data['items']).toMatchObject([
      { message_id: bundle.id, msg_type: 'merge_forward' },
      { upper_message_id: bundle.id, sender: { id: ids.bob }, body: { content: textOf('first') } },
    ])
  })

  test('edits an own text twenty times and no more; recalls once', async () => {
    const { sandbox, ids, call } = await open({ rates: false })
    const body = { msg_type: 'text', content: textOf('v0') }
    const sent = await call('POST', '/im/v1/messages?receive_id_type=chat_id', { receive_id: ids.group, ...body })
    const path = `/im/v1/messages/${String(sent.data['message_id'])}`
    for (let edit = 1; edit <= 20; edit += 1)
      expect((await call('PUT', path, { msg_type: 'text', content: textOf(`v${edit}`) })).code).toBe(0)
    expect((await call('PUT', path, body)).code).toBe(230072)
    expect(sandbox.world.messages(ids.group)[0]).toMatchObject({ content: textOf('v20'), edited: true })
    const foreign = sandbox.world.say({ chatId: ids.group, from: ids.bob, text: 'x' })
    expect((await call('PUT', `/im/v1/messages/${foreign.id}`, body)).code).toBe(230071)
    expect((await call('DELETE', `/im/v1/messages/${foreign.id}`)).code).toBe(230026)
    expect((await call('DELETE', path)).code).toBe(0)
    expect((await call('DELETE', path)).code).toBe(230011)
  })

  test('tells what kind of chat it is, and lists groups and members', async () => {
    const { sandbox, ids, call } = await open()
    const get = async (chatId: string) => (await call('GET', `/im/v1/chats/${chatId}`)).data
    expect(await get(ids.topicGroup)).toMatchObject({ chat_mode: 'topic', group_message_type: 'thread' })
    expect(await get(ids.group)).toMatchObject({
      chat_mode: 'group',
      group_message_type: 'chat',
      chat_status: 'normal',
    })
    expect(await get(ids.dm)).toMatchObject({ chat_mode: 'p2p' })
    const groups = (await call('GET', '/im/v1/chats')).data['items'] as { chat_id: string }[]
    expect(groups.map((one) => one.chat_id)).toEqual([ids.group, ids.topicGroup])
    const members = (await call('GET', `/im/v1/chats/${ids.group}/members`)).data['items']
    expect(members).toMatchObject([{ member_id: ids.alice, name: 'Alice' }, { member_id: ids.bob }])
    sandbox.world.dissolve(ids.group)
    expect(await get(ids.group)).toMatchObject({ chat_status: 'dissolved' })
  })
})
