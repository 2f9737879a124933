import { afterAll, beforeAll, describe, expect, vi } from 'vitest'
import { systemClock } from '../../src/app/chance.js'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { DAY } from '../../src/lib/time.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import type { SessionView } from '../../src/stores/views/sessions.js'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { handingOn, office, resultsOf } from './kit.js'

const PLAN = 'the archive moves on Wednesday, by night'
const REJECTED = 'moving it by day: given up, the readers need it'
const CORRECTION = 'Not on Wednesday: the lift is being mended until Friday.'
const CHANGED = 'the archive moves on Friday, since the lift is mended by then'
const json = (value: object) => JSON.stringify(value)
const save = (parts: object) => `save_brief ${json({ request: '$request', onRevision: '$revision', ...parts })}`

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
/** How far the gateway's clock is ahead of this machine's. */
let ahead = 0
let said: WorldMessage
let root: RequestView
let replaced: SessionView
let savedAt: number
let wentOnAt: number

beforeAll(async () => {
  vi.spyOn(systemClock, 'now').mockImplementation(() => Date.now() + ahead)
  const command = await scriptedAgent()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command('--no-resume') } })
  await o.hire('porter', 'knows the lift', command())
  const question = '!assess accepted it is my lift\n!report The lift carries two hundred kilos.'
  const asking = handingOn({ to: 'porter', question })
  said = o.say(
    `When does the archive move?\n!unless continued tool ${save({ decisions: [PLAN], tried: [REJECTED] })}\n${asking}`,
  )
  const opened = await o.opened(said)
  await o.when(opened.id, ({ state }) => state === 'closed', 'the plan', 60_000)
  await g.quiet(40_000)
  savedAt = systemClock.now()
  const sessions = (await o.get('/api/v1/sessions?live=true')) as { items: readonly SessionView[] }
  const own = must(
    sessions.items.find(({ agent }) => agent === 'manager'),
    'the session of the manager',
  )
  await o.post(`/api/v1/sessions/${own.id}/replace`, {})
  replaced = (await o.get(`/api/v1/sessions/${own.id}`)) as SessionView
  // Two days later, on another process: nothing is left but the ledger.
  ahead = 2 * DAY
  await g.restart()
  wentOnAt = systemClock.now()
  const text = [
    CORRECTION,
    '!assess accepted it is still mine',
    `!tool ${save({ decisions: [CHANGED], tried: [REJECTED] })}`,
    '!report $beside',
  ].join('\n')
  const response = await g.api(`/api/v1/requests/${opened.id}/revisions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'correct', 'if-match': '"1"' },
    body: json({ kind: 'correction', text }),
  })
  expect(response.status).toBe(200)
  root = await o.when(opened.id, ({ state, revision }) => state === 'closed' && revision === 2, 'the rest', 60_000)
  await g.quiet(40_000)
}, 240_000)
afterAll(async () => {
  vi.restoreAllMocks()
  await g.stop()
})

describe('a request that goes on two days later, in another session, by an injected clock', () => {
  const carried = () => resultsOf(root).join('\n')

  acceptance(
    'A13',
    'restates from the ledger what was decided and what was given up with its reason, nobody retypes it',
    () => {
      expect(carried()).toContain(`- ${PLAN}`)
      expect(carried()).toContain(`- ${REJECTED}`)
    },
  )

  acceptance('A13', 'dates what it was told: the brief is two days older than the turn that reads it', () => {
    const at = Date.parse(must(/Saved by yourself at (\S+?),/u.exec(carried())?.[1], 'the date of the brief'))
    expect(at).toBeLessThanOrEqual(savedAt)
    expect(wentOnAt - at).toBeGreaterThanOrEqual(2 * DAY)
  })

  acceptance('A13', 'the session was replaced on record, and the next one is another', async () => {
    expect(replaced.endedAt).not.toBeNull()
    const bound = await g.db.sql<{ session: string }[]>`
      select distinct b.session from collab.session_bindings b join collab.turns t on t.session = b.lane
      where t.request = ${root.id}`
    expect(bound.length).toBeGreaterThan(1)
  })

  acceptance('A13', 'the changed plan stands beside the former one, with the correction that explains it', () => {
    expect(root.briefs.map(({ said: brief }) => brief?.decisions)).toEqual([[PLAN], [CHANGED]])
    expect(root.asks.map(({ text }) => text).join('\n')).toContain(CORRECTION)
    expect(root.asks.every(({ state }) => state === 'covered')).toBe(true)
  })

  acceptance('A13', 'the answer comes to where it was asked, once', async () => {
    const answers = await until(() => {
      const seen = o.answers(said).filter((text) => text.includes(PLAN))
      return seen.length > 0 ? seen : null
    }, 'the answer')
    expect(answers).toHaveLength(1)
  })
})
