import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../../src/lib/digest.js'
import { INLINE_BYTES, inlineOf } from '../../src/mcp/artifact-bytes.js'
import { fileNamed } from '../../src/runtime/rehearsal/files.js'
import { file, servedDoor, streamOf, type ServedDoor } from './kit.js'

let door: ServedDoor
let client: Client
beforeAll(async () => {
  door = await servedDoor()
  client = await door.client()
})
afterAll(() => door.close())
beforeEach(() => {
  door.fake.calls.length = 0
  door.fake.answers.clear()
})

const call = async (name: string, given: Record<string, unknown>) => {
  const { structuredContent, isError, content } = await client.callTool({ name, arguments: given })
  return {
    isError,
    said: structuredContent as Readonly<Record<string, unknown>>,
    content: content as readonly object[],
  }
}
const on = { request: 'r1', fileName: 'notes.md' }
const heardBytes = () => door.fake.calls.map(({ said }) => said['bytes'])

describe('putting a file in a call', () => {
  test('text is stored as its UTF-8, other bytes as what their base64 says', async () => {
    const bytes = Buffer.from([0, 255, 1, 254])
    expect((await call('artifact_put', { ...on, text: '结论\n' })).said).toMatchObject({ outcome: 'accepted', ...file })
    await call('artifact_put', { ...on, base64: bytes.toString('base64') })
    expect(heardBytes()).toEqual([Buffer.from('结论\n').toString('latin1'), bytes.toString('latin1')])
  })

  test.each([
    ['neither form', {}],
    ['both forms', { text: 'a', base64: 'YQ==' }],
    ['what is no base64', { base64: 'not base64!' }],
    ['base64 that is cut', { base64: 'YWJj\nYQ' }],
    ['half a character', { text: 'a\ud800' }],
    ['no name', { fileName: ' ', text: 'a' }],
    ['a name that is a document', { fileName: 'x'.repeat(501), text: 'a' }],
  ])('%s is refused and reaches no verb', async (_, given) => {
    const { isError, said } = await call('artifact_put', { ...on, ...given })
    expect(isError).toBe(true)
    expect(said['refusal']).toMatchObject({ reason: 'bad-arguments' })
    expect(door.fake.calls).toEqual([])
  })

  test('of exactly the limit is taken; one byte more is refused, saying how it goes', async () => {
    expect((await call('artifact_put', { ...on, text: 'x'.repeat(INLINE_BYTES) })).isError).toBe(false)
    const { said } = await call('artifact_put', { ...on, text: 'x'.repeat(INLINE_BYTES + 1) })
    expect(said).toMatchObject({ refusal: { reason: 'artifact-too-large', limit: INLINE_BYTES } })
    expect(said['next']).toContain('lark-manager artifact put')
    const most = Buffer.alloc(INLINE_BYTES).toString('base64')
    expect((await call('artifact_put', { ...on, base64: most })).isError).toBe(false)
  })

  test('an empty file, and one that no store takes, say so of a file and not of words', async () => {
    door.fake.answers.set('artifactPut', { outcome: 'rejected', refusal: { reason: 'text-empty' } })
    expect((await call('artifact_put', { ...on, text: '' })).said['refusal']).toEqual({
      reason: 'bad-arguments',
      where: ['the file is empty'],
    })
    door.fake.answers.set('artifactPut', { outcome: 'rejected', refusal: { reason: 'too-large', limit: 9 } })
    expect((await call('artifact_put', { ...on, text: 'a' })).said['refusal']).toEqual({
      reason: 'file-too-large',
      limit: 9,
    })
  })

  test('the same key is the same file', async () => {
    const given = { ...on, text: 'a', key: 'k' }
    expect((await call('artifact_put', given)).said['outcome']).toBe('accepted')
    expect((await call('artifact_put', given)).said['outcome']).toBe('already-applied')
  })
})

describe('reading a file in a call', () => {
  const get = (more: Partial<typeof file>, bytes: Uint8Array) => {
    door.fake.answers.set('artifactGet', { file: { ...file, ...more }, bytes: streamOf(bytes) })
    return call('artifact_get', { request: 'r1', artifact: 'f1' })
  }

  test('text comes as text with its name, type, size and digest', async () => {
    const { said } = await get({}, Buffer.from('# 结论\n'))
    expect(said).toEqual({ ...file, text: '# 结论\n' })
  })

  test('other bytes come as base64, a picture also as a picture', async () => {
    const { bytes } = fileNamed('chart.png')
    const { said, content } = await get({ mediaType: 'image/png' }, bytes)
    const data = Buffer.from(bytes).toString('base64')
    expect(said['base64']).toBe(data)
    expect(content).toEqual([
      { type: 'text', text: JSON.stringify({ ...file, mediaType: 'image/png' }) },
      { type: 'image', data, mimeType: 'image/png' },
    ])
    const other = await get({ mediaType: 'application/zip' }, Buffer.from([80, 75, 3, 4]))
    expect(other.content).toEqual([{ type: 'text', text: JSON.stringify(other.said) }])
  })

  test('one that is too large is not read at all, and the refusal says how it goes', async () => {
    let read = false
    const bytes = (async function* () {
      read = true
      yield new Uint8Array(1)
    })()
    door.fake.answers.set('artifactGet', { file: { ...file, size: INLINE_BYTES + 1 }, bytes })
    const { said } = await call('artifact_get', { request: 'r1', artifact: 'f1' })
    expect(said).toMatchObject({
      refusal: { reason: 'artifact-too-large', limit: INLINE_BYTES, size: INLINE_BYTES + 1 },
      next: expect.stringContaining('artifact get --out') as string,
    })
    expect(read).toBe(false)
  })

  test('hidden and never there are one answer; gone bytes are said to be gone', async () => {
    door.fake.answers.set('artifactGet', null)
    expect((await call('artifact_get', { request: 'r1', artifact: 'f1' })).said['refusal']).toEqual({
      reason: 'not-visible',
    })
    door.fake.answers.set('artifactGet', { file, bytes: breaking() })
    const { said } = await call('artifact_get', { request: 'r1', artifact: 'f1' })
    expect(said['refusal']).toEqual({ reason: 'artifact-unreadable' })
    expect(JSON.stringify(said)).not.toContain('/srv')
  })
})

const breaking = (): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => ({
    next: () => Promise.reject(new Error('no such file: /srv/private/artifacts/4b')),
  }),
})

describe('plain bytes over HTTP', () => {
  const octets = { 'content-type': 'application/octet-stream', 'idempotency-key': 'k1' }
  const send = (path: string, body: NonNullable<RequestInit['body']>, headers: Readonly<Record<string, string>>) =>
    fetch(`${door.url}/api/v1/agent/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer good', ...headers },
      body,
    })
  const large = Buffer.alloc(3 * 1024 * 1024, 7)

  test('a file larger than any call is put as it is, with its words in the address', async () => {
    const response = await send('artifact_put?request=r1&fileName=%E6%8A%A5%E5%91%8A.bin', large, octets)
    expect(await response.json()).toMatchObject({ outcome: 'accepted', artifact: 'f1' })
    const [heard] = door.fake.calls
    expect(heard?.said).toMatchObject({ request: 'r1', fileName: '报告.bin' })
    expect(sha256(Buffer.from(String(heard?.said['bytes']), 'latin1'))).toBe(sha256(large))
  })

  test('the same key there and in JSON is the same command', async () => {
    await send('artifact_put?request=r1&fileName=notes.md', 'a', octets)
    await door.post('/api/v1/agent/artifact_put', { ...on, text: 'a' }, { 'idempotency-key': 'k1' })
    const [first, second] = door.fake.calls.map(({ said }) => said['eventId'])
    expect(first).toBe(second)
  })

  test.each([
    ['without a key', 'artifact_put?request=r1&fileName=a', { 'idempotency-key': '' }, 400],
    ['without a name', 'artifact_put?request=r1', {}, 400],
    ['with a member that it does not take', 'artifact_put?request=r1&fileName=a&priority=high', {}, 400],
    ['with a wrong token', 'artifact_put?request=r1&fileName=a', { authorization: 'Bearer guess' }, 401],
    ['from a page of another site', 'artifact_put?request=r1&fileName=a', { origin: 'http://evil.example' }, 403],
  ])('%s nothing is put', async (_, path, headers, status) => {
    expect((await send(path, 'a', { ...octets, ...headers })).status).toBe(status)
    expect(door.fake.calls).toEqual([])
  })

  test('a file of any size is given as it is, to be saved and never shown in place, with its digest', async () => {
    const name = "报告 'final'.bin"
    const given = { ...file, fileName: name, size: large.length, digest: sha256(large) }
    door.fake.answers.set('artifactGet', { file: given, bytes: streamOf(large.subarray(0, 9), large.subarray(9)) })
    const response = await send('artifact_get', JSON.stringify({ request: 'r1', artifact: 'f1' }), {
      accept: 'application/octet-stream',
    })
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27')}`,
    )
    expect(response.headers.get('repr-digest')).toBe(
      `sha-256=:${Buffer.from(sha256(large), 'hex').toString('base64')}:`,
    )
    expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(large))
  })

  test('what may not be seen, is gone or is asked wrongly is a problem document', async () => {
    const ask = async (body: string) => {
      const response = await send('artifact_get', body, { accept: 'application/octet-stream' })
      return [response.status, ((await response.json()) as { code: string }).code]
    }
    door.fake.answers.set('artifactGet', null)
    expect(await ask('{"request":"r1","artifact":"f1"}')).toEqual([404, 'not-visible'])
    door.fake.answers.set('artifactGet', { file, bytes: breaking() })
    expect(await ask('{"request":"r1","artifact":"f1"}')).toEqual([502, 'artifact-unreadable'])
    expect(await ask('{"request":"r1"}')).toEqual([400, 'bad-arguments'])
    expect(await ask('{')).toEqual([400, 'bad-arguments'])
  })
})

describe('what is text', () => {
  test.each([
    ['words', Buffer.from('a\tb\r\n结论'), true],
    ['a byte-order mark before them', Buffer.from('\ufeffa'), true],
    ['nothing', Buffer.alloc(0), true],
    ['NUL among letters', Buffer.from('a\u0000b'), false],
    ['an escape sequence of a terminal', Buffer.from('\u001b[2J'), false],
    ['half of a character', Buffer.from('结').subarray(0, 2), false],
    ['Latin-1', Buffer.from([0xe9, 0x74, 0xe9]), false],
  ])('%s', (_, bytes, isText) => {
    const shown = inlineOf(bytes)
    expect('text' in shown).toBe(isText)
    const back = 'text' in shown ? Buffer.from(shown.text) : Buffer.from(shown.base64, 'base64')
    expect(back.equals(bytes)).toBe(true)
  })
})
