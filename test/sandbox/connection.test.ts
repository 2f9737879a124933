import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { decodeFrame, encodeFrame, type Frame } from '../../src/sandbox/frame.js'
import { APP_ID, APP_SECRET, openSandbox, sdkConnection, until } from './kit.js'

const discover = async (url: string, secret = APP_SECRET) =>
  (await (
    await fetch(`${url}/callback/ws/endpoint`, {
      method: 'POST',
      body: JSON.stringify({ AppID: APP_ID, AppSecret: secret }),
    })
  ).json()) as { code: number; data: { URL: string; ClientConfig: object } }

/** A client that speaks the protocol by hand. */
const connect = async (address: string) => {
  const socket = new WebSocket(address)
  const frames: Frame[] = []
  socket.on('message', (data: Buffer) => {
    const frame = decodeFrame(data)
    if (frame !== null) frames.push(frame)
  })
  onTestFinished(() => socket.terminate())
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const ack = (frame: Frame | undefined, code: number) => {
    if (frame === undefined) throw new Error('no frame to acknowledge')
    const payload = new TextEncoder().encode(JSON.stringify({ code }))
    socket.send(encodeFrame({ ...frame, headers: { ...frame.headers, biz_rt: '1' }, payload }))
  }
  return { socket, frames, ack }
}

describe('the long connection by hand', () => {
  test('a ping is answered with the configuration', async () => {
    const { url } = await openSandbox({ events: { mode: 'websocket', client: { PingInterval: 7 } } })
    const { socket, frames } = await connect((await discover(url)).data.URL)
    socket.send(encodeFrame({ seqId: 0, service: 1, method: 0, headers: { type: 'ping' }, payload: new Uint8Array() }))
    await until(() => frames.length > 0, 'the pong arrives')
    expect(frames[0]).toMatchObject({ method: 0, headers: { type: 'pong' } })
    expect(JSON.parse(Buffer.from(frames[0]?.payload ?? []).toString())).toEqual({
      PingInterval: 7,
      ReconnectCount: -1,
      ReconnectInterval: 120,
      ReconnectNonce: 30,
    })
  })

  test('the trace id is the event id, and one ack settles all fragments', async () => {
    const { url, sandbox, ids } = await openSandbox({ events: { mode: 'websocket', fragmentBytes: 200 } })
    const { frames, ack } = await connect((await discover(url)).data.URL)
    sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'hi' })
    await until(() => frames.length > 0 && frames.length === Number(frames[0]?.headers['sum']), 'all parts arrive')
    expect(frames.length).toBeGreaterThan(1)
    expect(frames.map(({ headers }) => headers['seq'])).toEqual(frames.map((_, at) => String(at)))
    const event = JSON.parse(Buffer.concat(frames.map(({ payload }) => payload)).toString()) as {
      header: { event_id: string }
    }
    expect(frames[0]?.headers['trace_id']).toBe(event.header.event_id)
    expect(sandbox.pushes()).toMatchObject([{ state: 'pushing' }])
    ack(frames.at(-1), 200)
    await sandbox.settled()
    expect(sandbox.pushes()).toMatchObject([{ state: 'delivered', eventId: event.header.event_id }])
  })

  test('no ack within three seconds, or a lost line, means another push', async () => {
    const { url, sandbox, ids, time } = await openSandbox()
    const { socket, frames } = await connect((await discover(url)).data.URL)
    sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'hi' })
    await until(() => frames.length === 1, 'the event arrives')
    time.advance(3_000)
    await sandbox.settled()
    expect(sandbox.pushes()).toMatchObject([{ state: 'waiting', lastFailure: 'timeout' }])
    time.advance(15_000)
    await until(() => frames.length === 2, 'the event comes again')
    socket.close()
    await sandbox.settled()
    expect(sandbox.pushes()).toMatchObject([{ state: 'waiting', lastFailure: 'connection-lost', attempts: 2 }])
  })

  test('an address works once, and fifty connections are the most', async () => {
    const { url, sandbox } = await openSandbox()
    const { URL: address } = (await discover(url)).data
    await connect(address)
    await expect(connect(address)).rejects.toThrow('401')
    for (let n = 1; n < 50; n += 1) await connect((await discover(url)).data.URL)
    expect(sandbox.connections()).toBe(50)
    expect(await discover(url)).toMatchObject({ code: 1000040350, data: {} })
  })

  test('what is no frame is ignored', async () => {
    const { url, sandbox } = await openSandbox()
    const { socket } = await connect((await discover(url)).data.URL)
    socket.send(Buffer.from([255, 255, 255]))
    socket.send('text')
    socket.send(encodeFrame({ seqId: 1, service: 1, method: 1, headers: {}, payload: new Uint8Array() }))
    expect((await discover(url)).code).toBe(0)
    expect(sandbox.connections()).toBe(1)
  })
})

describe('what the platform may do to the real SDK', () => {
  test('a dropped connection is made anew and hears the next event', async () => {
    const client = { ReconnectNonce: 0.01, ReconnectInterval: 0.05 }
    const { url, sandbox, ids } = await openSandbox({ events: { mode: 'websocket', client } })
    const seen: unknown[] = []
    const sdk = await sdkConnection(url, { 'im.message.receive_v1': (data) => void seen.push(data) })
    sandbox.dropConnections()
    await until(() => sandbox.connections() === 0, 'the line is down')
    // What is pushed before the client listens is lost on it, so both sides must say that the line is up.
    await until(
      () => sandbox.connections() === 1 && sdk.getConnectionStatus().state === 'connected',
      'the line is up again',
    )
    sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'hi' })
    await sandbox.settled()
    expect(seen).toHaveLength(1)
  })

  test('"system busy" is final for the SDK, an internal error is tried again', async () => {
    const client = { ReconnectNonce: 0.01, ReconnectInterval: 0.05 }
    const { url, sandbox } = await openSandbox({ events: { mode: 'websocket', client } })
    const remove = sandbox.faults.add({ api: 'ws.endpoint', do: { kind: 'code', code: 1 } })
    await expect(sdkConnection(url, {})).rejects.toThrow('system busy')
    remove()
    await sdkConnection(url, {})
    expect(sandbox.connections()).toBe(1)
  })

  test('a lost acknowledgement brings the same event again', async () => {
    const { url, sandbox, ids, time } = await openSandbox()
    const seen: unknown[] = []
    await sdkConnection(url, { 'im.message.receive_v1': (data) => void seen.push(data['event_id']) })
    sandbox.faults.loseAcks(1)
    sandbox.world.say({ chatId: ids.dm, from: ids.alice, text: 'hi' })
    await sandbox.settled()
    time.advance(15_000)
    await sandbox.settled()
    expect(seen).toHaveLength(2)
    expect(seen[0]).toBe(seen[1])
    expect(sandbox.pushes()).toMatchObject([{ state: 'delivered', attempts: 2 }])
  })

  test('the same message may come again under a new event id', async () => {
    const { url, sandbox, ids } = await openSandbox()
    const seen: { event: unknown; message: unknown }[] = []
    await sdkConnection(url, {
      'im.message.receive_v1': (data) =>
        void seen.push({ event: data['event_id'], message: (data['message'] as { message_id: string }).message_id }),
    })
    const said = sandbox.world.say({ chatId: ids.group, from: ids.alice, text: 'hi', mentionBot: true })
    sandbox.world.pushAgain(said.id)
    await sandbox.settled()
    expect(seen.map(({ message }) => message)).toEqual([said.id, said.id])
    expect(new Set(seen.map(({ event }) => event)).size).toBe(2)
  })

  test('discovery is refused to an app whose events go to a webhook', async () => {
    const { url } = await openSandbox({ events: { mode: 'webhook', url: 'http://receiver.invalid' } })
    expect(await discover(url)).toMatchObject({ code: 403, data: {} })
  })
})
