import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { groupIsGone } from '../../src/runtime/process-group.js'
import type { SessionView } from '../../src/stores/views/sessions.js'
import { runCli } from '../../src/cli/main.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { office } from './kit.js'

const json = (value: object) => JSON.stringify(value)

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
let before: SessionView
let replaced: SessionView
let after: SessionView
let late: string
let factsBefore: number
let factsAfter: number
let oldIsGone: boolean
let refusals: readonly number[]
let corrected: string

const sessions = async (): Promise<readonly SessionView[]> =>
  ((await o.get('/api/v1/sessions')) as { items: readonly SessionView[] }).items
const act = (id: string, what: 'stop' | 'replace', key: string) =>
  g.api(`/api/v1/sessions/${id}/${what}`, { method: 'POST', headers: { 'idempotency-key': key } })
const facts = async (id: string) => (await o.show(id)).observations.length
/** The scripted agent names its session after its process. */
const pidOf = (session: string): number => Number(/^s(\d+)-/u.exec(session)?.[1])

beforeAll(async () => {
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: (await scriptedAgent())() } })
  const call = join(g.dataDir, 'call')
  const brief = { request: '$request', onRevision: '$revision', next: ['act once more'] }
  const said = o.say(`!haunt ${call} save_brief ${json(brief)}\n!assess accepted mine\n!report first`)
  const opened = await o.opened(said)
  await o.when(opened.id, ({ state }) => state === 'closed', 'the first answer', 60_000)
  await g.quiet(40_000)
  ;[before] = (await sessions()) as [SessionView]
  factsBefore = await facts(opened.id)
  refusals = [(await act(before.id, 'stop', 's0')).status, (await act('no-such', 'replace', 'r0')).status]
  // Twice the same command, once through the terminal.
  expect((await act(before.id, 'replace', 'r1')).status).toBe(200)
  const out: string[] = []
  await runCli(['session', 'show', before.id, '--json'], {
    stdout: (text) => void out.push(text),
    stderr: () => {},
    env: { url: g.gateway.url, token: g.token, lang: 'en' },
    fetch: (url, init) => fetch(url, init),
    newId: () => 'key',
  })
  replaced = JSON.parse(out.join('')) as SessionView
  expect(await (await act(before.id, 'replace', 'r1')).json()).toEqual({ outcome: 'already-applied' })
  refusals = [...refusals, (await act(before.id, 'replace', 'r2')).status]
  // The executor that was replaced is still there, and really tries.
  writeFileSync(call, '')
  await until(() => existsSync(`${call}-said`), 'what the old executor tried', 20_000)
  late = readFileSync(`${call}-said`, 'utf8')
  factsAfter = await facts(opened.id)
  // A correction that comes after the replacement goes to the next session.
  const response = await g.api(`/api/v1/requests/${opened.id}/revisions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'late', 'if-match': '"1"' },
    body: json({ kind: 'correction', text: '!turn\n!assess accepted mine\n!report corrected' }),
  })
  expect(response.status).toBe(200)
  const root = await o.when(
    opened.id,
    ({ state, revision }) => state === 'closed' && revision === 2,
    'the second',
    60_000,
  )
  corrected = root.results.map(({ text }) => text).join('\n')
  oldIsGone = await groupIsGone(pidOf(before.session))
  ;[after] = (await sessions()) as [SessionView]
}, 200_000)
afterAll(() => g.stop())

describe('a session that was replaced', () => {
  acceptance('A18', 'its executor tries a core effect, is refused by its epoch, and nothing is written', () => {
    expect(late).toContain('stale-epoch')
    expect(factsAfter).toBe(factsBefore)
  })

  acceptance('A18', 'its process is gone before the next one acts for the lane', () => {
    expect(oldIsGone).toBe(true)
    expect(after.session).not.toBe(before.session)
  })

  acceptance('A18', 'a correction that came after it is taken up by the next one, as its first turn', () => {
    expect(corrected).toContain('corrected')
    expect(corrected).toContain('This is turn 1 of this session.')
  })

  acceptance('A18', 'who looks sees both, with the reason and the epochs, and nothing is replaced twice', () => {
    expect(before).toMatchObject({ agent: 'manager', runtime: 'acp', endedAt: null, running: null, epoch: 1 })
    expect(replaced).toMatchObject({ id: before.id, because: 'replaced-by-operator', epoch: 2 })
    expect(after).toMatchObject({ endedAt: null, epoch: 3 })
    expect(refusals).toEqual([409, 404, 409])
  })
})
