import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../src/lib/time.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { adminToken, bearer, publicUrl, webUnderTest, type WebUnderTest } from './kit.js'

let fresh: FreshDb
let ui: WebUnderTest
beforeAll(async () => {
  fresh = await freshDb()
  ui = webUnderTest(fresh.db)
})
afterAll(() => fresh.drop())

const cookieOf = (response: Response): string => (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
const form = { 'content-type': 'application/x-www-form-urlencoded', origin: publicUrl }

describe('sign-in codes', () => {
  test('a code opens one session and is used up', async () => {
    const code = await ui.newCode()
    const first = await ui.get(`/sign-in?code=${code}`)
    expect([first.status, first.headers.get('location')]).toEqual([303, '/'])
    expect(first.headers.get('set-cookie')).toMatch(/Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/)
    expect((await ui.get('/', { cookie: cookieOf(first) })).status).toBe(200)
    const again = await ui.get(`/sign-in?code=${code}`)
    expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null])
    expect(await again.text()).toContain('used already')
  })
  test('of ten at once exactly one is let in', async () => {
    const code = await ui.newCode()
    const all = await Promise.all(Array.from({ length: 10 }, () => ui.get(`/sign-in?code=${code}`)))
    expect(all.filter((response) => response.headers.has('set-cookie'))).toHaveLength(1)
  })
  test('a code ends after 15 minutes', async () => {
    const code = await ui.newCode()
    ui.now += 15 * MINUTE
    expect((await ui.get(`/sign-in?code=${code}`)).status).toBe(401)
  })
  test('looking ahead does not use it up', async () => {
    const code = await ui.newCode()
    await ui.web.fetch(new Request(`${publicUrl}/sign-in?code=${code}`, { method: 'HEAD' }))
    await ui.get(`/sign-in?code=${code}`, { 'sec-purpose': 'prefetch' })
    expect((await ui.get(`/sign-in?code=${code}`)).status).toBe(303)
  })
  test('the database holds neither code nor cookie', async () => {
    const code = await ui.newCode()
    const secret = cookieOf(await ui.get(`/sign-in?code=${code}`)).split('=')[1] ?? ''
    expect(secret.length).toBeGreaterThan(40)
    const rows = await fresh.db.sql`select s::text || c::text as row from collab.web_sessions s, collab.sign_in_codes c`
    for (const row of rows) expect(String(row['row'])).not.toMatch(new RegExp(`${code}|${secret}`))
  })
})

describe('the admin token', () => {
  test('signs a browser in, and leads on to where it was going', async () => {
    const body = new URLSearchParams({ token: adminToken, next: '/requests/abc?x=1' }).toString()
    const response = await ui.post('/sign-in', { headers: form, body })
    expect([response.status, response.headers.get('location')]).toEqual([303, '/requests/abc?x=1'])
    expect((await ui.get('/', { cookie: cookieOf(response) })).status).toBe(200)
  })
  test('a wrong one does not', async () => {
    const response = await ui.post('/sign-in', { headers: form, body: 'token=guess' })
    expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null])
  })
  test('more than a form is refused unread', async () => {
    const response = await ui.post('/sign-in', { headers: form, body: `token=${'x'.repeat(20_000)}` })
    expect([response.status, response.headers.get('set-cookie')]).toEqual([413, null])
  })
  test('another site cannot sign a browser in', async () => {
    const headers = { ...form, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const response = await ui.post('/sign-in', { headers, body: `token=${adminToken}` })
    expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null])
  })
  test.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/sign-in?code=1', '/a\nb'])(
    'never leads away: %j',
    async (next) => {
      const body = new URLSearchParams({ token: adminToken, next }).toString()
      expect((await ui.post('/sign-in', { headers: form, body })).headers.get('location')).toBe('/')
    },
  )
})

describe('sessions', () => {
  test('end by signing out, which needs the page’s own form', async () => {
    const { cookie, csrf } = await ui.browser()
    expect((await ui.post('/sign-out', { headers: { ...form, cookie }, body: 'csrf=no' })).status).toBe(403)
    expect((await ui.get('/', { cookie })).status).toBe(200)
    const out = await ui.post('/sign-out', { headers: { ...form, cookie }, body: `csrf=${csrf}` })
    expect(out.status).toBe(303)
    expect((await ui.get('/', { cookie })).headers.get('location')).toBe('/sign-in')
  })
  test('end by time', async () => {
    const { cookie } = await ui.browser()
    ui.now += 14 * DAY
    expect((await ui.get('/', { cookie })).status).toBe(302)
  })
  test('a forged cookie opens nothing', async () => {
    expect((await ui.get('/', { cookie: 'lark_manager_3000=forged' })).status).toBe(302)
  })
  test('a wrong bearer is not rescued by a cookie', async () => {
    const { cookie } = await ui.browser()
    expect((await ui.get('/api/v1/requests', { cookie, authorization: 'Bearer wrong' })).status).toBe(401)
  })
  test('over TLS the cookie is Secure', async () => {
    const tls = webUnderTest(fresh.db, { secureCookies: true, publicUrl: 'https://gw.example' })
    const response = await tls.get(`/sign-in?code=${await tls.newCode()}`)
    expect(response.headers.get('set-cookie')).toContain('; Secure')
  })
})

describe('without a session', () => {
  test.each([
    ['/', 302],
    ['/requests/x', 302],
    ['/nowhere', 302],
    ['/api/v1/requests', 401],
    ['/api/v1/nothing', 401],
    ['/api/v1/openapi.json', 401],
    ['/api/v1/doctor', 401],
    ['/metrics', 401],
    ['/queues', 401],
    ['/queues/api/queues', 401],
    ['/queues/static/anything.js', 401],
    ['/healthz', 200],
    ['/readyz', 200],
    ['/sign-in', 200],
    ['/assets/style.css', 200],
    ['/assets/nothing', 302],
  ])('%s answers %d', async (path, status) => {
    expect((await ui.get(path)).status).toBe(status)
  })
  test('401s say the same whatever is behind them', async () => {
    const bodies = await Promise.all(
      ['/api/v1/requests/exists', '/api/v1/deliveries/x', '/queues/api/queues', '/metrics'].map(async (path) =>
        (await ui.get(path)).text(),
      ),
    )
    expect(new Set(bodies).size).toBe(1)
    expect(bodies[0]).not.toMatch(/request|delivery|upkeep/)
  })
  test('the way back is kept', async () => {
    expect((await ui.get('/requests/x?a=1')).headers.get('location')).toBe('/sign-in?next=%2Frequests%2Fx%3Fa%3D1')
  })
})

describe('cookies on writes', () => {
  const path = '/api/v1/deliveries/nothing/retry'
  test.each([
    ['no token', {}],
    ['another token', { 'x-csrf-token': 'guess' }],
  ])('refused with %s', async (_name, extra) => {
    const { cookie } = await ui.browser()
    const response = await ui.post(path, { headers: { cookie, ...extra } })
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([403, 'csrf-missing'])
  })
  test('let through with the page’s token, and with a bearer', async () => {
    const { cookie, csrf } = await ui.browser()
    const key = { 'idempotency-key': 'any' }
    expect((await ui.post(path, { headers: { cookie, 'x-csrf-token': csrf, ...key } })).status).toBe(404)
    expect((await ui.post(path, { headers: { ...bearer, ...key } })).status).toBe(404)
  })
})

describe('health', () => {
  test('ready names each part, and is 503 only for one that is needed', async () => {
    const parts = [
      { name: 'database', ok: true, needed: true, detail: '' },
      { name: 'runtime', ok: false, needed: false, detail: 'codex is not installed' },
    ] as const
    const soft = webUnderTest(fresh.db, { readiness: async () => parts })
    const ready = await soft.get('/readyz')
    expect([ready.status, await ready.text()]).toEqual([200, 'database: ok\nruntime: off (codex is not installed)\n'])
    const down = webUnderTest(fresh.db, { readiness: async () => parts.map((part) => ({ ...part, needed: true })) })
    expect((await down.get('/readyz')).status).toBe(503)
    const json = await down.get('/readyz', { accept: 'application/json' })
    expect(await json.json()).toMatchObject({ ready: false, parts: [{ ok: true }, { ok: false }] })
  })
  test('metrics are Prometheus text for a bearer', async () => {
    const response = await ui.get('/metrics', bearer)
    expect([response.status, await response.text()]).toEqual([200, 'queue_jobs 0\n'])
    expect(response.headers.get('content-type')).toContain('text/plain')
  })
  test('events of Lark have a calm answer when they come over the long connection', async () => {
    const response = await ui.post('/lark/events', { headers: { 'accept-language': 'zh-CN,zh;q=0.9' } })
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toContain('application/problem+json')
    expect(await response.json()).toMatchObject({ code: 'not-webhook-mode', status: 404, title: /长连接/ })
  })
  test('in webhook mode they reach the bot untouched', async () => {
    const seen: string[] = []
    const hooked = webUnderTest(fresh.db, {
      larkEvents: async (request) => {
        seen.push(await request.text())
        return Response.json({ challenge: 'x' })
      },
    })
    expect((await hooked.post('/lark/events', { body: '{"a": 1}' })).status).toBe(200)
    expect(seen).toEqual(['{"a": 1}'])
  })
})
