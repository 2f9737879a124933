import { afterAll, beforeAll, describe, expect, vi } from 'vitest'
import { systemClock } from '../../src/app/chance.js'
import { runCli } from '../../src/cli/main.js'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { DAY } from '../../src/lib/time.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { office, resultsOf } from './kit.js'

const REJECTED = 'the nightly dump: given up in May, it lost the "notes" column'
const DECIDED = 'the archive moves on Wednesday'
const json = (value: object) => JSON.stringify(value)
const save = (parts: object) =>
  `!unless continued tool save_brief ${json({ request: '$request', onRevision: '$revision', ...parts })}`

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
let said: WorldMessage
let root: RequestView
let interim: string
let cli: string
let page: string
/** How far the gateway's clock is ahead of this machine's. */
let ahead = 0

beforeAll(async () => {
  vi.spyOn(systemClock, 'now').mockImplementation(() => Date.now() + ahead)
  const command = await scriptedAgent()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command('--no-resume') } })
  const directives = [
    save({ tried: [REJECTED], constraints: ['nothing is lost'] }),
    // What is left of it after a compaction.
    save({ decisions: [DECIDED], constraints: ['nothing is lost'] }),
    '!assess accepted it is my work',
    '!unless continued report moved',
    `!if continued tool exchange_show ${json({ request: '$request' })}`,
    '!if continued report $beside',
  ]
  said = o.say(`Move the archive.\n${directives.join('\n')}`)
  const opened = await o.opened(said)
  await o.when(opened.id, ({ state }) => state === 'closed', 'the first answer', 60_000)
  await g.quiet(40_000)
  // A day later nothing of its session is left, and the question comes again.
  ahead = DAY
  await g.restart()
  const response = await g.api(`/api/v1/requests/${opened.id}/revisions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'again', 'if-match': '"1"' },
    body: json({ kind: 'correction', text: ['And the index?', ...directives].join('\n') }),
  })
  expect(response.status).toBe(200)
  root = await o.when(opened.id, ({ state, results }) => state === 'closed' && results.length > 1, 'the second', 60_000)
  interim = root.results.map(({ text }) => text ?? '').find((text) => text.includes('exchange_show: {')) ?? ''
  const out: string[] = []
  await runCli(['request', 'show', opened.id], {
    stdout: (text) => void out.push(text),
    stderr: () => {},
    env: { url: g.gateway.url, token: g.token, lang: 'en' },
    fetch: (url, init) => fetch(url, init),
    newId: () => 'key',
  })
  cli = out.join('')
  page = await (await g.api(`/requests/${opened.id}`, { headers: { 'accept-language': 'en' } })).text()
}, 200_000)
afterAll(async () => {
  vi.restoreAllMocks()
  await g.stop()
})

describe('a rejected approach that a compaction dropped', () => {
  const carried = () => resultsOf(root).join('\n')

  acceptance('A20', 'is listed as left out to whoever goes on, who reads the decision that stands', () => {
    expect(carried()).toContain(`- ${DECIDED}`)
    expect(carried()).toContain('Left out of it, though an earlier one said so')
    expect(carried()).toContain(`Tried and given up, with the reason: ${REJECTED}`)
    // What the newest one still says is no omission.
    expect(carried()).not.toContain('What binds the work: nothing is lost')
  })

  acceptance('A20', 'comes back whole by drill-down, in the brief that said it', () => {
    expect(interim, JSON.stringify(root.results)).toContain(json([REJECTED]))
    expect(root.briefs.map((brief) => brief.said?.tried)).toEqual([[REJECTED], []])
  })

  acceptance('A20', 'is the same picture in the API, on the page, in the terminal and in the chat', async () => {
    const [, newest] = root.briefs
    expect(newest?.leftOut).toEqual([{ part: 'tried', text: REJECTED }])
    expect(cli).toContain(`left out of it: tried: ${REJECTED}`)
    expect(cli).toContain(`decisions: ${DECIDED}`)
    expect(page).toContain('Said by an earlier one and left out of this one')
    expect(page).toContain(REJECTED.replaceAll('"', '&quot;'))
    const answers = await until(() => {
      const seen = o.answers(said)
      return seen.some((text) => text.includes('nightly dump')) ? seen : null
    }, 'the second answer')
    expect(answers.join('\n')).toContain('Left out of it')
  })

  acceptance('A20', 'neither brief counts as an answer: the asks were covered by what was reported', () => {
    expect(root.results.filter(({ kind }) => kind === 'result')).toHaveLength(2)
    expect(root.observations.filter(({ kind }) => kind === 'brief-saved')).toHaveLength(2)
  })
})
