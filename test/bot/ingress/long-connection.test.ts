import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createLongConnection,
  type ConnectionLease,
  type LongConnection,
  type Pace,
} from '../../../src/bot/ingress/long-connection.js'
import type { Receive } from '../../../src/bot/ingress/receive.js'
import { createLarkClient } from '../../../src/bot/lark-client.js'
import { sdkLogger } from '../../../src/bot/sdk-logger.js'
import type { BotId } from '../../../src/collab/refs.js'
import { silentLogger } from '../../../src/lib/log.js'
import type { ClientConfig } from '../../../src/sandbox/long-connection.js'
import { seedSandboxWorld } from '../../../src/sandbox/seed.js'
import { serveSandbox, type ServedSandbox } from '../../../src/sandbox/serve.js'
import { until } from '../../kit/until.js'
import { sample, sampleBot } from '../../replay/samples.js'
import { capturingLogger, noMeter, receiveWith, rememberingTake } from './given.js'

const secret = 'ws-secret-never-in-a-log'
const fast: Partial<Pace> = { renewMs: 20, leaseMs: 200, firstWaitMs: 10, longestWaitMs: 50, drainMs: 1_000 }
const free: ConnectionLease = { acquire: async () => true, renew: async () => true, release: async () => {} }

async function platform(client: Partial<ClientConfig> = {}): Promise<ServedSandbox> {
  let ids = 0
  const served = await serveSandbox({
    clock: { now: () => Date.parse('2026-09-21T14:00:00Z') },
    newId: () => `id-${++ids}`,
    app: { appId: sampleBot, appSecret: secret },
    events: { mode: 'websocket', client: { ReconnectNonce: 0, ReconnectInterval: 1, ...client } },
  })
  onTestFinished(() => served.close())
  return served
}

function connect(
  url: string,
  options: { receive?: Receive; lease?: ConnectionLease; pace?: Partial<Pace>; bot?: BotId; secret?: string } = {},
) {
  const { take, events } = rememberingTake()
  const { log, lines } = capturingLogger()
  let connections = 0
  const connection: LongConnection = createLongConnection({
    bot: options.bot ?? sampleBot,
    appSecret: options.secret ?? secret,
    baseUrl: url,
    receive: options.receive ?? receiveWith(take, log),
    lease: options.lease ?? free,
    log,
    clock: { now: () => performance.now() },
    random: () => 1,
    onConnected: () => void (connections += 1),
    pace: { ...fast, ...options.pace },
  })
  onTestFinished(() => connection.stop())
  return { connection, events, lines, connections: () => connections }
}

describe('long connection', () => {
  test('A7 an event is acked only after it is stored', async () => {
    const { url, sandbox } = await platform()
    let release = (): void => {}
    const stored = new Promise<void>((resolve) => (release = resolve))
    let came = false
    const { connection } = connect(url, {
      receive: async () => {
        came = true
        await stored
        return 'stored'
      },
    })
    connection.start()
    await until(() => connection.state().connected, 'connected')
    sandbox.world.pushEvent(sample('p2p_text'))
    await until(() => came, 'received')
    const acked = () => sandbox.pushes().some((push) => push.state === 'delivered')
    expect(acked()).toBe(false)
    release()
    await until(acked, 'acked')
    await until(() => connection.state().count === 1, 'counted')
  })

  test('a store that fails is not acked, so the platform keeps the event', async () => {
    const { url, sandbox } = await platform()
    const { connection } = connect(url, { receive: () => Promise.reject(new Error('no database')) })
    connection.start()
    await until(() => connection.state().connected, 'connected')
    sandbox.world.pushEvent(sample('p2p_text'))
    await until(() => sandbox.pushes()[0]?.lastFailure !== null, 'answered')
    expect(sandbox.pushes()[0]).toMatchObject({ state: 'waiting', lastFailure: 'refused' })
    expect(connection.state().count).toBe(0)
  })

  test('events of a type nobody knows are stored', async () => {
    const { url, sandbox } = await platform()
    const { connection, events } = connect(url)
    connection.start()
    await until(() => connection.state().connected, 'connected')
    const { header, ...rest } = sample('p2p_text')
    sandbox.world.pushEvent({ ...rest, header: { ...header, event_type: 'im.future.thing_v9', event_id: 'evt_new' } })
    sandbox.world.pushEvent(sample('card_action_trigger'))
    await until(() => events.length === 2, 'both stored')
    expect(events.map((event) => [event.kind, event.key])).toEqual([
      ['other', 'evt_new'],
      ['card-action', sample('card_action_trigger').header['event_id']],
    ])
    await sandbox.settled()
    expect(sandbox.pushes().map((push) => push.state)).toEqual(['delivered', 'delivered'])
  })

  test('a click is stored and answered with {}', async () => {
    const { url, sandbox } = await platform()
    const { alice, dm } = seedSandboxWorld(sandbox)
    const { connection, events } = connect(url)
    connection.start()
    await until(() => connection.state().connected, 'connected')
    const client = createLarkClient({
      bot: sampleBot,
      appSecret: secret,
      baseUrl: url,
      clock: { now: () => 0 },
      log: silentLogger,
      meter: noMeter,
    })
    const content = JSON.stringify({
      schema: '2.0',
      config: { update_multi: true },
      body: {
        elements: [
          {
            tag: 'button',
            name: 'ok',
            text: { tag: 'plain_text', content: 'OK' },
            behaviors: [{ type: 'callback', value: { action: 'run' } }],
          },
        ],
      },
    })
    const sent = await client.call({
      api: 'message.create',
      method: 'POST',
      path: '/open-apis/im/v1/messages',
      query: { receive_id_type: 'chat_id' },
      body: { receive_id: dm, msg_type: 'interactive', content },
    })
    expect(sent.code).toBe(0)
    const messageId = sandbox.world.messages(dm)[0]?.id ?? ''
    expect(await sandbox.world.click({ messageId, by: alice, value: { action: 'run' } })).toEqual({
      shown: 'answer',
      answer: {},
    })
    expect(events.find((event) => event.kind === 'card-action')).toMatchObject({
      openId: alice,
      messageId,
      chatId: dm,
      value: { action: 'run' },
    })
  })

  test('a dropped connection comes back, and says so', async () => {
    const { url, sandbox } = await platform()
    const { connection, connections } = connect(url)
    connection.start()
    await until(() => connection.state().connected, 'connected')
    sandbox.dropConnections()
    await until(() => connections() === 2 && sandbox.connections() === 1, 'connected again')
    expect(connection.state()).toMatchObject({ connected: true, lastError: null })
  })

  test("a first connection that fails is made again, without the SDK's long waits", async () => {
    const { url, sandbox } = await platform()
    const off = sandbox.faults.add({ api: 'ws.endpoint', do: { kind: 'status', status: 503 } })
    const { connection } = connect(url, { pace: { stuckMs: 100 } })
    connection.start()
    await until(() => connection.state().lastError === 'no connection for too long', 'given up and opened again')
    expect(connection.state().connected).toBe(false)
    off()
    await until(() => connection.state().connected, 'connected in the end')
  })

  test('an error that the SDK takes for final is tried again with longer waits; no secret is logged', async () => {
    const { url } = await platform()
    const { connection, lines } = connect(url, { secret: 'wrong-secret-never-in-a-log' })
    connection.start()
    const waits = () => lines.filter((line) => line.fields.ms !== undefined).map((line) => line.fields.ms)
    await until(() => waits().length >= 4, 'four failures')
    expect(waits().slice(0, 4)).toEqual([10, 20, 40, 50])
    expect(connection.state().lastError).toContain('514')
    expect(JSON.stringify(lines)).not.toContain('never-in-a-log')
  })

  test('one holder per app id; the second waits and takes over when the lease is free', async () => {
    const { url, sandbox } = await platform()
    let holder: string | null = null
    const leaseOf = (name: string): ConnectionLease => ({
      acquire: async () => (holder === null || holder === name ? ((holder = name), true) : false),
      renew: async () => holder === name,
      release: async () => void (holder = holder === name ? null : holder),
    })
    const first = connect(url, { lease: leaseOf('a') })
    const second = connect(url, { lease: leaseOf('b') })
    first.connection.start()
    await until(() => first.connection.state().connected, 'first connected')
    second.connection.start()
    await until(() => second.connection.state().lease === 'waiting', 'second waits')
    expect(sandbox.connections()).toBe(1)
    await first.connection.stop()
    await until(() => second.connection.state().connected, 'second took over')
    expect(sandbox.connections()).toBe(1)
    // Taken over while it lives: it lets go at its next renewal.
    holder = 'c'
    await until(() => !second.connection.state().connected, 'second let go')
    await until(() => sandbox.connections() === 0, 'line closed')
  })

  test('nobody else is said to hold the app id before the store has answered', async () => {
    const { url } = await platform()
    let answer: ((held: boolean) => void) | null = null
    const lease: ConnectionLease = {
      acquire: () => new Promise((resolve) => (answer = resolve)),
      renew: async () => true,
      release: async () => {},
    }
    const { connection } = connect(url, { lease, pace: { renewMs: 1_000 } })
    expect(connection.state().lease).toBe('starting')
    connection.start()
    await until(() => answer !== null, 'asked')
    expect(connection.state()).toMatchObject({ lease: 'starting', lastError: null })
    answer!(false)
    await until(() => connection.state().lease === 'waiting', 'told')
  })

  test('a lease that cannot be renewed is kept until it runs out', async () => {
    const { url } = await platform()
    let down = false
    const { connection } = connect(url, {
      lease: { ...free, renew: async () => (down ? Promise.reject(new Error('no database')) : true) },
      pace: { leaseMs: 300 },
    })
    connection.start()
    await until(() => connection.state().connected, 'connected')
    down = true
    await until(() => connection.state().lastError !== null, 'renewal failed')
    expect(connection.state().connected).toBe(true)
    await until(() => !connection.state().connected, 'let go when it ran out')
  })

  test('a stop waits for the event that is being stored, then closes the line', async () => {
    const { url, sandbox } = await platform()
    let finish = (): void => {}
    const stored = new Promise<void>((resolve) => (finish = resolve))
    let came = false
    const { connection } = connect(url, {
      receive: async () => {
        came = true
        await stored
        return 'stored'
      },
    })
    connection.start()
    await until(() => connection.state().connected, 'connected')
    sandbox.world.pushEvent(sample('p2p_text'))
    await until(() => came, 'received')
    const stopped = connection.stop()
    finish()
    await stopped
    await until(() => sandbox.connections() === 0, 'closed')
    expect(connection.state()).toMatchObject({ connected: false, count: 1 })
  })

  test('a line that answers no ping is given up and made anew; the new one hears', async () => {
    const { url, sandbox } = await platform({ PingInterval: 1 })
    const { connection, events, connections } = connect(url, { pace: { pingTimeoutMs: 1_000 } })
    connection.start()
    await until(() => connection.state().connected, 'connected')
    sandbox.deafenConnections('dead')
    await until(() => !connection.state().connected, 'found dead')
    await until(() => connections() === 2, 'connected again', 10_000)
    sandbox.world.pushEvent(sample('p2p_text'))
    await until(() => events.length === 1, 'an event')
  })

  test('a deaf line answers pings: it lives, and its last event does not move; reopening it helps', async () => {
    const { url, sandbox } = await platform({ PingInterval: 1 })
    const { connection, events, connections } = connect(url)
    connection.start()
    await until(() => connection.state().connected, 'connected')
    sandbox.world.pushEvent(sample('p2p_text'))
    await until(() => connection.state().count === 1, 'an event')
    sandbox.deafenConnections('deaf')
    sandbox.world.pushEvent(sample('image'))
    const before = connection.state()
    await until(() => (connection.state().aliveAt ?? 0) > (before.aliveAt ?? 0), 'a pong')
    expect(connection.state()).toMatchObject({ connected: true, lastEventAt: before.lastEventAt, count: 1 })
    connection.reopen('it brings nothing')
    await until(() => connections() === 2 && connection.state().connected, 'opened anew')
    await until(() => sandbox.connections() === 1, 'the old one closed')
    sandbox.world.pushEvent(sample('audio'))
    await until(() => events.length === 2, 'the next event')
  })

  test('reopening does nothing before the start and after the stop', async () => {
    const { url, sandbox } = await platform()
    const { connection, connections } = connect(url)
    connection.reopen('early')
    connection.start()
    await until(() => connection.state().connected, 'connected')
    await connection.stop()
    connection.reopen('late')
    await until(() => sandbox.connections() === 0, 'closed')
    expect(connections()).toBe(1)
  })

  test('an app id of another form is said, not silently ignored', () => {
    const { connection } = connect('http://127.0.0.1:9', { bot: 'cli_test_app' as BotId })
    connection.start()
    expect(connection.state().lastError).toContain('16 hex digits')
  })
})

test('what the SDK prints of events, addresses and errors stays out of the log', () => {
  const { log, lines } = capturingLogger()
  const logger = sdkLogger(log)
  logger.debug(['[ws]', 'receive message; data: {"text":"PRIVATE"}'])
  logger.info(['PRIVATE'])
  logger.error(['[ws]', 'failed wss://host/ws?ticket=PRIVATE now', new Error('PRIVATE'), { secret: 'PRIVATE' }])
  logger.warn('data: {"a":"PRIVATE"}')
  expect(lines.map((line) => line.fields.reason)).toEqual(['[ws] failed (address) now', 'data: (data)'])
})
