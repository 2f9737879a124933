import { describe, expect, test } from 'vitest'
import { BODY_LIMIT, createWebhook, OLDEST_MS } from '../../../src/bot/ingress/webhook.js'
import { aesKeyOf, open } from '../../../src/bot/ingress/seal.js'
import type { Receive } from '../../../src/bot/ingress/receive.js'
import {
  sample,
  sampleBot,
  sampleEncryptKey,
  sampleText,
  sampleToken,
  seal,
  signedRequest,
} from '../../replay/samples.js'
import { capturingLogger, noMeter, receiveWith, rememberingTake } from './given.js'

const signedAt = 1_790_000_123_000

function door(options: { encryptKey?: string | null; token?: string | null; now?: number; receive?: Receive } = {}) {
  const { take, events } = rememberingTake()
  const { log, lines } = capturingLogger()
  const webhook = createWebhook({
    bot: sampleBot,
    encryptKey: options.encryptKey === undefined ? sampleEncryptKey : options.encryptKey,
    verificationToken: options.token === undefined ? sampleToken : options.token,
    clock: { now: () => options.now ?? signedAt },
    receive: options.receive ?? receiveWith(take, log),
    log,
    meter: noMeter,
  })
  return { webhook, events, lines }
}

const url = 'http://gateway.test/lark/events'
const post = (body: string | Uint8Array | ReadableStream, headers: Record<string, string> = {}) =>
  new Request(url, { method: 'POST', body, headers, duplex: 'half' } as RequestInit)

function sampleRequest(change: Record<string, string> = {}, body = sampleText('encrypted_envelope.json')): Request {
  const { headers } = JSON.parse(sampleText('encrypted_envelope.headers.json')) as { headers: Record<string, string> }
  return post(body, { ...headers, ...change })
}

const sealed = (value: unknown, at = signedAt) =>
  signedRequest(seal(JSON.stringify(value), sampleEncryptKey), sampleEncryptKey, at)

describe('seal', () => {
  test("the official guide's vector opens", () => {
    const bytes = open('P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=', aesKeyOf('test key'))
    expect(Buffer.from(bytes ?? []).toString()).toBe('hello world')
  })

  test('the sample envelope opens to the same event', () => {
    const { encrypt } = JSON.parse(sampleText('encrypted_envelope.json')) as { encrypt: string }
    expect(JSON.parse(Buffer.from(open(encrypt, aesKeyOf(sampleEncryptKey)) ?? []).toString())).toEqual(
      sample('group_text_mention'),
    )
  })
})

describe('webhook with an Encrypt Key', () => {
  test('the signed sample is stored once; again it is a duplicate and still 200', async () => {
    const { webhook, events } = door()
    expect((await webhook(sampleRequest())).status).toBe(200)
    expect((await webhook(sampleRequest())).status).toBe(200)
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({
      kind: 'message',
      key: 'om_x100bb866836fe449b983cbcd5faab87',
      eventId: '0c37d04ca2f66cdf39db3ee470adc6fa',
      turnAuthority: { verdict: 'addressed', because: 'mention' },
    })
  })

  test.each([
    ['a changed signature', sampleRequest({ 'x-lark-signature': '0'.repeat(64) })],
    ['a short signature', sampleRequest({ 'x-lark-signature': 'ab' })],
    ['a changed nonce', sampleRequest({ 'x-lark-request-nonce': '842017357' })],
    ['one more byte', sampleRequest({}, `${sampleText('encrypted_envelope.json')} `)],
    ['no signature', post(sampleText('encrypted_envelope.json'))],
    ['a plain body', post(sampleText('p2p_text.json'))],
    ['an unsigned body that cannot be opened', post(JSON.stringify({ encrypt: 'AAAA' }))],
  ])('%s: 401, nothing stored', async (_, request) => {
    const { webhook, events } = door()
    expect((await webhook(request)).status).toBe(401)
    expect(events).toEqual([])
  })

  test('a signed timestamp counts for eight hours', async () => {
    expect((await door({ now: signedAt + OLDEST_MS }).webhook(sampleRequest())).status).toBe(200)
    const late = door({ now: signedAt + OLDEST_MS + 1 })
    expect((await late.webhook(sampleRequest())).status).toBe(401)
    expect(late.events).toEqual([])
  })

  test.each([
    ['not encrypted', signedRequest(sampleText('p2p_text.json'), sampleEncryptKey, signedAt)],
    ['not this key', signedRequest(seal('{}', 'another key'), sampleEncryptKey, signedAt)],
    ['not base64', signedRequest('{"encrypt":"***"}', sampleEncryptKey, signedAt)],
    ['not JSON inside', signedRequest(seal('{', sampleEncryptKey), sampleEncryptKey, signedAt)],
    ['not JSON outside', signedRequest('{"encrypt"', sampleEncryptKey, signedAt)],
    [
      'not UTF-8 inside',
      signedRequest(seal(Buffer.from([0x22, 0xc3, 0x28, 0x22]), sampleEncryptKey), sampleEncryptKey, signedAt),
    ],
  ])('signed but %s: 400', async (_, request) => {
    expect((await door().webhook(request)).status).toBe(400)
  })

  test('a wrong Verification Token inside a good envelope: 401', async () => {
    const { webhook, events } = door({ token: 'another token' })
    expect((await webhook(sampleRequest())).status).toBe(401)
    expect(events).toEqual([])
  })

  test('fields missing: 400 and the field in the log, no value', async () => {
    const { webhook, lines } = door()
    const broken = sample('p2p_text')
    const request = sealed({ ...broken, event: { ...broken.event, message: { message_id: 'om_1' } } })
    expect((await webhook(request)).status).toBe(400)
    expect(lines.map((line) => line.fields.reason)).toContain('event.message.chat_id')
  })

  test('an event of another app: 400, never stored under ours', async () => {
    const { webhook, events } = door()
    const other = sample('p2p_text')
    const request = sealed({ ...other, header: { ...other.header, app_id: 'cli_ffffffffffffffff' } })
    expect((await webhook(request)).status).toBe(400)
    expect(events).toEqual([])
  })

  test('the encrypted URL check is answered without a signature, and needs the token', async () => {
    const body = sampleText('encrypted_url_verification.json')
    const answered = await door().webhook(post(body))
    expect(answered.status).toBe(200)
    expect(await answered.json()).toEqual({ challenge: '9d3b1f7a-0c2e-4b58-8f61-2a7c5e9d0b14' })
    expect((await door({ token: 'another token' }).webhook(post(body))).status).toBe(401)
  })
})

describe('webhook without an Encrypt Key', () => {
  const plain = { encryptKey: null }

  test('the token is the proof', async () => {
    const { webhook, events } = door(plain)
    expect((await webhook(post(sampleText('p2p_text.json')))).status).toBe(200)
    expect(events).toHaveLength(1)
    expect((await door({ ...plain, token: 'other' }).webhook(post(sampleText('p2p_text.json')))).status).toBe(401)
    expect((await webhook(post(sampleText('p2p_text_ws_empty_token.json')))).status).toBe(401)
  })

  test('without any secret nothing comes in', async () => {
    expect((await door({ ...plain, token: null }).webhook(post(sampleText('p2p_text.json')))).status).toBe(401)
    expect((await door({ ...plain, token: null }).webhook(post(sampleText('url_verification.json')))).status).toBe(401)
  })

  test('the URL check', async () => {
    const answered = await door(plain).webhook(post(sampleText('url_verification.json')))
    expect(await answered.json()).toEqual({ challenge: '9d3b1f7a-0c2e-4b58-8f61-2a7c5e9d0b14' })
  })

  test.each([
    ['not JSON', '{'],
    ['empty', ''],
    ['not UTF-8', Buffer.from([0xff, 0xfe])],
  ])('%s: 400', async (_, body) => {
    expect((await door(plain).webhook(post(body))).status).toBe(400)
  })
})

describe('limits and faults', () => {
  test('more than 1 MiB is refused without being read to its end', async () => {
    let given = 0
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        given += 64 * 1024
        controller.enqueue(new Uint8Array(64 * 1024))
      },
    })
    expect((await door().webhook(post(stream))).status).toBe(413)
    expect(given).toBeLessThan(BODY_LIMIT + 3 * 64 * 1024)
    const declared = post('{}', { 'content-length': String(BODY_LIMIT + 1) })
    expect((await door().webhook(declared)).status).toBe(413)
  })

  test('only POST', async () => {
    expect((await door().webhook(new Request(url))).status).toBe(405)
  })

  test('a store that cannot be reached: 503, so that the platform pushes again', async () => {
    const { webhook, lines } = door({ receive: () => Promise.reject(new Error('connect ECONNREFUSED')) })
    expect((await webhook(sampleRequest())).status).toBe(503)
    expect(lines.some((line) => line.level === 'error')).toBe(true)
  })

  test('a click is stored, then answered with {}', async () => {
    const { webhook, events } = door()
    const answered = await webhook(sealed(sample('card_action_trigger')))
    expect([answered.status, await answered.json()]).toEqual([200, {}])
    expect(events[0]).toMatchObject({
      kind: 'card-action',
      openId: 'ou_365dd77a24668d45e4ef2913f80b51bf',
      messageId: 'om_x100b449944eb5fb01e54d65cdab36b3',
      chatId: 'oc_9a08acd9974372defdb5a622b43e6378',
      value: { action: 'approve', request_id: 'req-0001' },
    })
  })

  test('a click that cannot be stored in a second is not said to be taken', async () => {
    const { webhook } = door({ receive: () => new Promise(() => undefined) })
    expect((await webhook(sealed(sample('card_action_trigger')))).status).toBe(503)
  })

  test('no log line holds a key, a token or the text of a message', async () => {
    const { webhook, lines } = door()
    await webhook(sampleRequest())
    await webhook(sampleRequest({ 'x-lark-signature': '0'.repeat(64) }))
    await webhook(sealed({ ...sample('p2p_text'), header: {} }))
    const logged = JSON.stringify(lines)
    for (const secret of [sampleEncryptKey, sampleToken, 'summarise the thread', 'what can you do']) {
      expect(logged).not.toContain(secret)
    }
    expect(lines.length).toBeGreaterThan(2)
  })
})
