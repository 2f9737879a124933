import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { textOf, until, testGateway, type TestGateway } from '../kit/gateway.js'
import { recordedPrompts, recordingEnv } from '../kit/recording.js'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('what comes in', () => {
  let g: TestGateway
  beforeAll(async () => {
    g = await testGateway({ env: { ...recordingEnv, ATTACHMENT_LIMIT_BYTES: '4096' } })
  })
  afterAll(() => g.stop())

  async function given(fileName: string, bytes: Uint8Array, kind: 'file' | 'image' = 'file') {
    const before = recordedPrompts(g.dataDir).length
    const { world } = g.served.sandbox
    const said = world.sayFile({ chatId: g.ids.dm, from: g.ids.alice, fileName, bytes, kind })
    const prompt = await until(() => recordedPrompts(g.dataDir)[before], 'the prompt')
    await until(() => g.answers(g.ids.dm).find((one) => one.parentId === said.id), 'the answer')
    return prompt
  }

  test('a picture lies at the path that the agent is told, inside its workspace, with its bytes', async () => {
    const { files, text } = await given('photo.png', png, 'image')
    expect(files).toHaveLength(1)
    const path = must(files[0], 'a file').path
    expect(path.startsWith(`${g.dataDir}/workspaces/`)).toBe(true)
    expect(readFileSync(path)).toEqual(png)
    expect(text).toContain('image/png')
  })

  test('a document keeps its name, also one that is not ASCII, and cannot leave the workspace by it', async () => {
    const bytes = Buffer.from('# 报告\n决定：通过\n')
    const { files, text } = await given('../../季度 报告.md', bytes)
    const path = must(files[0], 'a file').path
    expect(path.startsWith(`${g.dataDir}/workspaces/`)).toBe(true)
    expect(path).not.toContain('..')
    expect(path).toContain('季度 报告.md')
    expect(readFileSync(path)).toEqual(bytes)
    expect(text).toContain('季度 报告.md')
  })

  test('two files of one name do not overwrite each other', async () => {
    const first = await given('same.txt', Buffer.from('one'))
    const second = await given('same.txt', Buffer.from('two'))
    expect(readFileSync(must(first.files[0], 'the first').path, 'utf8')).toBe('one')
    expect(readFileSync(must(second.files[0], 'the second').path, 'utf8')).toBe('two')
  })

  test('one that is too large is named as not available with the reason, and the turn runs', async () => {
    const { files, text } = await given('huge.bin', Buffer.alloc(5_000, 1))
    expect(files).toEqual([])
    expect(text).toMatch(/Not available to you:\n- huge\.bin: too-large/u)
  })

  test('one that cannot be fetched is named as not available, and the turn runs', async () => {
    g.served.sandbox.faults.add({ api: 'resource.get', do: { kind: 'code', code: 234002 } })
    const { files, text } = await given('locked.txt', Buffer.from('x'))
    g.served.sandbox.faults.clear()
    expect(files).toEqual([])
    expect(text).toMatch(/Not available to you:\n- locked\.txt: /u)
  })
})

describe('what goes out', () => {
  let g: TestGateway
  beforeAll(async () => {
    g = await testGateway()
  })
  afterAll(() => g.stop())

  async function answered(text: string, parts: number, mark: readonly string[]): Promise<readonly WorldMessage[]> {
    const { world } = g.served.sandbox
    const root = world.say({ chatId: g.ids.group, from: g.ids.bob, text: 'a topic', silent: true })
    const said = world.say({
      chatId: g.ids.group,
      from: g.ids.alice,
      text,
      mentionBot: true,
      threadOf: root.id,
    })
    const to = () => g.answers(g.ids.group).filter((one) => one.threadId === said.threadId)
    await until(() => to().length >= parts, 'the answer')
    await until(() => g.receipts(g.ids.group, said.id).join() === mark.join(), 'the end of the receipt')
    return to()
  }
  const upload = (message: WorldMessage) => {
    const content = JSON.parse(message.content) as { file_key?: string; image_key?: string }
    const key = content.file_key ?? content.image_key
    return must(
      g.served.sandbox.world.uploads().find((one) => one.key === key),
      'the upload',
    )
  }

  test('a picture and a file stand behind the text, in the place where it was asked, with their names', async () => {
    const parts = await answered('!attach chart.png\n!attach 说明.txt\n!reply both', 3, [])
    expect(parts.map((part) => part.msgType)).toEqual(['interactive', 'image', 'file'])
    expect(textOf(must(parts[0], 'the text'))).toContain('both')
    expect(upload(must(parts[1], 'the picture')).bytes.length).toBeGreaterThan(0)
    expect(upload(must(parts[2], 'the file')).fileName).toBe('说明.txt')
  })

  test('one that the platform refuses leaves the text delivered and says what did not arrive', async () => {
    g.served.sandbox.faults.add({ api: 'file.upload', times: 1, do: { kind: 'code', code: 234006 } })
    const parts = await answered('!attach big.txt\n!reply the text stands', 2, [])
    expect(textOf(must(parts[0], 'the text'))).toContain('the text stands')
    expect(textOf(must(parts[1], 'the notice'))).toMatch(/1 of 2 parts arrived|big\.txt/u)
    g.served.sandbox.faults.clear()
  })
})
