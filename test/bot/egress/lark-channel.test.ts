import { describe, expect, test } from 'vitest'
import { FILE_LIMIT, IMAGE_LIMIT } from '../../../src/bot/egress/plan.js'
import type { Outgoing, OutgoingFile, PlannedPart } from '../../../src/collab/channel.js'
import { must } from '../../../src/lib/assert.js'
import { TEXT_MAX_BYTES } from '../../../src/render/wire.js'
import { seedIds } from '../../../src/sandbox/seed.js'
import { channelContract, textPart } from '../../contracts/channel.js'
import { createLarkChannel } from '../../../src/bot/egress/lark-channel.js'
import { sampleBot } from '../../replay/samples.js'
import { openChannel, secret } from './given.js'

channelContract('lark', () => openChannel())

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const answer = (change: Partial<Extract<Outgoing, { kind: 'answer' }>> = {}): Outgoing => ({
  kind: 'answer',
  markdown: 'plain answer',
  conclusion: null,
  label: null,
  refusedOperations: [],
  language: 'en',
  reportName: 'report',
  attachments: [],
  ...change,
})
const file = (fileName: string, mediaType: string, size: number): OutgoingFile => ({
  digest: 'd'.repeat(64),
  fileName,
  mediaType,
  size,
})
async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('he')
  throw new Error('the disk is gone')
}
const refusingPlan = {
  bot: sampleBot,
  clock: { now: () => 0 },
  identity: () => null,
  storeFile: () => Promise.reject(new Error('no file is made here')),
}
async function* of(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

describe('planning', () => {
  test('a short answer is one text, labelled when no model answered', async () => {
    const { channel, asked } = await openChannel()
    const route = asked('direct')
    expect(await channel.plan(answer(), route)).toMatchObject([{ msgType: 'text', plain: 'plain answer', file: null }])
    const labelled = await channel.plan(answer({ label: 'no-model', language: 'zh', markdown: '好' }), route)
    expect(labelled[0]?.plain).toMatch(/^无模型：/)
    const english = await channel.plan(answer({ label: 'no-model' }), route)
    expect(english[0]?.plain).toMatch(/^no model:/)
  })

  test('A9 a report too long for messages is stored and planned as files after its parts', async () => {
    const { channel, asked, files } = await openChannel()
    const markdown = Array.from({ length: 6_000 }, (_, n) => `## Part ${n}\n\n表格 and words number ${n}.`).join('\n\n')
    const parts = await channel.plan(answer({ markdown, conclusion: 'Yes.', reportName: '周报' }), asked('direct'))
    const reports = parts.filter((part) => part.file !== null)
    expect(reports.map((part) => part.msgType)).toContain('file')
    const stored = files.get(must(reports[0]?.file, 'file').digest)
    expect(Buffer.from(stored ?? []).toString()).toContain('words number 5999.')
    expect(parts.findIndex((part) => part.file !== null)).toBeGreaterThan(0)
    expect(parts.filter((part) => part.msgType === 'interactive').every((part) => part.plain === null)).toBe(true)
  })

  test('files go by kind and size; one that cannot be carried is named in the last part', async () => {
    const { channel, asked } = await openChannel()
    const attachments = [
      file('chart.png', 'image/png', 10),
      file('big.png', 'image/png', IMAGE_LIMIT + 1),
      file('drawing.svg', 'image/svg+xml', 10),
      file('数据.csv', 'text/csv', FILE_LIMIT),
      file('huge.zip', 'application/zip', FILE_LIMIT + 1),
      file('nothing.txt', 'text/plain', 0),
    ]
    const parts = await channel.plan(answer({ attachments }), asked('direct'))
    expect(parts.map((part) => [part.msgType, part.file?.fileName ?? part.plain])).toEqual([
      ['text', 'plain answer'],
      ['image', 'chart.png'],
      ['file', 'big.png'],
      ['file', 'drawing.svg'],
      ['file', '数据.csv'],
      ['text', expect.stringMatching(/huge\.zip is larger[^]*nothing\.txt is empty/)],
    ])
  })

  test('what cannot go as a file leads to its page; a name that is a path is told by its last word alone', async () => {
    const { channel, asked } = await openChannel()
    const attachments = [
      file('/etc/passwd', 'text/plain', 10),
      file('file:///root/.ssh/id_ed25519', 'text/plain', 10),
      file('..\\other-agent\\out\\x.csv', 'text/csv', 10),
      file('..', 'text/plain', 10),
      file('Re: 报告 (final).pdf', 'application/pdf', 10),
      file('empty.txt', 'text/plain', 0),
      file('31 MB.zip', 'application/zip', 31 * 1024 * 1024),
    ]
    const page = 'https://m.test/requests/r1'
    for (const language of ['en', 'zh'] as const) {
      const parts = await channel.plan(answer({ attachments, language, page }), asked('direct'))
      expect(parts.flatMap((part) => part.file?.fileName ?? [])).toEqual(['Re: 报告 (final).pdf'])
      const told = parts.at(-1)?.plain ?? ''
      for (const name of ['passwd', 'id_ed25519', 'x.csv', 'empty.txt', '31 MB.zip']) expect(told).toContain(name)
      for (const path of ['etc', 'root', '.ssh', 'other-agent']) expect(told).not.toContain(path)
      expect(told.split(page)).toHaveLength(7)
    }
  })

  test('an operation that no grant covers is named exactly, and names nobody', async () => {
    const { channel, asked, delivered } = await openChannel()
    const route = asked('direct')
    const operation = 'rm -rf "/srv/x" <at user_id="all">everyone</at>'
    const [, said] = await channel.plan(answer({ refusedOperations: [operation] }), route)
    expect(said?.plain).toContain(operation)
    await channel.send({ ...textPart(route, ''), content: must(said, 'part').content })
    const shown = JSON.parse(delivered(route.chatId)[0]?.content ?? '{}') as { text: string }
    expect(shown.text.replaceAll('\u200b', '')).toContain(operation)
    expect(shown.text).not.toMatch(/<at/)
  })

  test.each(['en', 'zh'] as const)(
    'what is too much for one text is counted, and the text is taken (%s)',
    async (language) => {
      const { channel, asked } = await openChannel()
      const route = asked('direct')
      const refusedOperations = [
        'x'.repeat(200_000),
        ...Array.from({ length: 999 }, (_, n) => `write "/srv/${n}" ${'<at>'.repeat(40)}`),
      ]
      const attachments = Array.from({ length: 1_000 }, (_, n) => file(`${n}-${'数'.repeat(60)}.txt`, 'text/plain', 0))
      const parts = await channel.plan(answer({ refusedOperations, attachments, language }), route)
      expect(parts).toHaveLength(2)
      const said = must(parts[1], 'part')
      expect(said.bytes).toBeLessThanOrEqual(TEXT_MAX_BYTES)
      const { text } = JSON.parse(said.content) as { text: string }
      const lines = text.split('\n')
      const left = lines
        .flatMap((line) => /^(?:It asked for |另有 )?(\d+) (?:more|项|个)/.exec(line)?.[1] ?? [])
        .map(Number)
      expect(left).toHaveLength(2)
      // Every operation and every file is either named or counted.
      expect(lines.length - 2 + left.reduce((sum, count) => sum + count, 0)).toBe(2_000)
      expect(text).toContain('/srv/0')
      expect(text).toContain('0-数')
      const sent = { ...textPart(route, ''), content: said.content }
      expect(await channel.send(sent)).toMatchObject({ reply: 'taken' })
    },
  )

  test('every kind of part that is planned is taken and reads back as sent', async () => {
    const { channel, asked, delivered } = await openChannel()
    const markdown =
      '# Title\n\nSome **bold** text with `code`.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```ts\nlet x = 1\n```'
    for (const content of [
      answer(),
      answer({ markdown }),
      answer({ markdown: 'a < b & c > d "q" \\ <at id=all></at>' }),
    ]) {
      for (const place of ['direct', 'group', 'topic'] as const) {
        const route = asked(place)
        for (const part of await channel.plan(content, route)) {
          const sent = { ...textPart(route, ''), msgType: part.msgType, content: part.content }
          expect(await channel.send(sent)).toMatchObject({ reply: 'taken' })
          const id = delivered(route.chatId).at(-1)?.messageId ?? ''
          expect(await channel.readBack(id, sent, part.plain)).toEqual({ found: 'as-sent' })
        }
      }
    }
  })
})

describe('files', () => {
  test('a picture and a file are uploaded, sent and named as they are', async () => {
    const { channel, asked, sandbox, delivered } = await openChannel()
    const route = asked('direct')
    const attachments = [file('chart.png', 'image/png', png.length), file('报告 "q" (final).pdf', 'application/pdf', 4)]
    const parts = (await channel.plan(answer({ attachments }), route)).filter((part) => part.file !== null)
    for (const part of parts) {
      const uploaded = await channel.upload(part, of(part.msgType === 'image' ? png : Buffer.from('%PDF')))
      const key = 'key' in uploaded ? uploaded.key : ''
      const sent = { ...textPart(route, ''), msgType: part.msgType, content: channel.withUpload(part, key) }
      expect(await channel.send(sent)).toMatchObject({ reply: 'taken' })
    }
    expect(delivered(route.chatId).map((one) => one.msgType)).toEqual(['image', 'file'])
    expect(sandbox.world.uploads().map((one) => [one.fileName, one.fileType])).toEqual([
      ['chart.png', 'image'],
      ['报告 "q" (final).pdf', 'pdf'],
    ])
  })

  test('an empty file and a lost upload: refused here, ambiguous there', async () => {
    const { channel, asked, sandbox } = await openChannel()
    const [, part] = await channel.plan(answer({ attachments: [file('a.txt', 'text/plain', 1)] }), asked('direct'))
    const planned = must<PlannedPart>(part, 'file part')
    expect(await channel.upload(planned, of(Buffer.alloc(0)))).toMatchObject({
      reply: 'refused',
      because: 'bad-format',
    })
    sandbox.faults.add({ api: 'file.upload', do: { kind: 'accept-then-reset' }, times: 1 })
    expect(await channel.upload(planned, of(Buffer.from('x')))).toMatchObject({ reply: 'ambiguous' })
    expect(await channel.upload(planned, of(Buffer.from('x')))).toMatchObject({ upload: 'stored' })
  })

  test('30 MB are streamed: only what the line has taken is read, and the platform has every byte', async () => {
    const { channel, asked, sandbox } = await openChannel()
    const piece = Buffer.alloc(64 * 1024, 'a')
    const count = FILE_LIMIT / piece.length
    let read = 0
    const bytes = {
      async *[Symbol.asyncIterator]() {
        for (let n = 0; n < count; n++) {
          read++
          yield piece
        }
      },
    }
    const large = { ...file('大文件.bin', 'application/octet-stream', FILE_LIMIT), digest: 'e'.repeat(64) }
    const [, part] = await channel.plan(answer({ attachments: [large] }), asked('direct'))
    const planned = must<PlannedPart>(part, 'file part')
    expect(await channel.upload(planned, bytes)).toMatchObject({ upload: 'stored' })
    expect(read).toBe(count)
    const [stored] = sandbox.world.uploads()
    expect(stored).toMatchObject({ fileName: '大文件.bin', fileType: 'stream' })
    expect(sandbox.world.bytesOf(must(stored, 'upload').key).byteLength).toBe(FILE_LIMIT)

    // The same part over a line that takes the first pieces only.
    read = 0
    const slow = createLarkChannel({
      ...refusingPlan,
      client: {
        stream: () => Promise.reject(new Error('not here')),
        async call({ form }) {
          const reader = must(form, 'a form').body().getReader()
          for (let n = 0; n < 4; n++) await reader.read()
          await reader.cancel()
          return { got: 'nothing', because: 'timeout', code: null }
        },
      },
    })
    expect(await slow.upload(planned, bytes)).toMatchObject({ reply: 'ambiguous', because: 'timeout' })
    expect(read).toBeLessThanOrEqual(4)
  })

  test('an upload whose token was refused reads the bytes anew', async () => {
    const { channel, asked, sandbox, expireToken, calls } = await openChannel()
    const attachments = [file('a.txt', 'text/plain', 5)]
    const [, part] = await channel.plan(answer({ attachments }), asked('direct'))
    const bytes = { [Symbol.asyncIterator]: () => of(Buffer.from('hello')) }
    expect(await channel.upload(must(part, 'part'), bytes)).toMatchObject({ upload: 'stored' })
    expireToken()
    expect(await channel.upload(must(part, 'part'), bytes)).toMatchObject({ upload: 'stored' })
    expect(calls.filter((call) => call.api === 'file.upload').map((call) => call.code)).toEqual(['0', '99991663', '0'])
    for (const upload of sandbox.world.uploads()) expect(Buffer.from(upload.bytes).toString()).toBe('hello')
  })

  test.each([
    ['too few', Buffer.from('hell')],
    ['too many', Buffer.from('hello!')],
    ['none that can be read', null],
  ])('stored bytes that are %s are refused, not waited for', async (_, bytes) => {
    const { channel, asked, sandbox } = await openChannel()
    const [, part] = await channel.plan(answer({ attachments: [file('a.txt', 'text/plain', 5)] }), asked('direct'))
    const source = bytes === null ? failing() : of(bytes)
    expect(await channel.upload(must(part, 'part'), source)).toMatchObject({ reply: 'refused', because: 'bad-format' })
    expect(sandbox.world.uploads()).toEqual([])
  })

  test('what a person sent is downloaded whole, with its name; a sticker is not', async () => {
    const { channel, sandbox } = await openChannel()
    const bytes = Buffer.alloc(300_000, 'ab')
    const said = sandbox.world.sayFile({
      chatId: seedIds.dm,
      from: seedIds.alice,
      fileName: '数据 1.csv',
      bytes,
      kind: 'file',
    })
    const got = await channel.download(said.id, said.key, 'file')
    if (!got.fetched) throw new Error(got.because)
    expect(got.value.fileName).toBe('数据 1.csv')
    const read: Uint8Array[] = []
    for await (const chunk of got.value.bytes) read.push(chunk)
    expect(Buffer.concat(read).equals(bytes)).toBe(true)
    expect(await channel.download(said.id, 'file_unknown', 'file')).toEqual({ fetched: false, because: 'gone' })
    const sticker = sandbox.world.say({
      chatId: seedIds.dm,
      from: seedIds.alice,
      raw: { msgType: 'sticker', content: JSON.stringify({ file_key: said.key }) },
    })
    expect(await channel.download(sticker.id, said.key, 'file')).toEqual({ fetched: false, because: 'unsupported' })
  })
})

describe('reading messages', () => {
  test('one message, and a bundle with all that is in it', async () => {
    const { channel, sandbox } = await openChannel()
    const { world } = sandbox
    const said = world.say({ chatId: seedIds.group, from: seedIds.bob, text: 'hello 你好' })
    expect(await channel.fetchMessage(said.id)).toMatchObject({
      fetched: true,
      value: { messageId: said.id, text: 'hello 你好', sender: { openId: seedIds.bob, type: 'user' } },
    })
    const bundle = world.say({
      chatId: seedIds.dm,
      from: seedIds.alice,
      raw: { msgType: 'merge_forward', content: JSON.stringify({ content: 'Merged and Forwarded Message' }) },
      children: [
        { from: seedIds.alice, msgType: 'text', content: JSON.stringify({ text: 'first' }) },
        { from: seedIds.bob, msgType: 'image', content: JSON.stringify({ image_key: 'img_1' }) },
      ],
    })
    const read = await channel.fetchBundle(bundle.id)
    expect(read.fetched && read.value.replace(/, [^:\n]* UTC/g, '').replace(/:\d\d UTC/g, '')).toMatch(
      new RegExp(`${seedIds.alice}[^]*first[^]*${seedIds.bob}[^]*\\[image 1\\]`),
    )
    world.recall(said.id, seedIds.bob)
    expect(await channel.fetchMessage(said.id)).toEqual({ fetched: false, because: 'gone' })
    expect(await channel.fetchMessage('om_never')).toEqual({ fetched: false, because: 'gone' })
  })
})

describe('the line', () => {
  test('a platform that does not answer is a timeout: ambiguous', async () => {
    const { channel, asked, sandbox, delivered } = await openChannel({ timeouts: { callMs: 150 } })
    const route = asked('direct')
    await channel.send(textPart(route, 'before'))
    sandbox.faults.add({ api: 'message.reply', do: { kind: 'hang', stored: true }, times: 1 })
    const part = textPart(route, 'slow')
    expect(await channel.send(part)).toMatchObject({ reply: 'ambiguous', because: 'timeout' })
    sandbox.faults.add({ api: 'message.reply', do: { kind: 'code', code: 230049 }, times: 1 })
    expect(await channel.send(part)).toMatchObject({ reply: 'ambiguous', because: 'being-sent', code: 230049 })
    expect(await channel.send(part)).toMatchObject({ reply: 'taken' })
    expect(delivered(route.chatId)).toHaveLength(2)
  })

  test('no line at all: nothing was sent, and it costs no attempt', async () => {
    const { channel, asked, sandbox, calls } = await openChannel()
    const route = asked('direct')
    sandbox.faults.add({ api: 'token', do: { kind: 'status', status: 502 } })
    expect(await channel.send(textPart(route, 'x'))).toMatchObject({ reply: 'later', because: 'channel-down' })
    expect(calls.some((call) => call.api === 'message.reply')).toBe(false)
  })

  test('a token that stays refused is asked for again once, not for ever', async () => {
    const { channel, asked, sandbox, calls } = await openChannel()
    const route = asked('direct')
    sandbox.faults.add({ api: 'message.reply', do: { kind: 'code', code: 99991663 } })
    expect(await channel.send(textPart(route, 'x'))).toMatchObject({ reply: 'later', because: 'channel-down' })
    expect(calls.filter((call) => call.api === 'message.reply')).toHaveLength(2)
    expect(calls.filter((call) => call.api === 'token')).toHaveLength(2)
  })

  test('ten calls at once ask for one token', async () => {
    const { channel, asked, calls } = await openChannel()
    const message = asked('direct').replyTo ?? ''
    await Promise.all(Array.from({ length: 10 }, () => channel.react(message, 'Get')))
    expect(calls.filter((call) => call.api === 'token')).toHaveLength(1)
  })

  test('a doubtful reaction is unknown, and found afterwards', async () => {
    const { channel, asked, sandbox } = await openChannel()
    const message = asked('direct').replyTo ?? ''
    sandbox.faults.add({ api: 'reaction.create', do: { kind: 'accept-then-reset' }, times: 1 })
    expect(await channel.react(message, 'Get')).toEqual({ reaction: 'unknown', code: null })
    expect(await channel.findReaction(message, 'Get')).toMatchObject({ found: expect.any(String) as string })
  })

  test('no log line holds the secret, the token or the text', async () => {
    const { channel, asked, failNextSend, loseNextAnswer, lines } = await openChannel()
    const route = asked('direct')
    failNextSend({ code: 230001 })
    await channel.send(textPart(route, 'PRIVATE WORDS'))
    loseNextAnswer()
    await channel.send(textPart(route, 'PRIVATE WORDS'))
    failNextSend({ status: 500 })
    await channel.send(textPart(route, 'PRIVATE WORDS'))
    expect(lines).toHaveLength(3)
    const logged = JSON.stringify(lines)
    for (const word of [secret, 'PRIVATE', 'Bearer', 't-']) expect(logged).not.toContain(word)
  })
})
