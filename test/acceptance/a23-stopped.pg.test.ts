import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import type { SessionView } from '../../src/stores/views/sessions.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { office } from './kit.js'

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
let first: RequestView
let second: RequestView
let said: readonly WorldMessage[]
let repeated: number

beforeAll(async () => {
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: (await scriptedAgent())() } })
  const [busy, never] = [join(g.dataDir, 'busy'), join(g.dataDir, 'never')]
  const one = o.say(`!mark ${busy}\n!await ${never}\n!reply never said`)
  await until(() => existsSync(busy), 'the turn', 40_000)
  const two = o.say('!reply the next one')
  const [opened, waiting] = [await o.opened(one), await o.opened(two)]
  const live = (await o.get('/api/v1/sessions?live=true')) as { items: readonly SessionView[] }
  const session = live.items.find(({ running }) => running !== null)
  const stop = async () =>
    (await g.api(`/api/v1/sessions/${session?.id}/stop`, { method: 'POST', headers: { 'idempotency-key': 's1' } }))
      .status
  expect(await stop()).toBe(200)
  await o.when(
    opened.id,
    ({ observations }) => observations.some(({ kind }) => kind === 'request-held'),
    'the stop',
    20_000,
  )
  // The same command once more, while the next turn may run.
  repeated = await stop()
  second = await o.when(waiting.id, ({ state }) => state === 'closed' || state === 'open', 'the next')
  await until(() => o.answers(two).length > 0, 'the next answer', 30_000)
  await g.quiet(40_000)
  first = await o.show(opened.id)
  second = await o.show(waiting.id)
  said = [one, two]
}, 150_000)
afterAll(() => g.stop())

const endings = (view: RequestView) =>
  view.observations.flatMap(({ kind, detail }) => (kind === 'turn-ended' ? [detail] : []))

describe('a stop of the turn that runs in one session', () => {
  acceptance('A23', 'ends that turn, covers nothing and says so; the request waits for its owner', () => {
    expect(endings(first)).toEqual(['interrupted: stop'])
    expect(first.results).toEqual([])
    expect(first.next).toMatchObject({ owner: 'owner', condition: 'word-of-owner' })
  })

  acceptance('A23', 'never hits a later turn, also when it is said again', () => {
    expect(repeated).toBe(200)
    expect(endings(second)).toEqual(['completed'])
  })

  acceptance('A23', 'what waited behind it is answered, once, and what was stopped is not', () => {
    const [one, two] = said
    expect(two === undefined ? [] : o.answers(two)).toHaveLength(1)
    const toFirst = one === undefined ? [] : o.answers(one)
    expect(toFirst.join('\n')).not.toContain('never said')
    // An operator stopped it: its owner hears that it waits, once, and how to go on.
    expect(toFirst).toHaveLength(1)
    expect(toFirst[0]).toMatch(/Stopped: the turn that was running has ended.*\/run/u)
  })
})
