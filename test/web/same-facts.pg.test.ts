import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../../src/cli/main.js'
import type { RequestId } from '../../src/collab/refs.js'
import { requestWords } from '../../src/render/html/request-words.js'
import { axisTerms, factTerms, nextTerms, stateTerms } from '../../src/render/html/terms.js'
import { cancellationText } from '../../src/render/text/cancel.js'
import { Request } from '../../src/web/api/schemas.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { adminToken, bearer, publicUrl, webUnderTest, type WebUnderTest } from './kit.js'
import { acknowledge, answer, ask, deliver, fail, present } from './seed.js'

let fresh: FreshDb
let ui: WebUnderTest
beforeAll(async () => {
  fresh = await freshDb()
  ui = webUnderTest(fresh.db)
})
afterAll(() => fresh.drop())

const x = () => ui.deps.exchange
const start = () => ask(x(), { text: 'Is it done?', at: ui.now })
const answered = async (): Promise<readonly [RequestId, string]> => {
  const id = await start()
  return [id, await answer(x(), id, await present(x(), id, ui.now), { text: 'It is.', at: ui.now })]
}
const delivered = async (
  outcome: 'verified' | 'accepted' | 'failed' | 'parked' | null,
  part: 'verified' | 'accepted' | 'failed' | 'parked' | 'planned' | 'sending',
) => {
  const [request, cause] = await answered()
  await deliver(x(), { request, cause, at: ui.now, outcome, parts: [part] })
  return request
}

const cancel = (id: RequestId) =>
  ui.post(`/api/v1/requests/${id}/revisions`, {
    headers: { ...bearer, 'if-match': '"1"', 'idempotency-key': 'cancel' },
    body: '{"kind":"cancellation"}',
  })

/** Every state that a request of one turn can be in. */
const states: Record<string, () => Promise<RequestId>> = {
  opened: start,
  held: () => ask(x(), { text: 'Is it done?', at: ui.now, late: true }),
  'being worked on': async () => {
    const id = await start()
    await present(x(), id, ui.now)
    return id
  },
  'given up by the agent': async () => {
    const id = await start()
    await fail(x(), id, await present(x(), id, ui.now), ui.now)
    return id
  },
  answered: async () => (await answered())[0],
  'waiting to be sent': () => delivered(null, 'planned'),
  'being sent': () => delivered(null, 'sending'),
  accepted: () => delivered('accepted', 'accepted'),
  verified: () => delivered('verified', 'verified'),
  doubtful: () => delivered('parked', 'parked'),
  undeliverable: () => delivered('failed', 'failed'),
  cancelled: async () => {
    const id = await start()
    await cancel(id)
    return id
  },
  'cancellation asked for': async () => {
    const id = await start()
    await present(x(), id, ui.now)
    await cancel(id)
    return id
  },
  'cancelled too late': async () => {
    const id = await start()
    const turn = await present(x(), id, ui.now)
    await cancel(id)
    await answer(x(), id, turn, { text: 'It was.', at: ui.now })
    await acknowledge(x(), id, ui.now)
    return id
  },
  corrected: async () => {
    const id = await start()
    await present(x(), id, ui.now)
    const headers = { ...bearer, 'if-match': '"1"', 'idempotency-key': 'correct' }
    const body = JSON.stringify({ kind: 'correction', text: 'All of it?' })
    await ui.post(`/api/v1/requests/${id}/revisions`, { headers, body })
    return id
  },
}

describe('one request, seen through every door', () => {
  test.each(Object.keys(states))('A10 page, API and command line show the same facts: %s', async (state) => {
    const id = (await states[state]?.()) ?? ''
    const view = Request.parse(await (await ui.get(`/api/v1/requests/${id}`, bearer)).json())

    const out: string[] = []
    const io = {
      stdout: (text: string) => void out.push(text),
      stderr: (text: string) => void out.push(text),
      env: { url: publicUrl, token: adminToken, lang: '' },
      fetch: (url: string, init: RequestInit) => ui.web.fetch(new globalThis.Request(url, init)),
      newId: () => 'k',
    }
    expect(await runCli(['request', 'show', id, '--json'], io)).toBe(0)
    expect(JSON.parse(out.join(''))).toEqual(view)

    const tooLate = view.cancellation?.stands === 'too-late'
    const { cookie } = await ui.browser()
    for (const language of ['en', 'zh'] as const) {
      const page = await (await ui.get(`/requests/${id}`, { cookie, 'accept-language': language })).text()
      const shown = [...page.matchAll(/<dd>([^<]*)<\/dd>/g)].map(([, text]) => text)
      expect(shown).toEqual([
        axisTerms.assignment[view.axes.assignment][language],
        axisTerms.judgment[view.axes.judgment][language],
        tooLate ? requestWords[language].tooLate : axisTerms.control[view.axes.control][language],
        axisTerms.delivery[view.axes.delivery][language],
      ])
      expect(page).toContain(`>${stateTerms[view.state][language]}</span>`)
      const next = view.next === null ? null : nextTerms[view.next.condition as keyof typeof nextTerms][language]
      expect(page.includes('class="next')).toBe(next !== null)
      if (next !== null) expect(page).toContain(next)
      const facts = [...page.matchAll(/<li class="(?:good|bad|warn|calm)">([^<]*)/g)].map(([, text]) => text)
      expect(facts).toEqual(
        view.observations.map(({ kind, detail }) =>
          detail === 'too-late' ? requestWords[language].tooLate : factTerms[kind as keyof typeof factTerms][language],
        ),
      )
      const cancelled = view.cancellation === null ? null : cancellationText(view.cancellation, language)
      expect(page.includes(requestWords[language].cancellation)).toBe(cancelled !== null)
      if (cancelled !== null) expect(page).toContain(cancelled)
    }
  })

  acceptance(
    'A7',
    'the command line tells a cancellation asked for, in effect and too late apart, in both languages',
    async () => {
      const said: string[] = []
      for (const state of ['cancellation asked for', 'cancelled', 'cancelled too late']) {
        const id = (await states[state]?.()) ?? ''
        for (const lang of ['en', 'zh']) {
          const out: string[] = []
          const io = {
            stdout: (text: string) => void out.push(text),
            stderr: (text: string) => void out.push(text),
            env: { url: publicUrl, token: adminToken, lang },
            fetch: (url: string, init: RequestInit) => ui.web.fetch(new globalThis.Request(url, init)),
            newId: () => 'k',
          }
          expect(await runCli(['request', 'show', id], io)).toBe(0)
          const line = out
            .join('')
            .split('\n')
            .find((one) => /^(cancellation|取消)/.test(one))
          said.push(line ?? 'missing')
          expect(out.join('').includes('cancel-acknowledged (too-late)')).toBe(state === 'cancelled too late')
        }
      }
      expect(new Set(said).size).toBe(6)
      expect(said).not.toContain('missing')
      expect(said.slice(4)).toEqual([
        expect.stringContaining('it was answered'),
        expect.stringContaining('已经给出回答'),
      ])
    },
  )

  acceptance('A7', 'who cancels what is over is told that it is too late, in both languages', async () => {
    const [id] = await answered()
    for (const language of ['en', 'zh'] as const) {
      const response = await ui.post(`/api/v1/requests/${id}/revisions`, {
        headers: { ...bearer, 'if-match': '"1"', 'idempotency-key': `late-${language}`, 'accept-language': language },
        body: '{"kind":"cancellation"}',
      })
      expect(response.status).toBe(409)
      const problem = await response.json()
      expect(problem).toMatchObject({ code: 'request-closed', title: requestWords[language].tooLateAnswered })
    }
  })

  test('the states are different ones', async () => {
    const axes = new Set<string>()
    for (const make of Object.values(states)) {
      const view = Request.parse(await (await ui.get(`/api/v1/requests/${await make()}`, bearer)).json())
      axes.add(JSON.stringify([view.axes, view.state, view.next, view.cancellation?.stands]))
    }
    expect(axes.size).toBe(Object.keys(states).length)
  })
})
