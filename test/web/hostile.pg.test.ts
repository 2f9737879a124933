import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bearer, webUnderTest, type WebUnderTest } from './kit.js'
import { ask } from './seed.js'

let fresh: FreshDb
let ui: WebUnderTest
beforeAll(async () => {
  fresh = await freshDb()
  ui = webUnderTest(fresh.db)
})
afterAll(() => fresh.drop())

const nul = String.fromCharCode(0)
const half = String.fromCharCode(0xd800)
const keyed = { ...bearer, 'idempotency-key': 'k', 'if-match': '"1"' }

describe('text that cannot be kept', () => {
  test.each([
    ['/api/v1/requests/%00', 404, 'request-unknown'],
    ['/api/v1/deliveries/%00', 404, 'delivery-unknown'],
    ['/api/v1/goals/%00/todos', 404, 'goal-unknown'],
    ['/api/v1/requests?conversation=%00', 400, 'bad-request'],
    ['/api/v1/requests?agent=%00', 400, 'bad-request'],
    ['/api/v1/requests?state=%00', 400, 'bad-request'],
    ['/api/v1/requests?cursor=%00', 400, 'bad-request'],
    ['/api/v1/deliveries?cursor=%00', 400, 'bad-request'],
  ])('GET %s is %d %s', async (path, status, code) => {
    const response = await ui.get(path, bearer)
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code])
  })

  test.each(['/requests/%00', '/requests/a%00b', '/requests/%00/files/x', '/?conversation=%00'])(
    'the page %s is nobody’s',
    async (path) => {
      const { cookie } = await ui.browser()
      const response = await ui.get(path, { cookie })
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=UTF-8'])
    },
  )

  test('a form sent to such an id finds nothing', async () => {
    const { cookie, csrf } = await ui.browser()
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
    const body = `kind=cancellation&key=k&revision=1&csrf=${csrf}&request=x`
    expect((await ui.post('/requests/%00/revisions', { headers, body })).status).toBe(404)
    const retried = await ui.post('/deliveries/%00/retry', { headers, body })
    expect(retried.headers.get('location')).toBe('/requests/x?said=delivery-unknown')
  })

  test.each([
    ['/api/v1/requests/%00/revisions', '{"kind":"cancellation"}', 'request-unknown'],
    ['/api/v1/deliveries/%00/retry', '{}', 'delivery-unknown'],
    ['/api/v1/goals/%00/stop', '', 'goal-unknown'],
    ['/api/v1/agents/%00/tokens', '{}', 'agent-unknown'],
  ])('POST %s is 404', async (path, body, code) => {
    const response = await ui.post(path, { headers: keyed, body })
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([404, code])
  })

  test.each([
    ['NUL', nul],
    ['half a pair', half],
    ['the other half', String.fromCharCode(0xdc00)],
  ])('a correction and a goal with %s are malformed, and nothing changes', async (_name, bad) => {
    const id = await ask(ui.deps.exchange, { text: 'write it', at: ui.now })
    const body = JSON.stringify({ kind: 'correction', text: `in${bad}French` })
    const corrected = await ui.post(`/api/v1/requests/${id}/revisions`, { headers: keyed, body })
    expect([corrected.status, await corrected.json()]).toMatchObject([400, { code: 'bad-request', where: 'text' }])
    const view = (await (await ui.get(`/api/v1/requests/${id}`, bearer)).json()) as { revision: number }
    expect(view.revision).toBe(1)
    const goal = JSON.stringify({ title: `a${bad}` })
    expect((await ui.post('/api/v1/goals', { headers: keyed, body: goal })).status).toBe(400)
  })

  test('a whole pair is kept as it is', async () => {
    const id = await ask(ui.deps.exchange, { text: 'write it', at: ui.now })
    const body = JSON.stringify({ kind: 'correction', text: 'with 👍' })
    expect((await ui.post(`/api/v1/requests/${id}/revisions`, { headers: keyed, body })).status).toBe(200)
    expect(await (await ui.get(`/api/v1/requests/${id}`, bearer)).text()).toContain('with 👍')
  })

  test('a form with NUL in its words is malformed', async () => {
    const id = await ask(ui.deps.exchange, { text: 'write it', at: ui.now })
    const { cookie, csrf } = await ui.browser()
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
    const body = `kind=correction&text=a%00b&key=k&revision=1&csrf=${csrf}`
    expect((await ui.post(`/requests/${id}/revisions`, { headers, body })).status).toBe(400)
  })
})
