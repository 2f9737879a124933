import { describe, expect, test } from 'vitest'
import { unreacted, unread, unsent } from '../../../src/bot/egress/classify.js'
import { classOf } from '../../../src/bot/egress/codes.js'
import { comparableOf } from '../../../src/bot/egress/comparable.js'
import { pathOf, type ApiName, type ApiReply } from '../../../src/bot/lark-api.js'
import { createLarkClient } from '../../../src/bot/lark-client.js'
import { fileNameOf, silenceOf } from '../../../src/bot/lark-wire.js'
import { silentLogger } from '../../../src/lib/log.js'
import { apiSample, apiSamples, sampleBot } from '../../replay/samples.js'
import { noMeter } from '../ingress/given.js'

/** The platform's reply as the client reads it, with a token given first. */
async function replied(name: string): Promise<ApiReply> {
  const sample = apiSample(name)
  const client = createLarkClient({
    bot: sampleBot,
    appSecret: 's',
    baseUrl: 'http://lark.test',
    clock: { now: () => 0 },
    log: silentLogger,
    meter: noMeter,
    fetch: (url) =>
      Promise.resolve(
        String(url).includes('tenant_access_token')
          ? Response.json(apiSample('api_tenant_token_ok').body)
          : Response.json(sample.body, { status: sample.status, headers: sample.headers }),
      ),
  })
  const answer = await client.call({ api: 'bot.info', method: 'GET', path: '/x' })
  if (answer.got !== 'reply') throw new Error(answer.because)
  return answer
}

describe('every recorded reply of the platform', () => {
  const expected: Readonly<Record<string, unknown>> = {
    api_error_card_tables: { reply: 'refused', because: 'bad-format', code: 230099 },
    api_error_chat_rate_limit: { reply: 'later', because: 'rate-limit', retryAfterMs: 2_000 },
    api_error_invalid_token: { reply: 'later', because: 'channel-down', code: 99991663 },
    api_error_rate_limit: { reply: 'later', because: 'rate-limit', retryAfterMs: 3_000 },
    api_error_reaction_target_gone: { reply: 'refused', because: 'cannot-reply-here', code: 231003 },
    api_error_recalled: { reply: 'refused', because: 'cannot-reply-here', code: 230011 },
  }

  test.each(apiSamples())('%s', async (name) => {
    const reply = await replied(name)
    if (name.startsWith('api_error_')) {
      expect(unsent('message.reply', reply)).toMatchObject(expected[name] as object)
    } else {
      expect(reply).toMatchObject({ code: 0, status: 200 })
      // Code 0 without a message id proves nothing about a send.
      expect(unsent('message.create', reply)).toMatchObject({ reply: 'ambiguous', because: 'server-error' })
    }
  })

  test('the real cause of a refused card and the log id are kept for the operator', async () => {
    expect(unsent('message.create', await replied('api_error_card_tables'))).toMatchObject({
      detail: expect.stringMatching(/^ErrCode 11310: .*log id 20260921120000FAKE/) as string,
    })
  })

  test('a recalled message under a reaction', async () => {
    expect(unreacted('reaction.create', await replied('api_error_reaction_target_gone'))).toEqual({
      reaction: 'refused',
      because: 'message-gone',
      code: 231003,
    })
  })
})

describe('one number, several calls', () => {
  test.each<[ApiName, number, string | null]>([
    ['message.reply', 230071, 'cannot-reply-here'],
    ['message.create', 230071, null],
    ['message.reply', 230075, 'not-permitted'],
    ['message.create', 230002, 'target-gone'],
    ['message.list', 230002, 'not-permitted'],
    ['reaction.create', 230002, 'message-gone'],
    ['message.create', 230011, null],
    ['message.create', 230028, 'content-audit'],
    ['message.create', 230025, 'too-long'],
    ['message.create', 99991672, 'not-permitted'],
  ])('%s %d', (api, code, meaning) => {
    expect(classOf(api, code)).toBe(meaning)
  })
})

describe('answers that are not words of the platform', () => {
  const bare = (status: number, code: number | null = null): ApiReply => ({
    got: 'reply',
    status,
    code,
    msg: '',
    logId: null,
    resetMs: null,
    body: null,
  })

  test.each([
    [bare(500), { reply: 'ambiguous', because: 'server-error' }],
    [bare(502), { reply: 'ambiguous', because: 'server-error' }],
    [bare(408), { reply: 'ambiguous', because: 'server-error' }],
    [bare(200), { reply: 'ambiguous', because: 'server-error' }],
    [bare(500, 424242), { reply: 'ambiguous', because: 'server-error' }],
    [bare(200, 424242), { reply: 'ambiguous', because: 'server-error' }],
    [bare(400, 424242), { reply: 'refused', because: 'configuration' }],
    [bare(429), { reply: 'later', because: 'rate-limit' }],
    [bare(403), { reply: 'later', because: 'channel-down' }],
    [bare(413), { reply: 'refused', because: 'too-long' }],
  ])('%o', (reply, outcome) => {
    expect(unsent('message.create', reply)).toMatchObject(outcome)
    expect(unreacted('reaction.create', reply)).toHaveProperty('reaction')
    expect(typeof unread('message.get', reply)).toBe('string')
  })

  test('only a connection that was never made proves that nothing was sent', () => {
    const failed = (cause: unknown) => new TypeError('fetch failed', { cause })
    const coded = (code: string) => Object.assign(new Error(code), { code })
    expect(silenceOf(failed(coded('ECONNREFUSED')), false).because).toBe('not-sent')
    expect(silenceOf(failed(new AggregateError([coded('ECONNREFUSED')])), false).because).toBe('not-sent')
    expect(silenceOf(failed(coded('ENOTFOUND')), false).because).toBe('not-sent')
    expect(silenceOf(failed(coded('ECONNRESET')), false).because).toBe('connection-lost')
    expect(silenceOf(failed(undefined), false).because).toBe('connection-lost')
    expect(silenceOf(failed(coded('ECONNREFUSED')), true).because).toBe('timeout')
  })
})

test.each<[ApiName, string, string | null]>([
  ['message.reply', 'The message was withdrawn.', 'cannot-reply-here'],
  ['message.reply', 'this message has been recalled', 'cannot-reply-here'],
  ['message.reply', '该消息已被撤回', 'cannot-reply-here'],
  ['message.reply', 'the withdrawn amount is wrong', null],
  ['message.create', 'The message was withdrawn.', null],
])('%s without a number, %s', (api, msg, because) => {
  const answer: ApiReply = { got: 'reply', status: 400, code: null, msg, logId: null, resetMs: null, body: {} }
  const meant = unsent(api, answer)
  if (because === null) expect(meant).toMatchObject({ reply: 'later', because: 'channel-down' })
  else expect(meant).toMatchObject({ reply: 'refused', because, code: null })
})

describe('on the wire', () => {
  test('path parameters are encoded, and a dot segment is never one', () => {
    expect(pathOf('/m/:message_id/r', { message_id: 'a/b?c#d 你' })).toBe('/m/a%2Fb%3Fc%23d%20%E4%BD%A0/r')
    expect(() => pathOf('/m/:message_id', { message_id: '..' })).toThrow()
    expect(() => pathOf('/m/:message_id', {})).toThrow()
  })

  test.each([
    [`attachment; filename="a b.txt"`, 'a b.txt'],
    [`attachment; filename*=UTF-8''%E6%95%B0%E6%8D%AE.csv; filename="x"`, '数据.csv'],
    [`attachment; filename=${Buffer.from('数据.csv').toString('latin1')}`, '数据.csv'],
    ['inline', null],
    [null, null],
  ])('%s', (header, name) => {
    expect(fileNameOf(header)).toBe(name)
  })

  test('a post and a text read back in one form', () => {
    const post = {
      title: 'T',
      content: [
        [
          { tag: 'text', text: 'a ' },
          { tag: 'a', text: 'b', href: 'https://x.test' },
        ],
        [{ tag: 'hr' }],
      ],
    }
    expect(comparableOf('post', JSON.stringify(post))).toBe('T a b')
    expect(comparableOf('text', JSON.stringify({ text: '  see [https://x.test](https://x.test)\n' }))).toBe(
      'see https://x.test',
    )
    expect(comparableOf('interactive', '{}')).toBeNull()
    expect(comparableOf('text', 'not json')).toBeNull()
  })
})
