import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { openSandbox, sdkClient, sdkConnection, textOf, until } from './kit.js'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('the real SDK client against the sandbox', () => {
  test('gets a token, names the bot, sends, replies, reads and lists', async () => {
    const { url, sandbox, ids } = await openSandbox()
    const client = sdkClient(url)
    const info = (await client.request({ method: 'GET', url: '/open-apis/bot/v3/info' })) as {
      bot: { open_id: string }
    }
    expect(info.bot.open_id).toBe('ou_e27e5eef56b1223756b8192d4911aede')

    const sent = await client.im.message.create({
      params: { receive_id_type: 'chat_id' },
      data: {
        receive_id: ids.group,
        msg_type: 'text',
        content: textOf('hello <at user_id="' + ids.bob + '">Bob</at>'),
      },
    })
    expect(sent.code).toBe(0)
    const id = sent.data?.message_id ?? ''
    expect(id).toMatch(/^om_x100b[0-9a-f]{27}$/)

    const replied = await client.im.message.reply({
      path: { message_id: id },
      data: { msg_type: 'text', content: textOf('again'), reply_in_thread: true },
    })
    expect(replied.data).toMatchObject({ root_id: id, parent_id: id, thread_id: expect.stringMatching(/^omt_/) })

    const read = await client.im.message.get({ path: { message_id: id } })
    expect(read.data?.items?.[0]).toMatchObject({
      body: { content: textOf('hello @_user_1') },
      sender: { id_type: 'app_id', sender_type: 'app' },
      mentions: [{ key: '@_user_1', id: ids.bob, id_type: 'open_id', name: 'Bob' }],
    })
    const list = await client.im.message.list({
      params: { container_id_type: 'chat', container_id: ids.group, page_size: 50 },
    })
    expect(list.data?.items?.map((item) => item.message_id)).toEqual([id])
    expect(sandbox.world.messages(ids.group)).toHaveLength(2)
  })

  test('reacts, and takes the reaction back', async () => {
    const { url, sandbox, ids } = await openSandbox()
    const client = sdkClient(url)
    const said = sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'hi' })
    const reacted = await client.im.messageReaction.create({
      path: { message_id: said.id },
      data: { reaction_type: { emoji_type: 'Get' } },
    })
    expect(sandbox.world.messages(ids.dm)[0]?.reactions).toMatchObject([{ emoji: 'Get', by: 'bot' }])
    expect(sandbox.stats().reactions[said.id]?.reactedAt).toHaveLength(1)
    await client.im.messageReaction.delete({
      path: { message_id: said.id, reaction_id: reacted.data?.reaction_id ?? '' },
    })
    expect(sandbox.world.messages(ids.dm)[0]?.reactions).toEqual([])
  })

  test('uploads an image and a file, sends them, and downloads what a person sent', async () => {
    const { url, sandbox, ids } = await openSandbox()
    const client = sdkClient(url)
    const image = await client.im.image.create({ data: { image_type: 'message', image: png } })
    const bytes = Buffer.from('报告 body')
    const file = await client.im.file.create({
      data: { file_type: 'stream', file_name: '报告 (final).md', file: bytes },
    })
    for (const [msgType, key] of [
      ['image', { image_key: image?.image_key }],
      ['file', { file_key: file?.file_key }],
    ] as const) {
      const sent = await client.im.message.create({
        params: { receive_id_type: 'open_id' },
        data: { receive_id: ids.alice, msg_type: msgType, content: JSON.stringify(key) },
      })
      expect(sent.code).toBe(0)
      expect(sent.data?.chat_id).toBe(ids.dm)
    }
    expect(sandbox.world.uploads().find((upload) => upload.kind === 'file')?.fileName).toBe('报告 (final).md')
    expect(Buffer.from(sandbox.world.bytesOf(file?.file_key ?? ''))).toEqual(bytes)

    const given = sandbox.world.sayFile({
      chatId: ids.dm,
      from: ids.alice,
      fileName: 'Q3 报告.pdf',
      bytes: Buffer.from('%PDF-1.7 …'),
      kind: 'file',
    })
    const download = await client.im.messageResource.get({
      path: { message_id: given.id, file_key: given.key },
      params: { type: 'file' },
    })
    const chunks: Buffer[] = []
    for await (const chunk of download.getReadableStream() as Readable) chunks.push(Buffer.from(chunk as Uint8Array))
    expect(Buffer.concat(chunks).toString()).toBe('%PDF-1.7 …')
  })
})

describe('the real SDK long connection against the sandbox', () => {
  test('delivers an event once, acknowledged, with an empty token', async () => {
    const { url, sandbox, ids } = await openSandbox()
    const seen: Record<string, unknown>[] = []
    await sdkConnection(url, { 'im.message.receive_v1': (data) => void seen.push(data) })
    expect(sandbox.connections()).toBe(1)
    const said = sandbox.world.say({
      chatId: ids.group,
      from: ids.alice,
      text: 'look @Bob',
      mentionBot: true,
      mentions: [ids.bob],
    })
    await sandbox.settled()
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({
      token: '',
      message: {
        message_id: said.id,
        chat_type: 'group',
        content: textOf('@_user_1 look @_user_2'),
        mentions: [
          { key: '@_user_1', mentioned_type: 'bot', name: 'GatewayBot' },
          { key: '@_user_2', mentioned_type: 'user', id: { open_id: ids.bob } },
        ],
      },
    })
    expect(sandbox.pushes()).toMatchObject([{ state: 'delivered', attempts: 1 }])
  })

  test('puts an event split over several frames together', async () => {
    const { url, sandbox, ids } = await openSandbox({ events: { mode: 'websocket', fragmentBytes: 64 } })
    const seen: unknown[] = []
    await sdkConnection(url, { 'im.message.receive_v1': (data) => void seen.push(data['message']) })
    sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: '长'.repeat(200) })
    await sandbox.settled()
    expect(seen).toMatchObject([{ content: textOf('长'.repeat(200)) }])
  })

  test('pushes again at 15 s, 5 min, 1 h and 6 h while the handler throws, then gives up', async () => {
    const { url, sandbox, ids, time } = await openSandbox()
    let calls = 0
    await sdkConnection(url, {
      'im.message.receive_v1': () => {
        calls += 1
        throw new Error('not now')
      },
    })
    sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'hi' })
    const waits = [0, 15_000, 300_000, 3_600_000, 21_600_000]
    for (const [at, wait] of waits.entries()) {
      if (wait > 0) {
        time.advance(wait - 1)
        expect(calls).toBe(at)
        time.advance(1)
      }
      await until(() => calls === at + 1, `push ${at + 1}`)
      await sandbox.settled()
    }
    time.advance(86_400_000)
    await sandbox.settled()
    expect(calls).toBe(5)
    expect(sandbox.pushes()[0]).toMatchObject({ state: 'given-up', attempts: 5, lastFailure: 'refused' })
  })

  test('an event with nobody connected waits for the next push', async () => {
    const { url, sandbox, ids, time } = await openSandbox()
    sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'anyone?' })
    await sandbox.settled()
    expect(sandbox.pushes()[0]).toMatchObject({ state: 'waiting', lastFailure: 'no-connection' })
    let calls = 0
    await sdkConnection(url, { 'im.message.receive_v1': () => void (calls += 1) })
    time.advance(15_000)
    await sandbox.settled()
    expect(calls).toBe(1)
  })

  test('an event goes to one of two connections, never both', async () => {
    const { url, sandbox, ids } = await openSandbox()
    const seen = [0, 0]
    for (const at of [0, 1])
      await sdkConnection(url, { 'im.message.receive_v1': () => void (seen[at] = (seen[at] ?? 0) + 1) })
    for (let n = 0; n < 20; n += 1) sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: `m${n}` })
    await sandbox.settled()
    expect((seen[0] ?? 0) + (seen[1] ?? 0)).toBe(20)
    expect(Math.min(...seen)).toBeGreaterThan(0)
  })

  test('a wrong secret is refused for good', async () => {
    const { url } = await openSandbox()
    await expect(sdkConnection(url, {}, 'wrong')).rejects.toThrow('code=514')
  })

  test('a card press is answered in the same call', async () => {
    const { url, sandbox, ids } = await openSandbox()
    await sdkConnection(url, {
      'card.action.trigger': (data) => ({ toast: { type: 'info', content: JSON.stringify(data['action']) } }),
    })
    const said = sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'x' })
    const answer = await sandbox.world.click({ messageId: said.id, by: ids.alice, value: { run: 1 } })
    expect(answer).toEqual({
      shown: 'answer',
      answer: { toast: { type: 'info', content: JSON.stringify({ value: { run: 1 }, tag: 'button' }) } },
    })
  })
})
