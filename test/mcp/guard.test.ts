import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CallerRefusal } from '../../src/exchange/tokens.js'
import type { LogFields } from '../../src/lib/log.js'
import { caller, servedDoor, type ServedDoor } from './kit.js'

let door: ServedDoor
const logged: [string, LogFields | undefined][] = []
const refusals: Readonly<Record<string, CallerRefusal>> = {
  revoked: 'revoked',
  stale: 'stale-epoch',
  expired: 'expired',
}
beforeAll(async () => {
  const keep = (message: string, fields?: LogFields) => void logged.push([message, fields])
  door = await servedDoor({
    caller: async (bearer) => (bearer === 'good' ? caller : { refused: refusals[bearer] ?? 'unknown' }),
    log: { debug: keep, info: keep, warn: keep, error: keep },
  })
})
afterAll(() => door.close())

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const doors = [
  ['/mcp', list],
  ['/api/v1/agent/inbox_read', {}],
] as const

describe.each(doors)('who may call %s', (path, body) => {
  test.each([
    ['no bearer', '', 'unauthorized'],
    ['another scheme', 'Basic Z29vZA==', 'unauthorized'],
    ['an empty bearer', 'Bearer ', 'unauthorized'],
    ['two words', 'Bearer good good', 'unauthorized'],
    ['a wrong token', 'Bearer guess-canary', 'unauthorized'],
    ['a very long token', `Bearer ${'x'.repeat(5000)}`, 'unauthorized'],
    ['a revoked token', 'Bearer revoked', 'unauthorized'],
    ['an expired token', 'Bearer expired', 'expired: ask the operator for a new token'],
    ['a token of an older epoch', 'Bearer stale', 'stale-epoch: this session was replaced'],
  ])('%s is turned away', async (_, authorization, error) => {
    const response = await door.post(path, body, { authorization })
    expect(response.status).toBe(401)
    expect(await response.json()).toEqual(
      path === '/mcp' ? { error } : (expect.objectContaining({ error, title: error, code: 'not-signed-in' }) as object),
    )
    expect(response.headers.get('www-authenticate')).toContain('Bearer')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('the right token is answered', async () => {
    expect((await door.post(path, body)).status).toBe(200)
    expect((await door.post(path, body, { authorization: 'bearer  good ' })).status).toBe(200)
  })

  test('no token stands in a log', async () => {
    await door.post(path, body, { authorization: 'Bearer guess-canary' })
    expect(logged.length).toBeGreaterThan(0)
    expect(JSON.stringify(logged)).not.toMatch(/canary|good/)
  })

  test('a page of another site cannot call, a page of ours could', async () => {
    for (const origin of ['http://evil.example', 'null', door.url.replace('127.0.0.1', 'localhost'), `${door.url}0`]) {
      expect((await door.post(path, body, { origin })).status).toBe(403)
    }
    expect((await door.post(path, body, { origin: door.url })).status).toBe(200)
  })

  test('only POST does anything', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await fetch(door.url + path, { method, headers: { authorization: 'Bearer good' } })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    }
    const stranger = await fetch(door.url + path)
    expect(stranger.status).toBe(401)
  })

  test('a body over 1 MiB is refused, declared or not', async () => {
    const big = JSON.stringify({ ...body, pad: 'x'.repeat(1024 * 1024) })
    const declared = await door.post(path, big)
    expect(declared.status).toBe(413)
    const chunks = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('x'.repeat(64 * 1024)))
      },
    })
    const endless = await fetch(door.url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer good', 'content-type': 'application/json', accept: 'application/json' },
      body: chunks,
      duplex: 'half',
    } as RequestInit).then(
      ({ status }) => status,
      // The connection may be cut while the body still comes.
      () => 413,
    )
    expect(endless).toBe(413)
  })

  test('what is not JSON is a malformed call', async () => {
    for (const text of ['{', 'inbox please', '\u0000', '[1,']) {
      expect((await door.post(path, text)).status).toBe(400)
    }
    expect((await door.post(path, list)).status).toBe(path === '/mcp' ? 200 : 400)
  })
})

test('a declared length that is a lie takes nothing with it', async () => {
  const { hostname, port } = new URL(door.url)
  const status = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST /mcp HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer good\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n{`,
      )
    })
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString('latin1').split('\r\n')[0] ?? '')
    })
    socket.once('error', reject)
  })
  expect(status).toContain('413')
  expect((await door.post('/mcp', list)).status).toBe(200)
})
