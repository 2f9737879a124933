import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { settings } from '../../src/app/settings.js'
import { emojiNames } from '../../src/sandbox/emoji.js'
import { until, type TestGateway } from '../kit/gateway.js'
import { heldRecordingEnv, recordedPrompts } from '../kit/recording.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const folder = mkdtempSync(join(tmpdir(), 'lark-manager-holds-'))
let g: TestGateway
let said: ReturnType<typeof staged>
let placedMs: number
let promptsAtReceipt: number
let idBefore: string | null
let standing: readonly string[]
beforeAll(async () => {
  // The agent does not answer before the test says so: that stands for the 90 s of the case.
  writeFileSync(join(folder, 'hold-1'), '')
  g = await caseGateway({ env: heldRecordingEnv(folder) })
  const { world, faults, settled } = { ...g.served.sandbox }
  faults.add({ api: 'reaction.delete', times: 1, do: { kind: 'status', status: 500 } })
  said = staged(g.served, must(caseEvents('46-receipt-reaction-lifecycle')[0], 'the event'))
  const id = said.message.id
  world.pushEvent(said.envelope)
  await until(() => g.receipts(caseIds.groupA, id).length > 0, 'the receipt')
  promptsAtReceipt = recordedPrompts(g.dataDir).length
  const { saidAt, reactedAt } = must(g.served.sandbox.stats().reactions[id], 'its times')
  placedMs = must(reactedAt[0], 'the reaction') - saidAt
  await until(() => recordedPrompts(g.dataDir).length === 1, 'the turn')
  await g.restart()
  await until(() => recordedPrompts(g.dataDir).length === 2, 'the turn after the restart')
  idBefore = await reactionId()
  // The platform delivers the event again while the turn runs.
  world.pushEvent({ ...said.envelope, header: { ...said.envelope.header, event_id: 'evt_om_c46_again' } })
  await until(async () => (await g.db.sql`select 1 from collab.ingress_duplicates`).length >= 1, 'the second sighting')
  await settled()
  standing = g.receipts(caseIds.groupA, id)
  rmSync(join(folder, 'hold-1'))
  await until(() => g.answers(caseIds.groupA).length === 1, 'the answer')
  await until(() => g.receipts(caseIds.groupA, id).length === 0, 'the end of the receipt', 30_000)
  await g.quiet()
})
afterAll(async () => {
  await g.stop()
  rmSync(folder, { recursive: true, force: true })
})

const reactionId = async (): Promise<string | null> =>
  (await g.db.sql<{ id: string | null }[]>`select reaction_id as id from collab.reactions`)[0]?.id ?? null

describe('case 46, the life of a receipt', () => {
  test('it is placed under two seconds, before any work of the agent', () => {
    expect(placedMs).toBeLessThan(2_000)
    expect(promptsAtReceipt).toBe(0)
  })

  test('its id is stored and outlives the restart; a redelivery adds no second one', () => {
    expect(idBefore).not.toBeNull()
    expect(standing).toEqual(['Get'])
    expect(g.served.sandbox.stats().calls['reaction.create']).toEqual({ 0: 1 })
  })

  test('it stands until the last part is delivered, and a removal that fails is tried again', async () => {
    const calls = must(g.served.sandbox.stats().calls['reaction.delete'], 'calls')
    expect(calls).toEqual({ '-1': 1, 0: 1 })
    const [row] = await g.db.sql<{ state: string; settled: number }[]>`
      select state, settled_at as settled from collab.reactions`
    expect(row?.state).toBe('removed')
    const [delivered] = await g.db.sql<{ at: number }[]>`select max(settled_at) as at from collab.delivery_parts`
    expect(must(row, 'the reaction').settled).toBeGreaterThanOrEqual(must(delivered, 'the part').at)
    expect(await reactionId()).toBe(idBefore)
  })

  test('the names of our reactions are names of the platform', () => {
    for (const { fallback } of [settings.received, settings.failed]) expect(emojiNames.has(fallback)).toBe(true)
    expect(emojiNames.has('PROCESSING')).toBe(false)
  })
})
