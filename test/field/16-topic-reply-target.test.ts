import { describe, expect, test } from 'vitest'
import { createLarkChannel } from '../../src/bot/egress/lark-channel.js'
import { createLarkClient } from '../../src/bot/lark-client.js'
import type { BotId } from '../../src/collab/refs.js'
import { returnRefOf } from '../../src/exchange/ids.js'
import { must } from '../../src/lib/assert.js'
import { silentLogger } from '../../src/lib/log.js'
import { messageOf, noMeter } from '../bot/ingress/given.js'
import { apiSample, caseSteps } from '../replay/samples.js'

const bot = 'cli_test_app' as BotId
const self = { openId: 'ou_test_bot_manager', name: 'Manager' }
const [inTopic, quoting] = caseSteps('16-topic-reply-target')
  .filter((step) => step.kind === 'event')
  .map((step) => returnRefOf(messageOf(must(step.payload, 'payload'), bot, self)))

interface Call {
  readonly path: string
  readonly query: string
  readonly body: Readonly<Record<string, unknown>>
}

/** The channel over a platform that takes everything and writes down what it was asked. */
function recorded() {
  const calls: Call[] = []
  const client = createLarkClient({
    bot,
    appSecret: 's',
    baseUrl: 'http://lark.test',
    clock: { now: () => 0 },
    log: silentLogger,
    meter: noMeter,
    fetch: (input, init) => {
      const url = new URL(String(input))
      if (url.pathname.includes('/auth/')) return Promise.resolve(Response.json(apiSample('api_tenant_token_ok').body))
      const body = JSON.parse(String(init?.body)) as Call['body']
      calls.push({ path: url.pathname, query: url.search, body })
      return Promise.resolve(Response.json(apiSample('api_send_ok').body))
    },
  })
  const storeFile = () => Promise.reject(new Error('no file is made here'))
  return {
    calls,
    channel: createLarkChannel({ bot, client, clock: { now: () => 0 }, identity: () => self, storeFile }),
  }
}

describe('case 16, where an answer goes', () => {
  test('text and image of a topic both go through reply, in the thread', async () => {
    const { calls, channel } = recorded()
    const route = must(inTopic, 'route')
    for (const [msgType, content] of [
      ['text', '{"text":"chart attached"}'],
      ['image', '{"image_key":"img_1"}'],
    ] as const) {
      expect(await channel.send({ route, msgType, content, uuid: msgType })).toMatchObject({ reply: 'taken' })
    }
    expect(calls.map(({ path, body }) => [path, body['reply_in_thread']])).toEqual([
      ['/open-apis/im/v1/messages/om_c16_1/reply', true],
      ['/open-apis/im/v1/messages/om_c16_1/reply', true],
    ])
    expect(calls.every((call) => !JSON.stringify(call).includes('omt_test_A'))).toBe(true)
  })

  test('a plain quote is answered in the main flow, in no new topic', async () => {
    const { calls, channel } = recorded()
    const route = must(quoting, 'route')
    expect(route.threadId).toBeNull()
    await channel.send({ route, msgType: 'text', content: '{"text":"42"}', uuid: 'u' })
    expect(calls).toMatchObject([
      { path: '/open-apis/im/v1/messages/om_c16_2/reply', body: { reply_in_thread: false, uuid: 'u' } },
    ])
  })
})
