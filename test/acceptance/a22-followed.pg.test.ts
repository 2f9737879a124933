import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { activityOf } from '../../src/stores/turns/activity.js'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { follow, type Told } from './follow.js'
import { office } from './kit.js'

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
const folder = mkdtempSync(join(tmpdir(), 'followed-'))
/** What each of three watchers was told. */
let during: readonly Told[]
let late: readonly Told[]
let again: readonly Told[]
let root: RequestView
let answers: readonly string[]

const door = () => ({ url: g.gateway.url, token: g.token })

beforeAll(async () => {
  const command = await scriptedAgent()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command() } })
  const mark = join(folder, 'mark')
  const said = o.say(`!delay 1s\n!think\n!tool\n!await ${mark}\n!reply done late`)
  const opened = await o.opened(said)
  const first = await follow(door(), opened.id, null, ({ what, kind }) => what === 'activity' && kind === 'tool')
  during = first.told
  // Nobody listens while it goes on, and the process that told so far is gone when they come back.
  writeFileSync(mark, '')
  root = await o.when(opened.id, ({ state }) => state === 'closed', 'the end', 60_000)
  await g.quiet(40_000)
  await g.restart()
  const done = (told: Told) => told.kind === 'fence-released'
  const second = await follow(door(), opened.id, first.place, done)
  late = second.told
  again = (await follow(door(), opened.id, first.place, done)).told
  expect(second.opening).toEqual([])
  answers = o.answers(said)
}, 180_000)
afterAll(async () => {
  await g.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('an exchange that is followed while it runs', () => {
  acceptance(
    'A22',
    'what the runtime does is told as it happens, and is nothing but what its own events said',
    async () => {
      const turn = must(during.find(({ turn: of }) => of !== null)?.turn, 'the turn')
      const emitted = (await activityOf(g.db.sql, turn)).map(({ activity }) => activity)
      const told = [...during, ...late].filter(({ what }) => what === 'activity').map(({ kind }) => kind)
      expect(emitted).toEqual(['thinking', 'tool', 'answering'])
      expect(told).toEqual(emitted)
    },
  )

  acceptance(
    'A22',
    'whoever comes back is told the rest with its late end, each thing once, after a restart too',
    () => {
      const all = [...during, ...late]
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
      const seqs = all.flatMap(({ seq }) => (seq === null ? [] : [seq]))
      const missed = Math.min(...seqs)
      expect(seqs).toEqual(seqs.map((_, n) => missed + n))
      expect(root.observations.map(({ kind }) => kind).slice(missed - 1)).toEqual(
        all.filter(({ what }) => what === 'fact').map(({ kind }) => kind),
      )
    },
  )

  acceptance('A22', 'the same place told again gives the same things, by which a client knows them', () => {
    expect(again).toEqual(late)
  })

  acceptance('A22', 'following starts no turn again: one turn, one answer', async () => {
    expect(await g.db.sql`select 1 from collab.turns where request = ${root.id}`).toHaveLength(1)
    expect(answers).toHaveLength(1)
    expect(answers[0]).toContain('done late')
  })
})
