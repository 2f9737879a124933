import { describe, expect, test } from 'vitest'
import { createLongConnection } from '../../src/bot/ingress/long-connection.js'
import { createWebhook } from '../../src/bot/ingress/webhook.js'
import type { IncomingEvent } from '../../src/collab/message.js'
import { must } from '../../src/lib/assert.js'
import { silentLogger } from '../../src/lib/log.js'
import { serveSandbox } from '../../src/sandbox/serve.js'
import { noMeter, receiveWith, rememberingTake } from '../bot/ingress/given.js'
import { until } from '../kit/until.js'
import { eventSamples, sample, sampleBot, sampleEncryptKey, sampleToken, seal, signedRequest } from './samples.js'

const now = 1_790_000_123_000
const redelivered = 'p2p_text_redelivery_new_event_id'

const direct = 'addressed: direct-message'
const mention = 'addressed: mention'
const context = 'context-only: not-addressed'
const group = 'oc_9a08acd9974372defdb5a622b43e6378'

/** What each recorded event becomes: its kind, and for messages who may start a turn and what a reader sees. */
const becomes: Readonly<Record<string, readonly [kind: string, ...rest: string[]]>> = {
  audio: ['message', direct, '[audio 1: 4.2 s]'],
  bot_added: ['bot-added', group],
  bot_deleted: ['bot-removed', group],
  bot_menu: ['other'],
  card_action_trigger: ['card-action', group],
  card_action_trigger_form: ['card-action', group],
  chat_disbanded: ['chat-disbanded', group],
  file: ['message', direct, '[file 1: Q3 report (final) 报告.pdf]'],
  group_post_content_v2_open_id_at: ['message', mention, 'quoted list:\n> - one\n> - two\n\n```js\nlet x = 1;\n```'],
  group_post_mention_image: [
    'message',
    mention,
    'Release checklist\nplease review today see [the plan](https://example.com/plan?x=1)\n[image 1]\n```python\nprint("hi")\n```\n---\n[THUMBSUP] thanks',
  ],
  group_quote_reply_no_thread: ['message', mention, 'replying to the earlier message'],
  group_text_at_all: ['message', 'context-only: at-all', '@all stand-up in five minutes'],
  group_text_eleven_mentions: [
    'message',
    mention,
    `${[2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => `@Member${n}`).join(' ')} roll call`,
  ],
  group_text_mention: ['message', mention, 'please summarise the thread for @Bob'],
  group_text_no_mention: ['message', context, 'just talking, nobody mentioned'],
  hongbao: ['message', context, '[Red packet]'],
  image: ['message', direct, '[image 1]'],
  interactive: [
    'message',
    'ignored: other-bot',
    'Deploy finished\nservice-a → prod\n[open run](https://example.com/run/17)[button: Roll back]',
  ],
  location: ['message', direct, '[location] Example Tower, Floor 3 (39.9093, 116.3974)'],
  media_video: ['message', direct, '[video 1: demo.mp4, 12.5 s]'],
  merge_forward: ['message', direct, '[forwarded messages]'],
  message_read: ['other'],
  p2p_chat_entered: ['chat-entered', 'oc_6b51577fb13177032fa6f617732397b5'],
  p2p_text: ['message', direct, 'hello bot, what can you do?'],
  [redelivered]: ['message', direct, 'hello bot, what can you do?'],
  p2p_text_unicode_link: [
    'message',
    direct,
    '看一下 [build log](https://example.com/a?b=1&c=2) 🙂\nsecond line "quoted" \\ backslash <b>not bold</b>',
  ],
  p2p_text_ws_empty_token: ['message', direct, 'same shape, received over the long connection'],
  reaction_created: ['other'],
  reaction_created_by_bot: ['other'],
  reaction_deleted: ['other'],
  recalled: ['recalled', group],
  share_calendar_event: [
    'message',
    context,
    '[calendar event] Design review\n2026-09-21 15:13 UTC to 2026-09-21 16:13 UTC',
  ],
  share_chat: ['message', direct, '[shared chat] oc_9a08acd9974372defdb5a622b43e6378'],
  share_user: ['message', direct, '[shared contact] ou_2055637b20a0d512c212157d230c59e8'],
  sticker: ['message', direct, '[sticker]'],
  system: ['message', context, 'Alice invited Bob, Carol to this chat.'],
  text_already_recalled_empty_content: ['message', direct, ''],
  todo: ['message', context, '[task] Prepare slides\ndue 2026-09-22 14:13 UTC'],
  topic_root_post: ['message', context, 'New topic: flaky integration test'],
  topic_seed_no_thread_id: ['message', mention, 'new topic, seed event without thread_id'],
  topic_thread_reply: ['message', mention, 'can you look?'],
  video_chat: ['message', context, '[video meeting] Weekly sync\nstarts 2026-09-21 14:13 UTC'],
  vote: ['message', context, '[poll] Lunch?\n- Noodles\n- Rice'],
}

function summary(event: IncomingEvent): readonly string[] {
  if (event.kind === 'message') {
    const { turnAuthority: authority, message } = event
    const because = 'because' in authority ? `: ${authority.because}` : ''
    return ['message', `${authority.verdict}${because}`, message.text]
  }
  return 'chatId' in event ? [event.kind, event.chatId] : [event.kind]
}

async function throughWebhook(names: readonly string[]): Promise<readonly IncomingEvent[]> {
  const { take, events } = rememberingTake()
  const webhook = createWebhook({
    bot: sampleBot,
    encryptKey: sampleEncryptKey,
    verificationToken: sampleToken,
    clock: { now: () => now },
    receive: receiveWith(take, silentLogger),
    log: silentLogger,
    meter: noMeter,
  })
  for (const name of names) {
    const envelope = sample(name)
    // Over HTTP every event carries the token; the sample of the other door has none.
    const body = JSON.stringify({ ...envelope, header: { ...envelope.header, token: sampleToken } })
    const response = await webhook(signedRequest(seal(body, sampleEncryptKey), sampleEncryptKey, now))
    expect(response.status, name).toBe(200)
  }
  return events
}

async function throughLongConnection(names: readonly string[]): Promise<readonly IncomingEvent[]> {
  const { take, events, doors } = rememberingTake()
  let ids = 0
  const { url, sandbox, close } = await serveSandbox({
    clock: { now: () => now },
    newId: () => `id-${++ids}`,
    app: { appId: sampleBot, appSecret: 'secret' },
    events: { mode: 'websocket', fragmentBytes: 300 },
  })
  const connection = createLongConnection({
    bot: sampleBot,
    appSecret: 'secret',
    baseUrl: url,
    receive: receiveWith(take, silentLogger),
    lease: { acquire: async () => true, renew: async () => true, release: async () => {} },
    log: silentLogger,
    clock: { now: () => performance.now() },
    random: () => 0.5,
  })
  try {
    connection.start()
    await until(() => sandbox.connections() === 1 && connection.state().connected, 'connected')
    for (const name of names) {
      const { header, ...rest } = sample(name)
      const before = doors.length
      sandbox.world.pushEvent({ ...rest, header: { ...header, token: '' } })
      await until(() => doors.length > before, `${name} taken`)
    }
    await sandbox.settled()
    expect(sandbox.pushes().every((push) => push.state === 'delivered')).toBe(true)
    expect(connection.state().count).toBe(names.length)
  } finally {
    await connection.stop()
    await close()
  }
  return events
}

describe('recorded events through both doors', () => {
  const names = eventSamples()

  test('the table names every recorded event', () => {
    expect(Object.keys(becomes).toSorted()).toEqual(names.toSorted())
  })

  test('A7 each becomes the same event at either door, once', async () => {
    const [webhook, connection] = [await throughWebhook(names), await throughLongConnection(names)]
    expect(connection).toEqual(webhook)
    const distinct = names.filter((name) => name !== redelivered)
    expect(Object.fromEntries(webhook.map((event, at) => [distinct[at], summary(event)]))).toEqual(
      Object.fromEntries(distinct.map((name) => [name, becomes[name]])),
    )
    for (const event of webhook) {
      expect(event.key).toBe(event.kind === 'message' ? event.message.messageId : event.eventId)
    }
  }, 30_000)

  test('A7 the same message pushed again under a new event id is a duplicate', async () => {
    const events = await throughWebhook(['p2p_text', redelivered])
    expect(events).toHaveLength(1)
    expect(must(events[0], 'event').eventId).toBe(sample('p2p_text').header['event_id'])
  })
})
