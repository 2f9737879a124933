import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'
import { caseApp, caseEvents, caseIds, seedCaseWorld, staged } from './replay.js'

const { dm } = caseIds
let p: Platform
let gateway: GatewayProcess
let first: string
let second: string
let receiptAfterStart: readonly string[]
beforeAll(async () => {
  p = await openPlatform({ app: caseApp, owners: false, env: { LARK_OWNER_OPEN_IDS: caseIds.owner } })
  await seedCaseWorld(p.served, p.db)
  gateway = await startProcess(p)
  const { world } = p.served.sandbox
  const [one, two] = caseEvents('38-restart-mid-run')
  const task = staged(
    p.served,
    must(one, '1'),
    {},
    JSON.stringify({ text: 'long task\n!delay 2s\n!reply the task is done' }),
  )
  first = task.message.id
  world.pushEvent(task.envelope)
  await until(
    async () =>
      (await p.db.sql`select 1 from collab.turns where host_turn is not null and ended_at is null`).length === 1,
    'the turn',
  )
  await until(() => p.receipts(dm, first).includes('Get'), 'the receipt')
  await gateway.kill()
  // The replay of what was owed and the new message reach the same lane at once.
  await gateway.start()
  const news = staged(p.served, must(two, '2'), {}, JSON.stringify({ text: 'any news?\n!reply no news' }))
  second = news.message.id
  world.pushEvent(news.envelope)
  receiptAfterStart = p.receipts(dm, first)
  await until(() => p.answers(dm).some((answer) => answer.content.includes('no news')), 'all answers', 30_000)
  await p.quiet(30_000)
})
afterAll(async () => {
  await gateway.stop()
  await p.close()
})

describe('case 38, killed in the middle of a run', () => {
  test('the interrupted request is found and brought to its end; nothing is left running', async () => {
    const said = p.answers(dm).map((answer) => answer.content)
    expect(said.filter((text) => text.includes('the task is done'))).toHaveLength(1)
    expect(await p.db.sql`select 1 from collab.turns where ended_at is null`).toHaveLength(0)
    const turns = await p.db.sql<{ ended: string; because: string | null }[]>`
      select ended, because from collab.turns order by started_at`
    expect(turns[0]).toEqual({ ended: 'interrupted', because: 'holder-gone' })
    expect(turns.slice(1).every((turn) => turn.ended === 'completed')).toBe(true)
  })

  test('the replay and the new message take turns in one lane and one session', async () => {
    const lanes = await p.db.sql`select distinct lane from collab.turn_inputs`
    expect(lanes).toHaveLength(1)
    expect(await p.db.sql`select 1 from collab.session_bindings where ended_at is null`).toHaveLength(1)
    const overlapping = await p.db.sql`
      select 1 from collab.turns a join collab.turns b on a.lane = b.lane and a.id < b.id
      where a.started_at < b.ended_at and b.started_at < a.ended_at and a.because is distinct from 'holder-gone'
        and b.because is distinct from 'holder-gone'`
    expect(overlapping).toHaveLength(0)
    expect(gateway.log()).not.toMatch(/already exists/iu)
  })

  test('the receipt of the first outlives the kill and goes at the real end; so does that of the second', () => {
    expect(receiptAfterStart).toEqual(['Get'])
    for (const id of [first, second]) expect(p.receipts(dm, id)).toEqual([])
  })
})
