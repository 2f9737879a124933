import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { DeliveryPage, Problem, Request, RequestPage } from '../../src/web/api/schemas.js'
import { bearer, webUnderTest, type WebUnderTest } from './kit.js'
import { answer, ask, deliver, fail, present } from './seed.js'
import { noModel } from '../kit/manager-binding.js'

type Wire<T> = T extends string | number
  ? T
  : T extends readonly (infer U)[]
    ? Wire<U>[]
    : T extends object
      ? { -readonly [K in keyof T]: Wire<T[K]> }
      : T
/** A new member or word of the view does not compile until the document promises it. */
const promised: Wire<RequestView> extends z.input<typeof Request> ? true : never = true

let fresh: FreshDb
let ui: WebUnderTest
beforeAll(async () => {
  fresh = await freshDb()
  ui = webUnderTest(fresh.db)
})
afterAll(() => fresh.drop())

const x = () => ui.deps.exchange
const json = async (response: Response) => (await response.json()) as Record<string, unknown>
let clock = 1_764_000_000_000
const tick = () => (clock += 1_000)

describe('lists', () => {
  test('newest first, page by page, each item in the promised shape', async () => {
    const ids: string[] = []
    for (let n = 0; n < 7; n++) ids.push(await ask(x(), { text: `question ${n}`, at: n < 4 ? clock : tick() }))
    const seen: string[] = []
    let cursor: string | null = ''
    for (let pages = 0; cursor !== null; pages++) {
      expect(pages).toBeLessThan(5)
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const page = RequestPage.parse(await json(await ui.get(`/api/v1/requests?limit=2${query}`, bearer)))
      expect(page.items.length).toBeLessThanOrEqual(2)
      seen.push(...page.items.map((item) => item.id))
      cursor = page.nextCursor
    }
    expect([...seen].sort()).toEqual([...ids].sort())
    expect(seen.slice(0, 3)).toEqual([ids[6], ids[5], ids[4]])
  })

  test('filters by computed state, conversation and agent', async () => {
    const chat = 'oc_filters'
    const open = await ask(x(), { text: 'open', at: tick(), chat })
    const waiting = await ask(x(), { text: 'answer under way', at: tick(), chat })
    const closed = await ask(x(), { text: 'closed', at: tick(), chat })
    const failed = await ask(x(), { text: 'failed', at: tick(), chat })
    const undelivered = await ask(x(), { text: 'undelivered', at: tick(), chat })
    for (const request of [waiting, closed, undelivered]) {
      const turn = await present(x(), request, tick())
      const cause = await answer(x(), request, turn, { text: 'done', at: tick() })
      const outcome = request === closed ? 'verified' : request === undelivered ? 'failed' : null
      const part = request === closed ? 'verified' : request === undelivered ? 'failed' : 'planned'
      await deliver(x(), { request, cause, at: tick(), outcome, parts: [part] })
    }
    await fail(x(), failed, await present(x(), failed, tick()), tick())
    const { conversation } = Request.parse(await json(await ui.get(`/api/v1/requests/${open}`, bearer)))
    const listed = async (query: string) => {
      const response = await ui.get(`/api/v1/requests?conversation=${conversation}${query}`, bearer)
      return RequestPage.parse(await json(response)).items.map((item) => item.id)
    }
    expect(await listed('&state=open')).toEqual([waiting, open])
    expect(await listed('&state=closed')).toEqual([closed])
    expect(await listed('&state=failed')).toEqual([undelivered, failed])
    expect(await listed('&agent=manager')).toEqual([undelivered, failed, closed, waiting])
    expect(await listed('&agent=nobody')).toEqual([])
    expect(await listed('&state=open&limit=1')).toEqual([waiting])
  })

  test('deliveries by state', async () => {
    const ids = {
      planned: await deliver(x(), { request: null, cause: 'n1', at: tick(), outcome: null, parts: ['planned'] }),
      sending: await deliver(x(), {
        request: null,
        cause: 'n2',
        at: tick(),
        outcome: null,
        parts: ['verified', 'planned'],
      }),
      parked: await deliver(x(), { request: null, cause: 'n3', at: tick(), outcome: 'parked', parts: ['parked'] }),
    }
    for (const [state, id] of Object.entries(ids)) {
      const page = DeliveryPage.parse(await json(await ui.get(`/api/v1/deliveries?state=${state}`, bearer)))
      expect(page.items.map((item) => item.id)).toContain(id)
      expect(new Set(page.items.map((item) => item.state))).toEqual(new Set([state]))
    }
    const first = DeliveryPage.parse(await json(await ui.get('/api/v1/deliveries?limit=2', bearer)))
    const next = DeliveryPage.parse(
      await json(await ui.get(`/api/v1/deliveries?limit=2&cursor=${first.nextCursor}`, bearer)),
    )
    expect(first.items.map((item) => item.id)).toEqual([ids.parked, ids.sending])
    expect(next.items[0]?.id).toBe(ids.planned)
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'state=done', 'cursor=%%%', 'cursor=AAAA'])(
    'refuses %s',
    async (query) => {
      const response = await ui.get(`/api/v1/requests?${query}`, bearer)
      expect(response.status).toBe(400)
      expect(Problem.parse(await json(response)).code).toBe('bad-request')
    },
  )
})

describe('one request', () => {
  test('shows the facts, and its revision as ETag', async () => {
    const id = await ask(x(), { text: 'What is up?\nsecond line', at: tick() })
    const response = await ui.get(`/api/v1/requests/${id}`, bearer)
    expect([response.status, response.headers.get('etag')]).toEqual([200, '"1"'])
    const view = Request.parse(await json(response))
    expect(view).toMatchObject({ id, revision: 1, state: 'open', parent: null, origin: { channel: 'lark' } })
    expect(view.axes).toEqual({ assignment: 'unassigned', judgment: 'pending', control: 'open', delivery: 'none' })
    expect(view.asks).toMatchObject([{ text: 'What is up?\nsecond line', state: 'owed' }])
    expect(view.observations.map((fact) => fact.kind)).toEqual(['request-opened'])
    expect(view.next).toMatchObject({ owner: 'manager', condition: 'turn-queued' })
  })
  test('404 for one that is not here', async () => {
    const response = await ui.get('/api/v1/requests/nothing', { ...bearer, 'accept-language': 'zh' })
    expect(Problem.parse(await json(response))).toMatchObject({
      status: 404,
      code: 'request-unknown',
      title: '没有这个请求',
    })
    expect(response.headers.get('content-type')).toContain('application/problem+json')
  })
})

describe('revisions', () => {
  const correction = JSON.stringify({ kind: 'correction', text: 'in French, please' })
  const revise = (id: string, headers: Record<string, string>, body = correction) =>
    ui.post(`/api/v1/requests/${id}/revisions`, { headers: { ...bearer, ...headers }, body })

  test.each([
    ['no If-Match', { 'idempotency-key': 'k1' }, correction, 428, 'if-match-missing'],
    ['a word as If-Match', { 'if-match': 'latest', 'idempotency-key': 'k2' }, correction, 400, 'if-match-malformed'],
    ['any If-Match', { 'if-match': '*', 'idempotency-key': 'k3' }, correction, 400, 'if-match-malformed'],
    ['an older revision', { 'if-match': '"7"', 'idempotency-key': 'k4' }, correction, 412, 'stale-revision'],
    ['no key', { 'if-match': '"1"' }, correction, 400, 'idempotency-key-missing'],
    [
      'a key with spaces',
      { 'if-match': '"1"', 'idempotency-key': 'a b' },
      correction,
      400,
      'idempotency-key-malformed',
    ],
    ['no body', { 'if-match': '"1"', 'idempotency-key': 'k5' }, '', 400, 'bad-request'],
    ['no JSON', { 'if-match': '"1"', 'idempotency-key': 'k6' }, '{', 400, 'bad-request'],
    ['another kind', { 'if-match': '"1"', 'idempotency-key': 'k7' }, '{"kind":"deletion"}', 400, 'bad-request'],
    [
      'an unknown member',
      { 'if-match': '"1"', 'idempotency-key': 'k8' },
      '{"kind":"correction","priority":1}',
      400,
      'bad-request',
    ],
    ['no words', { 'if-match': '"1"', 'idempotency-key': 'k9' }, '{"kind":"correction","text":" "}', 422, 'text-empty'],
  ])('refused with %s', async (_name, headers, body, status, code) => {
    const id = await ask(x(), { text: 'write it', at: tick() })
    const response = await revise(id, headers as Record<string, string>, body)
    expect(response.status).toBe(status)
    expect(Problem.parse(await json(response)).code).toBe(code)
    expect((await json(await ui.get(`/api/v1/requests/${id}`, bearer)))['revision']).toBe(1)
  })

  test('a correction is the next revision, once per key', async () => {
    const id = await ask(x(), { text: 'write it', at: tick() })
    const headers = { 'if-match': '"1"', 'idempotency-key': 'same' }
    const first = await revise(id, headers)
    expect([first.status, first.headers.get('etag')]).toEqual([200, '"2"'])
    expect(await json(first)).toMatchObject({ outcome: 'accepted', revision: 2 })
    const again = await revise(id, headers)
    expect([again.status, await json(again)]).toMatchObject([200, { outcome: 'already-applied', revision: 2 }])
    const other = await revise(id, headers, JSON.stringify({ kind: 'correction', text: 'in Spanish' }))
    expect([other.status, await json(other)]).toMatchObject([422, { code: 'idempotency-key-reused' }])
    const view = Request.parse(await json(await ui.get(`/api/v1/requests/${id}`, bearer)))
    expect(view.revision).toBe(2)
    expect(view.asks.map((one) => one.text)).toEqual(['write it', 'in French, please'])
  })
  test('one key on two requests is two commands', async () => {
    const [a, b] = [await ask(x(), { text: 'a', at: tick() }), await ask(x(), { text: 'b', at: tick() })]
    const headers = { 'if-match': '1', 'idempotency-key': 'shared' }
    expect((await revise(a, headers)).status).toBe(200)
    expect((await revise(b, headers)).status).toBe(200)
  })
  test('of eight corrections on one revision one wins', async () => {
    const id = await ask(x(), { text: 'race', at: tick() })
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, n) => revise(id, { 'if-match': '"1"', 'idempotency-key': `race-${n}` })),
    )
    expect(all.map((response) => response.status).sort()).toEqual([200, 412, 412, 412, 412, 412, 412, 412])
  })
  test('a cancellation closes; after it nothing can be changed', async () => {
    const id = await ask(x(), { text: 'never mind', at: tick() })
    const cancel = '{"kind":"cancellation"}'
    expect((await revise(id, { 'if-match': '"1"', 'idempotency-key': 'c1' }, cancel)).status).toBe(200)
    const view = Request.parse(await json(await ui.get(`/api/v1/requests/${id}`, bearer)))
    expect([view.axes.control, view.state, view.next]).toEqual(['cancel-acknowledged', 'closed', null])
    const late = await revise(id, { 'if-match': '"1"', 'idempotency-key': 'c2' })
    expect([late.status, await json(late)]).toMatchObject([409, { code: 'request-closed' }])
  })
  test('a body above 1 MiB is refused unread', async () => {
    const id = await ask(x(), { text: 'big', at: tick() })
    const response = await revise(id, { 'if-match': '"1"', 'idempotency-key': 'big' }, 'x'.repeat(1024 * 1024 + 1))
    expect([response.status, (await json(response))['code']]).toEqual([413, 'too-large'])
  })
})

describe('retry', () => {
  let keys = 0
  const retry = (id: string, body: object = {}, headers?: Record<string, string>) =>
    ui.post(`/api/v1/deliveries/${id}/retry`, {
      headers: { ...bearer, ...(headers ?? { 'idempotency-key': `retry-${++keys}` }) },
      body: JSON.stringify(body),
    })

  test('of a failed one is taken up again', async () => {
    const id = await deliver(x(), { request: null, cause: 'r1', at: tick(), outcome: 'failed', parts: ['failed'] })
    expect((await retry(id)).status).toBe(202)
    const row = await json(await ui.get(`/api/v1/deliveries/${id}`, bearer))
    expect(row).toMatchObject({ state: 'planned', settledAt: null, parts: [{ state: 'planned' }] })
  })
  test('of one that arrived does nothing', async () => {
    const id = await deliver(x(), { request: null, cause: 'r2', at: tick(), outcome: 'verified', parts: ['verified'] })
    const response = await retry(id)
    expect([response.status, await json(response)]).toMatchObject([200, { outcome: 'already-delivered' }])
  })
  test('takes the operator’s word on a parked part', async () => {
    const id = await deliver(x(), {
      request: null,
      cause: 'r3',
      at: tick(),
      outcome: 'parked',
      parts: ['verified', 'parked'],
    })
    expect((await retry(id, { part: 1, decision: 'present' }, { 'idempotency-key': 'd1' })).status).toBe(202)
    const row = await json(await ui.get(`/api/v1/deliveries/${id}`, bearer))
    expect(row).toMatchObject({ parts: [{ state: 'verified' }, { state: 'accepted', because: 'seen-by-operator' }] })
    const [line] = await fresh.db.sql`select who, act from collab.audit_lines where subject = ${id}`
    expect(line).toMatchObject({ who: 'admin-token', act: expect.stringContaining('present') as string })
  })
  test('keeps the message that was seen, and shows who said so and when', async () => {
    const id = await deliver(x(), { request: null, cause: 'r3m', at: tick(), outcome: 'parked', parts: ['parked'] })
    const said = { part: 0, decision: 'present', messageId: 'om_seen_1' }
    for (const [body, status] of [
      [{ part: 0, messageId: 'om_seen_1' }, 400],
      [{ ...said, decision: 'give-up' }, 400],
      [{ ...said, messageId: 'om/../seen' }, 400],
      [said, 202],
    ] as const) {
      expect((await retry(id, body)).status).toBe(status)
    }
    const row = await json(await ui.get(`/api/v1/deliveries/${id}`, bearer))
    expect(row).toMatchObject({
      // Not read back yet: that is the delivery's own job.
      parts: [{ state: 'accepted', messageId: 'om_seen_1' }],
      acts: [{ who: 'admin-token', act: 'delivery present part 0 as om_seen_1', at: expect.any(Number) as number }],
    })
  })
  test('without a key it is refused, and nothing is done', async () => {
    const id = await deliver(x(), { request: null, cause: 'r4', at: tick(), outcome: 'failed', parts: ['failed'] })
    const response = await retry(id, {}, {})
    expect([response.status, (await json(response))['code']]).toEqual([400, 'idempotency-key-missing'])
    expect(await json(await ui.get(`/api/v1/deliveries/${id}`, bearer))).toMatchObject({ state: 'failed' })
  })
  test('one key is one command: the same again does nothing, with another body it is refused', async () => {
    const parts = ['parked', 'parked'] as const
    const id = await deliver(x(), { request: null, cause: 'r5', at: tick(), outcome: 'parked', parts: [...parts] })
    const key = { 'idempotency-key': 'one-command' }
    expect((await retry(id, { part: 0, decision: 'present' }, key)).status).toBe(202)
    expect((await retry(id, { part: 0, decision: 'present' }, key)).status).toBe(200)
    for (const other of [{ part: 0, decision: 'give-up' }, { part: 1, decision: 'present' }, { part: 0 }, {}]) {
      const response = await retry(id, other, key)
      expect([response.status, (await json(response))['code']]).toEqual([422, 'idempotency-key-reused'])
    }
    expect(await json(await ui.get(`/api/v1/deliveries/${id}`, bearer))).toMatchObject({
      parts: [{ state: 'accepted' }, { state: 'parked' }],
    })
    const lines = await fresh.db.sql`select act from collab.audit_lines where subject = ${id}`
    expect(lines).toEqual([{ act: 'delivery present part 0' }])
  })
  test('also after it arrived, and of one that had arrived before', async () => {
    const id = await deliver(x(), { request: null, cause: 'r6', at: tick(), outcome: 'verified', parts: ['verified'] })
    const key = { 'idempotency-key': 'arrived' }
    expect((await retry(id, {}, key)).status).toBe(200)
    expect((await retry(id, {}, key)).status).toBe(200)
    expect((await retry(id, { part: 0 }, key)).status).toBe(422)
  })
  test.each([
    ['unknown delivery', 'nothing', {}, 404, 'delivery-unknown'],
    ['another decision', null, { decision: 'resend' }, 400, 'bad-request'],
    ['unknown part', null, { part: 9 }, 404, 'part-unknown'],
  ])('refuses %s', async (_name, given, body, status, code) => {
    const id =
      given ??
      (await deliver(x(), { request: null, cause: `e${tick()}`, at: clock, outcome: 'failed', parts: ['failed'] }))
    const response = await retry(id, body)
    expect([response.status, (await json(response))['code']]).toEqual([status, code])
  })
})

describe('standing permissions', () => {
  const body = {
    agent: 'manager',
    scope: { kind: 'path', prefix: '/srv/notes//' },
    effects: ['write'],
    conversation: null,
    reason: 'notes',
    days: 30,
  }
  const add = (over: object = {}, key: string | null = `grant-${tick()}`, headers: Record<string, string> = bearer) =>
    ui.post('/api/v1/grants', {
      headers: { ...headers, 'content-type': 'application/json', ...(key === null ? {} : { 'idempotency-key': key }) },
      body: JSON.stringify({ ...body, ...over }),
    })

  test('are given by the operator once per key, and shown with what they give now', async () => {
    const first = await add({}, 'grant-once')
    expect(first.status).toBe(201)
    const given = await json(first)
    expect(await json(await add({}, 'grant-once'))).toEqual({ ...given, outcome: 'already-applied' })
    expect((await add({ reason: 'another' }, 'grant-once')).status).toBe(422)
    const { items } = (await json(await ui.get('/api/v1/grants', bearer))) as { items: Record<string, unknown>[] }
    expect(items[0]).toMatchObject({
      id: given['grant'],
      effective: 'standing',
      openId: 'ou_1',
      scope: { kind: 'path', prefix: '/srv/notes' },
      effects: ['write'],
      issuedBy: 'admin-token',
      used: 0,
      lastUses: [],
    })
  })

  test.each<[string, object, number, string]>([
    ['the root', { scope: { kind: 'path', prefix: '/' } }, 422, 'scope-unsound'],
    ['another effect', { effects: ['network'] }, 422, 'effect-not-possible'],
    ['no owner of ours', { openId: 'ou_of_another_app' }, 422, 'not-an-owner'],
    ['a parent that is not there', { parent: 'none' }, 404, 'grant-unknown'],
    ['a scope of no kind that is used', { scope: { kind: 'agent', agent: 'g' } }, 400, 'bad-request'],
    ['more than it takes', { everything: true }, 400, 'bad-request'],
    ['no end that anybody chose', { days: undefined }, 400, 'bad-request'],
  ])('are refused for %s', async (_name, over, status, code) => {
    const response = await add(over)
    expect([response.status, (await json(response))['code']]).toEqual([status, code])
  })

  test('are given to nobody without the operator, whatever the body says', async () => {
    expect((await add({}, 'grant-nobody', {})).status).toBe(401)
    expect((await add({}, 'grant-forged', { authorization: 'Bearer lma_of_an_agent' })).status).toBe(401)
    expect((await add({}, null)).status).toBe(400)
    const { cookie } = await ui.browser()
    expect((await add({}, 'grant-csrf', { cookie })).status).toBe(403)
  })
})

describe('the document', () => {
  test('is OpenAPI 3.1 and lists exactly the routes that exist', async () => {
    const document = await json(await ui.get('/api/v1/openapi.json', bearer))
    expect([document['openapi'], promised]).toEqual(['3.1.0', true])
    const paths = document['paths'] as Record<string, Record<string, { responses: object; security: unknown }>>
    const listed = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    )
    expect(listed.sort()).toEqual([
      'get /api/v1/agents',
      'get /api/v1/chats',
      'get /api/v1/chats/{bot}/{chat}/policy',
      'get /api/v1/deliveries',
      'get /api/v1/deliveries/{id}',
      'get /api/v1/doctor',
      'get /api/v1/events',
      'get /api/v1/goals',
      'get /api/v1/goals/{id}/todos',
      'get /api/v1/grants',
      'get /api/v1/requests',
      'get /api/v1/requests/{id}',
      'get /api/v1/sessions',
      'get /api/v1/sessions/{id}',
      'post /api/v1/agents',
      'post /api/v1/agents/{id}/tokens',
      'post /api/v1/chats/{bot}/{chat}/members/{openId}/remove',
      'post /api/v1/deliveries/{id}/retry',
      'post /api/v1/goals',
      'post /api/v1/goals/{id}/resume',
      'post /api/v1/goals/{id}/stop',
      'post /api/v1/grants',
      'post /api/v1/grants/{id}/revoke',
      'post /api/v1/requests/{id}/revisions',
      'post /api/v1/sessions/{id}/replace',
      'post /api/v1/sessions/{id}/stop',
      'post /api/v1/sign-in-links',
      'put /api/v1/chats/{bot}/{chat}/policy',
    ])
    for (const method of Object.values(paths).flatMap((methods) => Object.values(methods))) {
      expect(Object.keys(method.responses)).toContain('401')
      expect(method.security).toEqual([{ bearer: [] }, { session: [] }])
    }
    const text = JSON.stringify(document)
    const refs = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '')
    const schemas = (document['components'] as { schemas: object }).schemas
    for (const name of refs) expect(Object.keys(schemas)).toContain(name)
  })
  test('what belongs to later versions is not there', async () => {
    const keyed = { ...bearer, 'idempotency-key': 'later' }
    expect((await ui.post('/api/v1/conversations/c/messages', { headers: keyed, body: '{}' })).status).toBe(404)
  })
  test('the doctor says what it was given', async () => {
    expect(await json(await ui.get('/api/v1/doctor', bearer))).toEqual({
      version: '0.0.0',
      settings: [],
      checks: [],
      manager: noModel,
    })
  })
})
