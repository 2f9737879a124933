import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../src/lib/time.js'
import { textOf, until, testGateway, type TestGateway } from '../kit/gateway.js'
import { lineLog } from '../kit/line-log.js'
import { sampleEncryptKey, sampleToken, seal, signature } from '../replay/samples.js'

const { log, lines } = lineLog()
const CANARY = 'CANARY-of-a-private-message'
let g: TestGateway
beforeAll(async () => {
  // The sandbox has no say here: every request is made by hand. It still answers the calls of the gateway.
  g = await testGateway({
    logger: log,
    env: { LARK_EVENTS: 'webhook', LARK_ENCRYPT_KEY: sampleEncryptKey, LARK_VERIFICATION_TOKEN: sampleToken },
  })
})
afterAll(() => g.stop())

const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  fetch(`${g.gateway.url}/lark/events`, {
    method: 'POST',
    body: body as NonNullable<RequestInit['body']>,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  })
function signed(body: string | Uint8Array, at = Date.now(), key = sampleEncryptKey) {
  const timestamp = String(Math.floor(at / 1_000))
  const nonce = String(Math.floor(performance.now() * 1_000))
  return post(body, {
    'x-lark-request-timestamp': timestamp,
    'x-lark-request-nonce': nonce,
    'x-lark-signature': signature(body, key, timestamp, nonce),
  })
}
/** As the platform pushes it: sealed and signed. */
const push = (event: unknown, at?: number) =>
  signed(seal(typeof event === 'string' ? event : JSON.stringify(event), sampleEncryptKey), at)

let serial = 0
function envelope(message: Record<string, unknown> = {}, header: Record<string, unknown> = {}) {
  serial += 1
  const now = String(Date.now())
  return {
    schema: '2.0',
    header: {
      event_id: `evt_bad_${serial}`,
      event_type: 'im.message.receive_v1',
      create_time: now,
      token: sampleToken,
      app_id: 'cli_a1b2c3d4e5f60718',
      tenant_key: 't',
      ...header,
    },
    event: {
      sender: { sender_id: { open_id: g.ids.alice }, sender_type: 'user', tenant_key: 't' },
      message: {
        message_id: `om_bad_${serial}`,
        create_time: now,
        chat_id: g.ids.dm,
        chat_type: 'p2p',
        message_type: 'text',
        content: JSON.stringify({ text: CANARY }),
        ...message,
      },
    },
  }
}
const stored = async () => (await g.db.sql`select 1 from collab.ingress_events`).length
const quietlyRefused = async (answer: Promise<Response>, status: number) => {
  const before = await stored()
  const response = await answer
  expect(response.status).toBe(status)
  expect(await response.text()).not.toContain(CANARY)
  expect(await stored()).toBe(before)
}

describe('what is refused at the door, and nothing of it stored', () => {
  test('a body that is no JSON, or JSON that is no event', async () => {
    for (const body of ['', '{', '[]', 'null', '"text"', '{"encrypt": 7}', `{"schema":"2.0","${CANARY}":1}`]) {
      const response = await signed(body)
      expect([400, 401], body).toContain(response.status)
    }
    for (const event of ['{', `{"schema":"2.0","header":{"token":"${sampleToken}"}}`]) {
      await quietlyRefused(push(event), 400)
    }
    // Without the token nobody vouches for it, whatever else it is.
    for (const event of ['[]', 'null', '{}']) {
      const response = await push(event)
      expect([400, 401], event).toContain(response.status)
    }
    expect(await stored()).toBe(0)
  })

  test('a wrong signature, none, and one made with another key', async () => {
    const body = seal(JSON.stringify(envelope()), sampleEncryptKey)
    await quietlyRefused(post(body), 401)
    await quietlyRefused(signed(body, Date.now(), 'another key'), 401)
    await quietlyRefused(post(body, { 'x-lark-signature': 'x', 'x-lark-request-timestamp': '1' }), 401)
  })

  test('a plain body where sealed ones are agreed, and a wrong token inside a sealed one', async () => {
    await quietlyRefused(signed(JSON.stringify(envelope())), 400)
    await quietlyRefused(push(envelope({}, { token: 'another' })), 401)
  })

  test('a signed timestamp that is older than eight hours; one of seven hours is taken', async () => {
    await quietlyRefused(push(envelope(), Date.now() - 8 * HOUR - MINUTE), 401)
    expect((await push(envelope({ message_type: 'system' }), Date.now() - 7 * HOUR)).status).toBe(200)
  })

  test('two MiB, whether or not its length is told', async () => {
    const large = new Uint8Array(2 * 1024 * 1024).fill(0x20)
    await quietlyRefused(signed(large), 413)
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(large.subarray(0, 64 * 1024))
      },
    })
    const streamed = fetch(`${g.gateway.url}/lark/events`, {
      method: 'POST',
      body: stream,
      duplex: 'half',
    } as RequestInit)
    // The connection may also be closed while the body still comes.
    const status = await streamed.then((response) => response.status).catch(() => 413)
    expect(status).toBe(413)
  })

  test('bytes that are no UTF-8', async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc3, 0x28, 0x22, 0x7d])
    const response = await signed(bytes)
    expect([400, 401]).toContain(response.status)
    await quietlyRefused(signed(seal(bytes, sampleEncryptKey)), 400)
  })

  test('an event for another app', async () => {
    await quietlyRefused(push(envelope({}, { app_id: 'cli_ffffffffffffffff' })), 400)
  })
})

describe('what is odd and taken all the same', () => {
  test('an event type that we do not know is stored and acknowledged, and nothing comes of it', async () => {
    const before = await stored()
    expect((await push(envelope({}, { event_type: 'im.message.of_next_year_v9' }))).status).toBe(200)
    expect(await stored()).toBe(before + 1)
  })

  test('a message type that we do not know is said by its name and answered', async () => {
    const said = envelope({ message_type: 'hologram', content: '{"depth":3}' })
    expect((await push(said)).status).toBe(200)
    await until(
      async () =>
        (
          await g.db.sql`select 1 from collab.turns t join collab.work_requests r on r.id = t.request
          where r.origin_message = ${said.event.message.message_id}`
        ).length === 1,
      'its turn',
    )
  })

  test('an empty text gets one calm line and starts nothing', async () => {
    const { world } = g.served.sandbox
    const real = world.say({ chatId: g.ids.dm, from: g.ids.alice, text: ' ', silent: true })
    expect((await push(envelope({ message_id: real.id, content: '{"text":"  "}' }))).status).toBe(200)
    const told = await until(() => g.answers(g.ids.dm).find((one) => one.parentId === real.id), 'the line')
    expect(textOf(told)).toContain('nothing to read')
    await until(() => g.receipts(g.ids.dm, real.id).length === 0, 'the end of the receipt')
    expect(await g.db.sql`select 1 from collab.work_requests where origin_message = ${real.id}`).toHaveLength(0)
  })

  test('a chat that the platform does not know: the answer fails visibly, and the next chat is served', async () => {
    const said = envelope({ chat_id: 'oc_00000000000000000000000000nowhere', content: '{"text":"!reply lost"}' })
    expect((await push(said)).status).toBe(200)
    await until(
      async () =>
        (
          await g.db.sql`select 1 from collab.deliveries d join collab.work_requests r on r.id = d.request
          where r.origin_message = ${said.event.message.message_id} and d.outcome = 'failed'`
        ).length === 1,
      'the failure',
    )
    const { world } = g.served.sandbox
    const real = world.say({ chatId: g.ids.dm, from: g.ids.alice, text: '!reply found', silent: true })
    expect((await push(envelope({ message_id: real.id, content: '{"text":"!reply found"}' }))).status).toBe(200)
    await until(() => g.answers(g.ids.dm).find((one) => one.parentId === real.id), 'the answer')
  })

  test('text with a NUL, half a surrogate pair and 100 KB in one line is answered', async () => {
    const { world } = g.served.sandbox
    const text = `!reply a\u0000b \ud800 ${'字'.repeat(30_000)}`
    const real = world.say({ chatId: g.ids.dm, from: g.ids.alice, text: 'odd', silent: true })
    expect((await push(envelope({ message_id: real.id, content: JSON.stringify({ text }) }))).status).toBe(200)
    await until(() => g.answers(g.ids.dm).find((one) => one.parentId === real.id), 'the answer')
  })

  test('the URL check is answered within a second', async () => {
    const from = performance.now()
    const check = { challenge: 'c-1', token: sampleToken, type: 'url_verification' }
    const response = await post(seal(JSON.stringify(check), sampleEncryptKey))
    expect(await response.json()).toEqual({ challenge: 'c-1' })
    expect(performance.now() - from).toBeLessThan(1_000)
  })
})

test('no line of the log holds a word of a message, a token or a key', () => {
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) {
    expect(line).not.toContain(CANARY)
    expect(line).not.toContain(sampleToken)
    expect(line).not.toContain(sampleEncryptKey)
  }
})
