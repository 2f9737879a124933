import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { sha256 } from '../../src/lib/digest.js'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { handingOn, office, resultsOf } from './kit.js'

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
let said: WorldMessage
let root: RequestView
let child: RequestView

beforeAll(async () => {
  const command = await scriptedAgent()
  const env = { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command('--no-resume') }
  g = await testGateway({ env })
  await o.hire('counter', 'counts chairs', command())
  const question = '!assess accepted $origins\n!report Forty chairs stand in the hall.'
  said = o.say(`How many chairs stand in the hall?\n${handingOn({ to: 'counter', question })}`)
  const opened = await o.opened(said)
  await o.when(opened.id, ({ state }) => state === 'closed', 'the first answer', 60_000)
  await g.quiet(40_000)
  // Nothing of the manager’s process or session is left.
  await g.restart()
  const text = 'And the tables?\n!turn\n!assess accepted mine\n!report Recalled: $recalled'
  const response = await g.api(`/api/v1/requests/${opened.id}/revisions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'correct', 'if-match': '"1"' },
    body: JSON.stringify({ kind: 'correction', text: text.replace('Recalled: ', '') }),
  })
  expect(response.status).toBe(200)
  root = await o.when(opened.id, ({ state, results }) => state === 'closed' && results.length > 1, 'the second', 60_000)
  child = must((await o.children(root.id))[0], 'the child')
  await g.quiet(40_000)
}, 240_000)
afterAll(() => g.stop())

describe('a request that goes on in another session of the manager', () => {
  acceptance('A13', 'shows it what an agent had brought back, with its digest and where the whole is read', () => {
    const [, recalled] = resultsOf(root)
    const [brought] = resultsOf(child)
    expect(recalled).toContain(`from counter, request ${child.id} (resolved)`)
    expect(recalled).toContain(must(brought, 'what was brought'))
    expect(recalled).toContain(sha256(must(brought, 'what was brought')))
    // It was a session of its own: its first turn.
    expect(root.results.map(({ text }) => text).join('\n')).toContain('This is turn 1 of this session.')
  })

  acceptance('A8', 'tells the owner both answers in order, the second as one that updates the first', async () => {
    const answers = await until(() => {
      const seen = o.answers(said)
      return seen.length >= 2 ? seen : null
    }, 'both answers')
    const [first = '', second = ''] = answers.filter((text) => !text.includes('ask_agent'))
    expect(first).toContain('Forty chairs')
    expect(first).not.toContain('updates')
    expect(second).toContain('This updates the earlier answer:')
    const [before, after] = root.results.filter(({ kind }) => kind === 'result')
    expect(after?.supersedes).toBe(before?.id)
  })
})
