import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createWebhook } from '../../../src/bot/ingress/webhook.js'
import { rawFromRest } from '../../../src/bot/ingress/raw.js'
import { toIncomingMessage } from '../../../src/bot/ingress/message.js'
import { storable } from '../../../src/lib/storable.js'
import type { IncomingEvent } from '../../../src/collab/message.js'
import {
  eventSamples,
  sample,
  sampleBot,
  sampleEncryptKey,
  sampleSelf,
  sampleToken,
  seal,
  signedRequest,
} from '../../replay/samples.js'
import { capturingLogger, messageWith, noMeter, receiveWith } from './given.js'

const now = 1_790_000_123_000
/** R2 asks for 20 000: `HOSTILE_RUNS=20000`. */
const runs = Number(process.env['HOSTILE_RUNS'] ?? '1000')

function door() {
  const stored: IncomingEvent[] = []
  const { log, lines } = capturingLogger()
  const receive = receiveWith((event) => {
    stored.push(event)
    return Promise.resolve({ outcome: 'stored' })
  }, log)
  const webhook = createWebhook({
    bot: sampleBot,
    encryptKey: sampleEncryptKey,
    verificationToken: sampleToken,
    clock: { now: () => now },
    receive,
    log,
    meter: noMeter,
  })
  return { webhook, stored, lines }
}

/** Text that breaks naive code: keys, markup, halves of pairs, NUL, names of object members. */
const nasty = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '@_user_1',
    '@_all',
    '\u0000',
    '\ud800',
    '__proto__',
    'constructor',
    '```',
    '$&',
    '</at>',
    '<at user_id="x">',
    '{"text":1}',
    'PRIVATE WORDS',
  ),
)
const anything = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' })
const odd: fc.Arbitrary<unknown> = fc.oneof(anything, nasty, fc.constant(null), fc.constant({}), fc.constant([]))

interface Change {
  readonly at: number
  readonly to: unknown
  readonly drop: boolean
}

/** A recorded event with some of its members replaced or dropped, inside its content as well. */
const mutated = fc
  .tuple(
    fc.constantFrom(...eventSamples()),
    fc.array(fc.record<Change>({ at: fc.nat(200), to: odd, drop: fc.boolean() }), { minLength: 1, maxLength: 4 }),
  )
  .map(([name, changes]) => {
    const envelope: unknown = sample(name)
    for (const change of changes) mutate(envelope, change)
    return envelope
  })

function mutate(root: unknown, { at, to, drop }: Change): void {
  const places: { readonly holder: Record<string, unknown>; readonly key: string }[] = []
  const walk = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return
    for (const [key, one] of Object.entries(value)) {
      places.push({ holder: value as Record<string, unknown>, key })
      walk(one)
    }
  }
  walk(root)
  const place = places[at % Math.max(1, places.length)]
  if (place === undefined) return
  const { holder, key } = place
  if (drop) delete holder[key]
  else if (key === 'content') holder[key] = typeof to === 'string' ? to : JSON.stringify(to)
  else Object.defineProperty(holder, key, { value: to, enumerable: true, configurable: true, writable: true })
}

describe('R2 hostile events', () => {
  test('R2 a changed event is a 4xx or a stored event, and nothing of it is logged', async () => {
    const { webhook, stored, lines } = door()
    const seen = new Set<number>()
    await fc.assert(
      fc.asyncProperty(mutated, async (envelope) => {
        const before = stored.length
        const body = JSON.stringify(envelope)
        const response = await webhook(signedRequest(seal(body, sampleEncryptKey), sampleEncryptKey, now))
        seen.add(response.status)
        expect([200, 400, 401]).toContain(response.status)
        expect(stored.length - before).toBe(response.status === 200 && !body.includes('"url_verification"') ? 1 : 0)
      }),
      { numRuns: runs },
    )
    expect([...seen].toSorted()).toEqual([200, 400, 401])
    for (const secret of [sampleEncryptKey, sampleToken, 'PRIVATE WORDS']) {
      expect(lines.filter((line) => JSON.stringify(line).includes(secret))).toEqual([])
    }
    for (const event of stored) expect(JSON.stringify(event)).not.toMatch(/\\u0000|\\ud[89a-f]/i)
  })

  test('R2 any bytes, signed or not, sealed or not, are answered with a 4xx', async () => {
    const { webhook, stored } = door()
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.nat(3), async (bytes, way) => {
        const sealed = way % 2 === 0 ? seal(bytes, sampleEncryptKey) : Buffer.from(bytes)
        const request =
          way < 2
            ? signedRequest(sealed, sampleEncryptKey, now)
            : new Request('http://gateway.test/', { method: 'POST', body: sealed })
        expect([400, 401]).toContain((await webhook(request)).status)
      }),
      { numRuns: runs },
    )
    expect(stored).toEqual([])
  })

  test('R2 a value nested a hundred thousand deep is refused', async () => {
    const { webhook, stored } = door()
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    for (const name of ['card_action_trigger', 'p2p_text']) {
      const text = JSON.stringify(sample(name)).replace('"action":"approve"', `"action":${deep}`)
      const body = name === 'p2p_text' ? text.replace(/"sender":\{/, `"sender":{"x":${deep},`) : text
      const response = await webhook(signedRequest(seal(body, sampleEncryptKey), sampleEncryptKey, now))
      // In a field that nobody reads it does no harm.
      expect(response.status).toBe(name === 'p2p_text' ? 200 : 400)
    }
    expect(stored).toHaveLength(1)
  })

  test('R2 every converter takes any content', () => {
    const types = [
      'text',
      'post',
      'image',
      'file',
      'folder',
      'audio',
      'media',
      'sticker',
      'interactive',
      'system',
      'todo',
    ]
    const more = [
      'merge_forward',
      'nonsupport',
      'share_chat',
      'location',
      'vote',
      'hongbao',
      'video_chat',
      'calendar',
      'x',
    ]
    const node = fc.record(
      { tag: fc.constantFrom('text', 'a', 'at', 'img', 'media', 'md', 'code_block', 'emotion', 'hr', 'button', 'z') },
      { requiredKeys: [] },
    )
    const nodes = fc.array(fc.array(fc.tuple(node, fc.dictionary(nasty, odd)).map(([a, b]) => ({ ...b, ...a }))))
    const content = fc.oneof(
      odd,
      fc.record({
        text: odd,
        title: odd,
        content: fc.oneof(nodes, odd),
        content_v2: fc.oneof(nodes, odd),
        elements: odd,
      }),
      fc.record({ template: nasty, from_user: odd, summary: odd, options: odd, due_time: odd, duration: odd }),
    )
    fc.assert(
      fc.property(fc.constantFrom(...types, ...more), content, (type, value) => {
        const message = messageWith(type, value)
        expect(typeof message.text).toBe('string')
        expect(message.mentionsSelf).toBe(false)
      }),
      { numRuns: runs },
    )
  })

  test('R2 any item of a read-back is a message or names its wrong field', () => {
    fc.assert(
      fc.property(
        odd,
        fc.dictionary(fc.constantFrom('sender', 'body', 'mentions', 'create_time', 'chat_id'), odd),
        (item, change) => {
          const base = { message_id: 'om_1', msg_type: 'text', create_time: '1', body: { content: '{"text":"a"}' } }
          for (const one of [item, { ...base, ...change }]) {
            const raw = rawFromRest(one)
            if (raw.ok)
              expect(toIncomingMessage(raw.value, { bot: sampleBot, self: sampleSelf }).messageId).toBe('om_1')
            else expect(raw.field).not.toBe('')
          }
        },
      ),
      { numRuns: runs },
    )
  })

  test('R2 half a megabyte of what regular expressions dislike takes no time worth naming', () => {
    const size = 500_000
    const many = (unit: string) => unit.repeat(Math.floor(size / unit.length))
    const texts = ['![', '[', '@', '@_user_1.', '<at id=', '\n', '` ', '\n```', ' ', '@_all ', '&amp;'].map(many)
    const from = performance.now()
    for (const text of texts) {
      const mentions = [{ key: '@_user_1', id: { open_id: sampleSelf.openId }, name: 'GatewayBot' }]
      messageWith('text', { text }, mentions)
      messageWith(
        'post',
        { content: [[{ tag: 'md', text }], [{ tag: 'code_block', text }], [{ tag: 'text', text }]] },
        mentions,
      )
    }
    messageWith('post', { content: Array.from({ length: 50_000 }, () => []) })
    // Measured at a fifth of this; a quadratic one takes minutes.
    expect(performance.now() - from).toBeLessThan(8_000)
  })

  test('text that cannot be stored is replaced, everything else is kept', () => {
    expect(storable({ 'a\0': ['\ud800x', '👋', 1, null, true] })).toEqual({
      'a\ufffd': ['\ufffdx', '👋', 1, null, true],
    })
    const own = storable(JSON.parse('{"__proto__":{"a":1}}') as object)
    expect(Object.keys(own ?? {})).toEqual(['__proto__'])
  })
})
