import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../../src/cli/main.js'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { must } from '../../src/lib/assert.js'
import { testGateway, type TestGateway } from '../kit/gateway.js'
import { until } from '../kit/platform.js'

describe('the four stamps of a turn', () => {
  let g: TestGateway
  beforeAll(async () => {
    g = await testGateway({ env: { PROGRESS_AFTER_MS: '0', TURN_TRIES: '1' } })
  })
  afterAll(() => g.stop())

  const turnsOf = async (text: string): Promise<{ id: string; turns: RequestView['attempts'][number]['turns'] }> => {
    const { id: origin } = g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text })
    const found = await until(async () => {
      const [row] = await g.db.sql<
        { id: string }[]
      >`select id from collab.work_requests where origin_message = ${origin}`
      if (row === undefined) return null
      const view = (await (await g.api(`/api/v1/requests/${row.id}`)).json()) as RequestView
      const turns = view.attempts.flatMap((attempt) => attempt.turns)
      return turns[0]?.completedAt == null ? null : { id: row.id, turns }
    }, 'a turn that has ended')
    return found
  }
  const page = async (id: string): Promise<string> => {
    const { url } = (await (await g.api('/api/v1/sign-in-links', { method: 'POST' })).json()) as { url: string }
    const { pathname, search } = new URL(url)
    const entered = await fetch(`${g.gateway.url}${pathname}${search}`, { redirect: 'manual' })
    const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    return await (await fetch(`${g.gateway.url}/requests/${id}`, { headers: { cookie } })).text()
  }

  test('stand in their order in the API, and page and CLI show the same', async () => {
    const { id, turns } = await turnsOf('!think\n!reply stamped')
    expect(turns).toHaveLength(1)
    const turn = must(turns[0], 'the turn')
    const stamps = [turn.acceptedAt, turn.presentedAt, turn.firstAnswerAt, turn.completedAt]
    expect(stamps.every((at) => typeof at === 'number')).toBe(true)
    expect(stamps).toEqual([...stamps].toSorted((a, b) => Number(a) - Number(b)))
    const iso = stamps.map((at) => new Date(Number(at)).toISOString().slice(0, 19).replace('T', ' '))
    let out = ''
    await runCli(['request', 'show', id], {
      stdout: (text) => (out += text),
      stderr: () => {},
      env: { url: g.gateway.url, token: g.token, lang: 'en' },
      fetch: (url, init) => fetch(url, init),
      newId: () => 'k',
    })
    expect(out).toContain(
      `turn: accepted ${iso[0]}Z, turn started ${iso[1]}Z, first answer ${iso[2]}Z, completed ${iso[3]}Z`,
    )
    const html = await page(id)
    for (const word of ['Taken up', 'Turn started', 'First answer', 'Completed'])
      expect(html).toContain(`>${word}</span>`)
    for (const at of iso) expect(html).toContain(`${at} UTC`)
  })

  test('a turn that never wrote an answer has no stamp for one', async () => {
    const { turns } = await turnsOf('!fail silent')
    expect(turns[0]).toMatchObject({ firstAnswerAt: null, completedAt: expect.any(Number) })
  })
})
