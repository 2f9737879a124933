import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { noteActivity } from '../../src/stores/turns/activity.js'
import { endTurnRow, startTurn } from '../../src/stores/turns/turns.js'
import { Change } from '../../src/web/api/schemas.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bearer, publicUrl, webUnderTest, type WebUnderTest } from './kit.js'
import { openStream, type EventReader } from './event-reader.js'
import { answer, ask, present } from './seed.js'

let fresh: FreshDb
let ui: WebUnderTest
const readers: EventReader[] = []
beforeAll(async () => {
  fresh = await freshDb()
})
beforeEach(() => {
  ui = webUnderTest(fresh.db)
})
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close()
})
afterAll(() => fresh.drop())

const x = () => ui.deps.exchange
let clock = 1_764_000_000_000
const tick = () => (clock += 1_000)

async function follow(query = '', headers: Record<string, string> = {}): Promise<EventReader> {
  const reader = openStream(await ui.get(`/api/v1/events${query}`, { ...bearer, ...headers }))
  readers.push(reader)
  return reader
}
const change = (data: string) => Change.parse(JSON.parse(data))

describe('the page of a request', () => {
  test('says what the agent does while a turn runs, and nothing of it afterwards', async () => {
    const request = await ask(x(), { text: 'watched', at: tick() })
    const turn = {
      id: 'turn-w',
      request,
      lane: 'lane-w',
      attempt: 'a',
      revision: 1,
      runtime: 'acp',
      holder: 'h',
      fence: 1,
    }
    await startTurn(fresh.db.sql, { ...turn, startedAt: tick() })
    const { cookie } = await ui.browser()
    const page = async (language: string) =>
      (await ui.get(`/requests/${request}`, { cookie, 'accept-language': language })).text()
    expect(await page('en')).not.toContain('Right now')
    await noteActivity(fresh.db.sql, { turn: 'turn-w', ordinal: 1, request, activity: 'thinking', at: tick() })
    await noteActivity(fresh.db.sql, { turn: 'turn-w', ordinal: 2, request, activity: 'tool', at: tick() })
    expect(await page('en')).toContain('Right now: The agent is using a tool')
    expect(await page('zh')).toContain('此刻： 智能体正在使用工具')
    await endTurnRow(fresh.db.sql, 'turn-w', 'completed', null, tick())
    expect(await page('en')).not.toContain('Right now')
  })
})

describe('GET /api/v1/events', () => {
  test('says hello, then each fact as it is committed, by kind and number, without a word of anybody', async () => {
    const stream = await follow()
    const hello = await stream.next()
    expect(hello.event).toBe('hello')
    const request = await ask(x(), { text: 'a secret question', at: tick() })
    const turn = await present(x(), request, tick())
    await answer(x(), request, turn, { text: 'a secret answer', at: tick() })
    const facts: z.infer<typeof Change>[] = []
    while (facts.at(-1)?.kind !== 'result-committed') {
      const told = await stream.next()
      expect(told.event).toBe('fact')
      expect(told.data).not.toContain('secret')
      facts.push(change(told.data))
    }
    expect(facts.map((fact) => fact.request)).toEqual(facts.map(() => request))
    expect(facts.map((fact) => fact.seq)).toEqual(facts.map((_, n) => n + 1))
    expect(facts[0]?.kind).toBe('request-opened')
  })

  test('goes on where an earlier stream ended; what came between is told once', async () => {
    const first = await follow()
    await first.next()
    const one = await ask(x(), { text: 'one', at: tick() })
    const told = await first.next()
    expect(change(told.data).request).toBe(one)
    await first.close()
    const two = await ask(x(), { text: 'two', at: tick() })
    const second = await follow('', { 'last-event-id': told.id ?? '' })
    const next = await second.next()
    expect(next.event).toBe('fact')
    expect(change(next.data).request).toBe(two)
  })

  test.each(['999999999:999999999:', 'nonsense', '9:4:', '0:0:', '1:9:4,3', '1:9:9', `1:${'9'.repeat(19)}:`])(
    'from the place %s it begins anew, and says so',
    async (place) => {
      const stream = await follow('', { 'last-event-id': place })
      expect((await stream.next()).event).toBe('reset')
      const request = await ask(x(), { text: 'after the reset', at: tick() })
      expect(change((await stream.next()).data).request).toBe(request)
    },
  )

  test('of one exchange only what belongs to it, and what its agent was seen to do', async () => {
    const mine = await ask(x(), { text: 'mine', at: tick() })
    const stream = await follow(`?request=${mine}`)
    await stream.next()
    await ask(x(), { text: 'of another', at: tick() })
    await noteActivity(fresh.db.sql, { turn: 'turn-a', ordinal: 1, request: mine, activity: 'tool', at: tick() })
    const told = await stream.next()
    expect(told.event).toBe('activity')
    expect(change(told.data)).toMatchObject({ request: mine, kind: 'tool', turn: 'turn-a', id: 'turn-a-1' })
  })

  test('a browser that signed out hears nothing of what happens then', async () => {
    const { cookie, csrf } = await ui.browser()
    const stream = openStream(await ui.get('/api/v1/events', { cookie }))
    readers.push(stream)
    expect((await stream.next()).event).toBe('hello')
    const body = new URLSearchParams({ csrf }).toString()
    const form = { cookie, 'content-type': 'application/x-www-form-urlencoded', origin: publicUrl }
    await ui.post('/sign-out', { headers: form, body })
    await ask(x(), { text: 'after the sign-out', at: tick() })
    await expect(stream.next()).rejects.toThrow('the stream has ended')
  })

  test('nobody but the operator hears anything', async () => {
    expect((await ui.get('/api/v1/events')).status).toBe(401)
  })
})
