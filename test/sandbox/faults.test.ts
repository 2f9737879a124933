import { describe, expect, test } from 'vitest'
import { createRates } from '../../src/sandbox/rates.js'
import { createSandbox } from '../../src/sandbox/sandbox.js'
import { APP_ID, APP_SECRET, caller, handTime, openSandbox, sdkClient, textOf, until } from './kit.js'

const open = async () => {
  const kit = await openSandbox()
  const call = await caller(kit.url)
  const sendText = (text: string, uuid?: string) =>
    call('POST', '/im/v1/messages?receive_id_type=chat_id', {
      receive_id: kit.ids.group,
      msg_type: 'text',
      content: textOf(text),
      ...(uuid === undefined ? {} : { uuid }),
    })
  const stored = () => kit.sandbox.world.messages(kit.ids.group)
  return { ...kit, call, sendText, stored }
}

describe('fault scripts', () => {
  test('accept-then-reset stores the message and destroys the connection; the same uuid finds it', async () => {
    const { sandbox, sendText, stored } = await open()
    sandbox.faults.add({ api: 'message.create', do: { kind: 'accept-then-reset' }, times: 1 })
    await expect(sendText('once', 'u-1')).rejects.toMatchObject({ cause: { code: 'UND_ERR_SOCKET' } })
    expect(stored()).toHaveLength(1)
    const again = await sendText('once', 'u-1')
    expect(again.data['message_id']).toBe(stored()[0]?.id)
    expect(stored()).toHaveLength(1)
  })

  test('reset-before destroys the connection and nothing is stored', async () => {
    const { sandbox, sendText, stored } = await open()
    sandbox.faults.add({ api: 'message.create', do: { kind: 'reset-before' }, times: 1 })
    await expect(sendText('x')).rejects.toThrow('fetch failed')
    expect(stored()).toEqual([])
    expect((await sendText('x')).code).toBe(0)
  })

  test('the real SDK client sees the reset as a lost connection', async () => {
    const { url, ids, sandbox, stored } = await open()
    sandbox.faults.add({ api: 'message.create', do: { kind: 'accept-then-reset' } })
    const sent = sdkClient(url).im.message.create({
      params: { receive_id_type: 'chat_id' },
      data: { receive_id: ids.group, msg_type: 'text', content: textOf('x') },
    })
    await expect(sent).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(stored()).toHaveLength(1)
  })

  test('without a server to destroy the socket a cut call rejects', async () => {
    const time = handTime()
    let count = 0
    const sandbox = createSandbox({
      clock: time.clock,
      newId: () => `n${++count}`,
      app: { appId: APP_ID, appSecret: APP_SECRET },
      events: { mode: 'websocket' },
    })
    sandbox.faults.add({ api: 'token', do: { kind: 'reset-before' } })
    const url = 'http://sandbox.invalid/open-apis/auth/v3/tenant_access_token/internal'
    const cut = sandbox.handle(new Request(url, { method: 'POST' }))
    await expect(cut).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNRESET' } })
    await sandbox.close()
  })

  test('a rate limit carries the wait in its header', async () => {
    const { sandbox, sendText } = await open()
    sandbox.faults.add({ api: 'any', do: { kind: 'rate-limit', resetSeconds: 7 }, times: 1 })
    const limited = await sendText('x')
    expect(limited).toMatchObject({ status: 429, code: 99991400 })
    expect(limited.headers.get('x-ogw-ratelimit-reset')).toBe('7')
    expect((await sendText('x')).code).toBe(0)
  })

  test('a rate limit may come without its header, and a code with its effect', async () => {
    const { sandbox, sendText, stored } = await open()
    sandbox.faults.add({ api: 'any', do: { kind: 'rate-limit', resetSeconds: null }, times: 1 })
    const limited = await sendText('x')
    expect(limited).toMatchObject({ status: 429, code: 99991400 })
    expect(limited.headers.get('x-ogw-ratelimit-reset')).toBeNull()
    sandbox.faults.add({ api: 'message.create', do: { kind: 'code', code: 2200, stored: true }, times: 1 })
    expect((await sendText('x', 'u-1')).code).toBe(2200)
    expect(stored()).toHaveLength(1)
    expect((await sendText('x', 'u-1')).data['message_id']).toBe(stored()[0]?.id)
  })

  test('a call whose connection is cut on its way may arrive later', async () => {
    const { sandbox, sendText, stored, time } = await open()
    sandbox.faults.add({ api: 'message.create', do: { kind: 'arrive-late', ms: 40_000 }, times: 1 })
    await expect(sendText('x', 'u-1')).rejects.toThrow('fetch failed')
    time.advance(39_999)
    expect(stored()).toEqual([])
    time.advance(1)
    expect(stored()).toHaveLength(1)
    expect((await sendText('x', 'u-1')).data['message_id']).toBe(stored()[0]?.id)
    expect(stored()).toHaveLength(1)
  })

  test('a 5xx may come before or after the message was stored', async () => {
    const { url, sandbox, ids, stored } = await open()
    const post = (stored: boolean) => {
      sandbox.faults.add({ api: 'message.create', do: { kind: 'status', status: 504, stored }, times: 1 })
      return sdkClient(url).im.message.create({
        params: { receive_id_type: 'chat_id' },
        data: { receive_id: ids.group, msg_type: 'text', content: textOf('x') },
      })
    }
    await expect(post(false)).rejects.toMatchObject({ response: { status: 504 } })
    expect(stored()).toHaveLength(0)
    await expect(post(true)).rejects.toMatchObject({ response: { status: 504 } })
    expect(stored()).toHaveLength(1)
  })

  test('a hanging call is given up by its caller, and its uuid is free again', async () => {
    const { url, sandbox, ids, stored, sendText } = await open()
    sandbox.faults.add({ api: 'message.create', do: { kind: 'hang' }, times: 1 })
    const token = await fetch(`${url}/open-apis/auth/v3/tenant_access_token/internal`, {
      method: 'POST',
      body: JSON.stringify({ app_id: APP_ID, app_secret: APP_SECRET }),
    })
    const { tenant_access_token: bearer } = (await token.json()) as { tenant_access_token: string }
    const abort = new AbortController()
    const hanging = fetch(`${url}/open-apis/im/v1/messages?receive_id_type=chat_id`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}` },
      body: JSON.stringify({ receive_id: ids.group, msg_type: 'text', content: textOf('x'), uuid: 'u-1' }),
      signal: abort.signal,
    })
    await until(() => sandbox.stats().calls['message.create']?.[-1] === 1, 'the call hangs')
    abort.abort()
    await expect(hanging).rejects.toThrow()
    expect(stored()).toEqual([])
    expect((await sendText('x', 'u-1')).code).toBe(0)
  })

  test('a code strikes where the script says: the nth call, every nth, one chat, one text', async () => {
    const { sandbox, sendText } = await open()
    const strike = { kind: 'code', code: 230028, msg: 'audit' } as const
    const codes = async (texts: readonly string[]): Promise<number[]> => {
      const seen: number[] = []
      for (const text of texts) seen.push((await sendText(text)).code)
      return seen
    }
    const remove = sandbox.faults.add({ api: 'message.create', when: { nth: 2 }, do: strike })
    expect(await codes(['a', 'b', 'c'])).toEqual([0, 230028, 0])
    remove()
    sandbox.faults.add({ api: 'message.create', when: { contains: 'bad' }, do: strike })
    sandbox.faults.add({ api: 'message.create', when: { chatId: 'oc_other' }, do: strike })
    expect(await codes(['good', 'bad'])).toEqual([0, 230028])
    sandbox.faults.clear()
    sandbox.faults.add({ api: 'any', when: { every: 2 }, do: strike })
    expect(await codes(['bad', 'bad', 'bad', 'bad'])).toEqual([0, 230028, 0, 230028])
  })

  test('latency waits on the sandbox timers', async () => {
    const { sandbox, sendText, stored, time } = await open()
    sandbox.faults.latency(250)
    const sent = sendText('x')
    await until(() => time.waiting() > 0, 'the call waits')
    time.advance(249)
    expect(stored()).toEqual([])
    time.advance(1)
    expect((await sent).code).toBe(0)
    expect(stored()).toHaveLength(1)
  })
})

describe('tokens', () => {
  test('an expired or revoked token answers 99991663, a missing one 99991661', async () => {
    const { url, sandbox, call, time, ids } = await open()
    const path = `/im/v1/chats/${ids.group}`
    expect((await call('GET', path)).code).toBe(0)
    sandbox.faults.expireToken()
    expect(await call('GET', path)).toMatchObject({ status: 400, code: 99991663 })
    const later = await caller(url)
    expect((await later('GET', path)).code).toBe(0)
    time.advance(7_200_000)
    expect((await later('GET', path)).code).toBe(99991663)
    const bare = await fetch(`${url}/open-apis${path}`)
    expect(await bare.json()).toMatchObject({ code: 99991661 })
  })

  test('the same token is given until less than half an hour remains', async () => {
    const { url, time } = await open()
    const ask = async () =>
      (await (
        await fetch(`${url}/open-apis/auth/v3/tenant_access_token/internal`, {
          method: 'POST',
          body: JSON.stringify({ app_id: APP_ID, app_secret: APP_SECRET }),
        })
      ).json()) as { tenant_access_token: string; expire: number }
    const first = await ask()
    expect(first.expire).toBe(7_200)
    time.advance(5_400_000)
    expect(await ask()).toMatchObject({ tenant_access_token: first.tenant_access_token, expire: 1_800 })
    time.advance(1_000)
    expect((await ask()).tenant_access_token).not.toBe(first.tenant_access_token)
  })

  test('the SDK names the code of a wrong secret', async () => {
    const { url } = await open()
    const response = await fetch(`${url}/open-apis/auth/v3/tenant_access_token/internal`, {
      method: 'POST',
      body: JSON.stringify({ app_id: APP_ID, app_secret: 'wrong' }),
    })
    expect(await response.json()).toMatchObject({ code: 99991543 })
  })
})

describe('rates', () => {
  test('five a second to one chat, counted apart from another chat', async () => {
    const { call, sendText, time, ids } = await open()
    for (let n = 0; n < 5; n += 1) expect((await sendText(`m${n}`)).code).toBe(0)
    expect(await sendText('m5')).toMatchObject({ status: 400, code: 230020 })
    const direct = { receive_id: ids.alice, msg_type: 'text', content: textOf('x') }
    expect((await call('POST', '/im/v1/messages?receive_id_type=open_id', direct)).code).toBe(0)
    time.advance(1_000)
    expect((await sendText('m6')).code).toBe(0)
  })

  test('fifty a second per API, told with the wait', async () => {
    const { call, ids } = await open()
    const path = `/im/v1/chats/${ids.group}`
    const burst = await Promise.all(Array.from({ length: 51 }, () => call('GET', path)))
    expect(burst.filter(({ code }) => code === 0)).toHaveLength(50)
    const limited = burst.find(({ code }) => code !== 0)
    expect(limited).toMatchObject({ status: 429, code: 99991400 })
    expect(limited?.headers.get('x-ogw-ratelimit-limit')).toBe('50')
    expect(limited?.headers.get('x-ogw-ratelimit-reset')).toBe('1')
    expect((await call('GET', '/im/v1/chats')).code).toBe(0)
  })

  test('a thousand a minute per API, told with the wait until the oldest leaves', () => {
    const time = handTime()
    const rates = createRates(time.clock)
    for (let second = 0; second < 20; second += 1) {
      for (let n = 0; n < 50; n += 1) expect(rates.api('chat.get')).toBeNull()
      time.advance(1_000)
    }
    expect(rates.api('chat.get')).toEqual({ limit: 1_000, resetSeconds: 40 })
    time.advance(40_000)
    expect(rates.api('chat.get')).toBeNull()
  })
})
