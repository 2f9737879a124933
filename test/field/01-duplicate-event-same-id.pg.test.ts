import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'
import { caseApp, caseEvents, caseIds, seedCaseWorld, staged } from './replay.js'

let p: Platform
let gateway: GatewayProcess
let said: ReturnType<typeof staged>
beforeAll(async () => {
  p = await openPlatform({
    app: caseApp,
    owners: false,
    env: { HOLD_MS: '3000', LARK_OWNER_OPEN_IDS: caseIds.owner },
  })
  await seedCaseWorld(p.served, p.db)
  gateway = await startProcess(p)
  const events = caseEvents('01-duplicate-event-same-id')
  expect(new Set(events.map((event) => JSON.stringify(event))).size).toBe(1)
  said = staged(p.served, must(events[0], 'the event'))
  const { world } = p.served.sandbox
  // Deliveries 1 and 2, then the process dies; 3 and 4 meet another one. The case has them an hour and six hours
  // later: no memory of the process is left in either, so the length of the pause adds nothing.
  world.pushEvent(said.envelope)
  await until(() => p.answers(caseIds.groupA).length > 0, 'the answer')
  world.pushEvent(said.envelope)
  await until(async () => (await sightings()) === 2, 'the second delivery')
  await gateway.kill()
  await gateway.start()
  world.pushEvent(said.envelope)
  await until(async () => (await sightings()) === 3, 'the third delivery')
  world.pushEvent(said.envelope)
  await until(async () => (await sightings()) === 4, 'the fourth delivery')
  await until(() => p.receipts(caseIds.groupA, said.message.id).length === 0, 'the end of the receipt')
  await p.quiet()
})
afterAll(async () => {
  await gateway.stop()
  await p.close()
})

/** Of this message alone: our own reactions come as events too. */
async function sightings(): Promise<number> {
  return (await seen()).length + (await again()).length
}

const seen = () => p.db.sql`select 1 from collab.ingress_events where kind = 'message'`
const again = () => p.db.sql`
  select 1 from collab.ingress_duplicates d join collab.ingress_events e on e.id = d.ingress where e.kind = 'message'`

describe('case 01, one event delivered four times', () => {
  test('one request stands for the message, and four sightings of which three are duplicates', async () => {
    const requests = await p.db.sql`select 1 from collab.work_requests`
    expect(requests).toHaveLength(1)
    expect(await seen()).toHaveLength(1)
    expect(await again()).toHaveLength(3)
  })

  test('one job, one run, one reply and one reaction', async () => {
    const wakes = await p.db.sql<{ generation: number }[]>`select generation from collab.wakes where kind = 'turn'`
    expect(wakes.map((wake) => wake.generation)).toEqual([1])
    expect(await p.db.sql`select 1 from collab.turns`).toHaveLength(1)
    expect(p.answers(caseIds.groupA)).toHaveLength(1)
    expect(await p.db.sql`select 1 from collab.reactions`).toHaveLength(1)
    const calls = p.served.sandbox.stats().calls
    const created = Object.entries(calls['reaction.create'] ?? {})
    expect(created.reduce((sum, [, count]) => sum + count, 0)).toBe(1)
  })

  test('one more that comes thirteen days later is still the same message', async () => {
    const aged = 13 * 24 * 60 * 60_000
    await p.db.sql`update collab.ingress_events set received_at = received_at - ${aged}::bigint where kind = 'message'`
    p.served.sandbox.world.pushEvent(said.envelope)
    await until(async () => (await sightings()) === 5, 'the fifth delivery')
    await p.quiet()
    expect(await p.db.sql`select 1 from collab.work_requests`).toHaveLength(1)
    expect(await p.db.sql`select 1 from collab.turns`).toHaveLength(1)
    expect(p.answers(caseIds.groupA)).toHaveLength(1)
  })
})
