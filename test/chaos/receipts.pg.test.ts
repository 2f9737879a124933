import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seedIds } from '../../src/sandbox/seed.js'
import { bot } from '../exchange/outgoing-kit.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { play } from './play.js'
import { receiptSchedule } from './schedule.js'
import { runs } from './told.js'
import type { World } from './world.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
  await fresh.db.sql`
    insert into collab.principals (bot, open_id, role, direct_chat, bound_at)
    values (${bot}, ${seedIds.alice}, 'owner', ${seedIds.dm}, 1)`
})
afterAll(() => fresh.drop())

/** At no moment did a message show the same sign of ours twice, and none went that we had not placed. */
async function expectOneSign(world: World): Promise<void> {
  const standing = new Map<string, number>()
  for (const { kind, messageId, emoji } of world.reactions) {
    const sign = `${messageId} ${emoji}`
    const now = (standing.get(sign) ?? 0) + (kind === 'reaction-added' ? 1 : -1)
    expect(now, sign).toBeGreaterThanOrEqual(0)
    expect(now, sign).toBeLessThanOrEqual(1)
    standing.set(sign, now)
  }
}

test('a receipt comes once and goes once, whatever fails, and the answer never suffers', async () => {
  await fc.assert(
    fc.asyncProperty(receiptSchedule, (schedule) => play(fresh.db, schedule, expectOneSign)),
    runs(150),
  )
}, 900_000)
