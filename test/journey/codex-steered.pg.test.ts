import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { acceptance } from '../kit/acceptance.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'

describe.skipIf(!hasCodex)('a follow-up while a turn runs on the real codex', () => {
  let bench: CodexBench
  let p: Platform
  let gateway: GatewayProcess
  let first: string
  let second: string
  let told: RequestView
  beforeAll(async () => {
    bench = await codexBench()
    p = await openPlatform({ env: { ...bench.gatewayEnv, TURN_TRIES: '1', PROGRESS_AFTER_MS: '0' } })
    gateway = await startProcess(p)
    const go = join(bench.root, 'go')
    // The command holds the turn open; what the model does after it follows the newest message that it was shown.
    first = say(`!run until [ -e ${go} ]; do sleep 0.1; done\n!reply Seven herons.`)
    await until(() => bench.mock.requests.at(-1)?.messages.at(-1)?.includes('Seven herons'), 'the turn', 40_000)
    const relating = '{"earlier":"$running","later":"$request","onRevision":1,"as":"correction"}'
    second = say(`!tool relate_message ${relating}\n!reply Two storks instead.`)
    const settled = async () => (await kindsOf(second)).includes('steer-settled')
    await until(settled, 'the follow-up to be told', 40_000)
    told = await viewOf(second)
    writeFileSync(go, '')
    await until(() => answersTo(first)[0], 'the answer', 40_000)
    await p.quiet()
  }, 150_000)
  afterAll(async () => {
    await gateway?.stop()
    await p?.close()
    await bench?.close()
  })

  const say = (text: string) => p.served.sandbox.world.say({ chatId: p.ids.dm, from: p.ids.alice, text }).id
  const answersTo = (id: string) => p.answers(p.ids.dm).filter((message) => message.parentId === id)
  const requestOf = async (message: string): Promise<string> => {
    const [row] = await p.db.sql<{ id: string }[]>`
      select id from collab.work_requests where origin_message = ${message}`
    return row?.id ?? ''
  }
  const kindsOf = async (message: string): Promise<readonly string[]> => {
    const request = await requestOf(message)
    const rows = await p.db.sql<{ kind: string }[]>`
      select kind from collab.observations where request = ${request} order by seq`
    return rows.map(({ kind }) => kind)
  }
  const viewOf = async (message: string): Promise<RequestView> => {
    const headers = { authorization: `Bearer ${p.token}` }
    const answer = await fetch(`${gateway.url}/api/v1/requests/${await requestOf(message)}`, { headers })
    return (await answer.json()) as RequestView
  }

  acceptance('A23', 'it reaches the turn that runs: the model is shown its words in that turn', async () => {
    const shown = bench.mock.requests.filter((request) => request.messages.at(-1)?.includes('Two storks'))
    expect(shown.length).toBeGreaterThan(0)
    // In one conversation with the first message, whose turn has not ended.
    for (const { messages } of shown) expect(messages.some((text) => text.includes('Seven herons'))).toBe(true)
    const turns = await p.db.sql`select 1 from collab.turns`
    expect(turns).toHaveLength(1)
  })

  acceptance('A23', 'the owner gets exactly one answer, and it is the one to the corrected question', async () => {
    const all = [...answersTo(first), ...answersTo(second)]
    expect(all).toHaveLength(1)
    expect(all[0]?.content).toContain('Two storks instead.')
    expect(all[0]?.content).not.toContain('Seven herons')
    const view = await viewOf(first)
    expect(view).toMatchObject({ revision: 2, state: 'closed' })
    expect(view.asks.map((ask) => ask.state)).toEqual(['covered', 'covered'])
    expect(view.results).toHaveLength(1)
  })

  acceptance('A23', 'its own page says that it was told to the running turn, and then where it went on', async () => {
    expect(told.next).toMatchObject({ owner: 'manager', condition: 'told-to-turn' })
    expect((await viewOf(second)).observations.map(({ kind }) => kind)).toEqual([
      'request-opened',
      'steer-intended',
      'steer-settled',
      'request-continued',
    ])
  })

  test('the receipts of both messages end with that answer', () => {
    expect([first, second].map((id) => p.receipts(p.ids.dm, id))).toEqual([[], []])
  })
})
