import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { decrypt, encrypt, sign } from '../../src/sandbox/seal.js'
import { createSandbox } from '../../src/sandbox/sandbox.js'
import { seedSandboxWorld } from '../../src/sandbox/seed.js'
import { APP_ID, APP_SECRET, handTime, until } from './kit.js'

const KEY = 'lark-sample-encrypt-key-0001'
const sample = (name: string): string => readFileSync(new URL(`../samples/${name}`, import.meta.url), 'utf8')

describe('the seal', () => {
  test('opens the vector of the official guide', () => {
    expect(decrypt('test key', 'P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=')).toBe('hello world')
  })

  test('makes the recorded envelope and its signature byte for byte', () => {
    const raw = sample('encrypted_envelope.json')
    const plain = JSON.stringify(JSON.parse(sample('group_text_mention.json')))
    const iv = Uint8Array.from({ length: 16 }, (_, at) => at)
    const { encrypt: sealed } = JSON.parse(raw) as { encrypt: string }
    expect(encrypt(KEY, plain, iv)).toBe(sealed)
    expect(decrypt(KEY, sealed)).toBe(plain)
    expect(sign(KEY, '1790000123', '842017356', raw)).toBe(
      '335ee8f72cb2a951ca3b3d6749245d888c3461c65f589e132fa41f4dc9d39a2c',
    )
  })
})

interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** A receiver on a real port whose answers the test chooses. */
const receiver = async (answer: (body: string) => { status: number; body: string } | null) => {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    received.push({ headers: request.headers, body })
    const given = answer(body)
    if (given === null) return
    response.writeHead(given.status, { 'content-type': 'application/json' }).end(given.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events` }
}

const open = (url: string, encryptKey?: string) => {
  const time = handTime()
  let count = 0
  const sandbox = createSandbox({
    clock: time.clock,
    timers: time.timers,
    newId: () => `id-${++count}`,
    app: {
      appId: APP_ID,
      appSecret: APP_SECRET,
      verificationToken: 'vt-1',
      ...(encryptKey === undefined ? {} : { encryptKey }),
    },
    events: { mode: 'webhook', url },
  })
  onTestFinished(() => sandbox.close())
  return { sandbox, time, ids: seedSandboxWorld(sandbox) }
}

describe('webhook', () => {
  test('without a key the event is plain and carries the verification token', async () => {
    const { received, url } = await receiver(() => ({ status: 200, body: '{}' }))
    const { sandbox, ids } = open(url)
    sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'hi' })
    await sandbox.settled()
    expect(received[0]?.headers).not.toHaveProperty('x-lark-signature')
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ schema: '2.0', header: { token: 'vt-1' } })
    expect(sandbox.pushes()).toMatchObject([{ state: 'delivered' }])
  })

  test('with a key the body is sealed and signed over its raw bytes', async () => {
    const { received, url } = await receiver(() => ({ status: 200, body: '{}' }))
    const { sandbox, ids } = open(url, KEY)
    const said = sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'hi' })
    await sandbox.settled()
    const { headers, body } = received[0] ?? { headers: {}, body: '{}' }
    const timestamp = String(headers['x-lark-request-timestamp'])
    expect(timestamp).toBe('1790000000')
    expect(headers['x-lark-signature']).toBe(sign(KEY, timestamp, String(headers['x-lark-request-nonce']), body))
    const opened = decrypt(KEY, (JSON.parse(body) as { encrypt: string }).encrypt)
    expect(JSON.parse(opened)).toMatchObject({ event: { message: { message_id: said.id } } })
  })

  test('the URL check is sealed, unsigned and wants its challenge back', async () => {
    const { received, url } = await receiver((body) => {
      const plain = decrypt(KEY, (JSON.parse(body) as { encrypt: string }).encrypt)
      return {
        status: 200,
        body: JSON.stringify({ challenge: (JSON.parse(plain) as { challenge: string }).challenge }),
      }
    })
    expect(await open(url, KEY).sandbox.checkUrl()).toBe(true)
    expect(received[0]?.headers).not.toHaveProperty('x-lark-signature')
    const deaf = await receiver(() => ({ status: 200, body: '{}' }))
    expect(await open(deaf.url, KEY).sandbox.checkUrl()).toBe(false)
  })

  test('anything but 200 is pushed again with the same event id and a new stamp', async () => {
    let status = 500
    const { received, url } = await receiver(() => ({ status, body: '{}' }))
    const { sandbox, ids, time } = open(url, KEY)
    sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'hi' })
    await sandbox.settled()
    status = 302
    time.advance(15_000)
    await sandbox.settled()
    status = 200
    time.advance(299_999)
    expect(received).toHaveLength(2)
    time.advance(1)
    await sandbox.settled()
    const eventIds = received.map(({ body }) => {
      const plain = decrypt(KEY, (JSON.parse(body) as { encrypt: string }).encrypt)
      return (JSON.parse(plain) as { header: { event_id: string } }).header.event_id
    })
    expect(new Set(eventIds).size).toBe(1)
    expect(received.map(({ headers }) => headers['x-lark-request-timestamp'])).toEqual([
      '1790000000',
      '1790000015',
      '1790000315',
    ])
    expect(sandbox.pushes()).toMatchObject([{ state: 'delivered', attempts: 3 }])
  })

  test('an answer later than three seconds counts as none', async () => {
    const { received, url } = await receiver(() => null)
    const { sandbox, ids, time } = open(url)
    sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'hi' })
    await until(() => received.length > 0, 'the push arrives')
    time.advance(2_999)
    expect(sandbox.pushes()).toMatchObject([{ state: 'pushing' }])
    time.advance(1)
    await sandbox.settled()
    expect(sandbox.pushes()).toMatchObject([{ state: 'waiting', lastFailure: 'timeout' }])
  })

  test('a card press is one call: a good card replaces the old, an old one is the client error 200830', async () => {
    let card: object = { schema: '2.0', body: { elements: [{ tag: 'markdown', content: 'done' }] } }
    const { url } = await receiver(() => ({ status: 200, body: JSON.stringify({ card: { type: 'raw', data: card } }) }))
    const { sandbox, ids } = open(url)
    const said = sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'x' })
    const click = () => sandbox.world.click({ messageId: said.id, by: ids.alice, value: {} })
    expect((await click()).shown).toBe('answer')
    expect(sandbox.world.messages(ids.dm)[0]?.content).toBe(JSON.stringify(card))
    card = { elements: [] }
    expect(await click()).toEqual({ shown: 'error', code: 200830 })
  })

  test('a press nobody answers is an error at once and is not pushed again', async () => {
    const { received, url } = await receiver(() => ({ status: 500, body: '' }))
    const { sandbox, ids, time } = open(url)
    const said = sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'x', silent: true })
    const answer = await sandbox.world.click({ messageId: said.id, by: ids.alice, value: {} })
    expect(answer).toEqual({ shown: 'error', code: 200671 })
    time.advance(86_400_000)
    await sandbox.settled()
    expect(received).toHaveLength(1)
  })
})
