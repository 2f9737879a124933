import { describe, expect, onTestFinished, test } from 'vitest'
import { createBot, type Bot, type BotParts } from '../../src/bot/bot.js'
import type { IncomingEvent } from '../../src/collab/message.js'
import type { BotIdentity } from '../../src/collab/channel.js'
import type { BotId, Instant } from '../../src/collab/refs.js'
import { must } from '../../src/lib/assert.js'
import { seedSandboxWorld } from '../../src/sandbox/seed.js'
import { serveSandbox } from '../../src/sandbox/serve.js'
import { until } from '../kit/until.js'
import { sample, sampleBot, sampleEncryptKey, sampleSelf, sampleToken, seal, signedRequest } from '../replay/samples.js'
import { capturingLogger, noMeter, rememberingTake } from './ingress/given.js'

const secret = 'bot-secret-never-in-a-log'

async function open(events: BotParts['events'], bot_: BotId = sampleBot) {
  let ids = 0
  const served = await serveSandbox({
    clock: { now: () => Date.now() },
    newId: () => `id-${++ids}`,
    app: { appId: sampleBot, appSecret: secret },
    events: { mode: 'websocket' },
  })
  onTestFinished(() => served.close())
  const ids_ = seedSandboxWorld(served.sandbox)
  const { take, events: taken } = rememberingTake()
  const { log, lines } = capturingLogger()
  const known: BotIdentity[] = []
  const bot: Bot = createBot({
    bot: bot_,
    appSecret: secret,
    baseUrl: served.url,
    events,
    clock: { now: () => Date.now() },
    random: () => 0,
    log,
    meter: noMeter,
    take,
    policy: () => ({ groupsOpen: new Set(), atAllChats: new Set(), botChats: new Set() }),
    onIdentity: (identity) => void known.push(identity),
    storeFile: () => Promise.reject(new Error('no file is made here')),
  })
  onTestFinished(() => bot.stop())
  return { bot, taken, lines, known, sandbox: served.sandbox, ids: ids_ }
}

const lease = { acquire: async () => true, renew: async () => true, release: async () => {} }

describe('a bot', () => {
  test('over the long connection: it learns who it is, hears a person and answers where it was asked', async () => {
    const { bot, taken, known, sandbox, ids } = await open({ mode: 'websocket', lease })
    expect(bot.state().identityError).not.toBeNull()
    bot.start()
    await until(() => bot.state().identity !== null && bot.state().connection?.connected === true, 'ready')
    expect(known).toEqual([sampleSelf])
    expect(bot.state()).toMatchObject({ identity: sampleSelf, identityError: null })
    const said = sandbox.world.say({ chatId: ids.group, from: ids.alice, text: 'sum it up', mentionBot: true })
    await until(() => taken.some((event) => event.kind === 'message'), 'taken')
    expect(taken[0]).toMatchObject({
      key: said.id,
      turnAuthority: { verdict: 'addressed', because: 'mention' },
      message: { text: 'sum it up' },
    })
    const route = {
      channel: 'lark',
      bot: sampleBot,
      chatId: ids.group,
      chatType: 'group',
      threadId: null,
      replyTo: said.id,
    } as const
    const [part] = await bot.channel.plan({ kind: 'notice', notice: { kind: 'cancelled' }, language: 'zh' }, route)
    const { msgType, content } = must(part, 'part')
    expect(await bot.channel.send({ route, msgType, content, uuid: 'u1' })).toMatchObject({ reply: 'taken' })
    expect(sandbox.world.messages(ids.group).at(-1)).toMatchObject({ sender: 'bot', parentId: said.id, threadId: null })
    expect(bot.webhook).toBeNull()
  })

  test('before it knows itself a group message waits; afterwards it is judged as if it had just come', async () => {
    const { bot, taken, sandbox, known, lines } = await open({
      mode: 'webhook',
      encryptKey: sampleEncryptKey,
      verificationToken: sampleToken,
    })
    const off = sandbox.faults.add({ api: 'bot.info', do: { kind: 'status', status: 503 } })
    bot.start()
    await until(() => lines.some((line) => line.message === 'bot identity not known yet'), 'first failure')
    const webhook = must(bot.webhook, 'webhook')
    const push = (name: string) =>
      webhook(signedRequest(seal(JSON.stringify(sample(name)), sampleEncryptKey), sampleEncryptKey, Date.now()))
    expect((await push('group_text_mention')).status).toBe(200)
    expect((await push('p2p_text')).status).toBe(200)
    const verdicts = (events: readonly IncomingEvent[]) =>
      events.map((event) => (event.kind === 'message' ? event.turnAuthority.verdict : event.kind))
    expect(verdicts(taken)).toEqual(['unjudged', 'addressed'])
    off()
    await until(() => known.length === 1, 'identity known')
    const waiting = must(taken[0], 'event')
    if (waiting.kind !== 'message') throw new Error('a message was pushed')
    expect(bot.judge(waiting.message)).toMatchObject({
      message: { text: 'please summarise the thread for @Bob', mentionsSelf: true },
      turnAuthority: { verdict: 'addressed', because: 'mention' },
    })
    expect(bot.state().connection).toBeNull()
    expect(JSON.stringify(lines)).not.toContain(secret)
  })

  test('with an app id of another form it says so, whatever the platform answers; over a webhook it may have any', async () => {
    const { bot } = await open({ mode: 'websocket', lease }, 'cli_mine' as BotId)
    expect(bot.state().settingsError).toContain('16 hex digits')
    bot.start()
    await until(() => bot.state().identityError?.startsWith('no-token') === true, 'the platform to refuse it')
    expect(bot.state().settingsError).toContain('LARK_APP_ID')
    const webhook = { mode: 'webhook', encryptKey: sampleEncryptKey, verificationToken: sampleToken } as const
    expect((await open(webhook, 'cli_mine' as BotId)).bot.state().settingsError).toBeNull()
  })

  test('a history reads as events do: judged the same, in a direct chat without a mention', async () => {
    const { bot, sandbox, ids } = await open({ mode: 'websocket', lease })
    bot.start()
    await until(() => bot.state().identity !== null, 'identity')
    const { world } = sandbox
    const direct = world.say({ chatId: ids.dm, from: ids.alice, text: 'hello', silent: true })
    const named = world.say({ chatId: ids.group, from: ids.bob, text: 'and you?', mentionBot: true, silent: true })
    const read = async (chatId: string, chatType: 'p2p' | 'group') => {
      const place = { chatId, chatType, threadId: null }
      const [from, until_] = [direct.createTime - 1_000, named.createTime + 1_000] as Instant[]
      const page = await bot.channel.history({
        place,
        from: must(from, 'from'),
        until: must(until_, 'until'),
        page: null,
      })
      if (page.read !== 'page') throw new Error('not read')
      return page.messages
    }
    expect(await read(ids.dm, 'p2p')).toMatchObject([
      {
        message: { messageId: direct.id, text: 'hello', chatType: 'p2p', sender: { openId: ids.alice, type: 'user' } },
        turnAuthority: { verdict: 'addressed', because: 'direct-message' },
      },
    ])
    expect(await read(ids.group, 'group')).toMatchObject([
      {
        message: { messageId: named.id, text: 'and you?', mentionsSelf: true },
        turnAuthority: { verdict: 'addressed', because: 'mention' },
      },
    ])
  })
})
