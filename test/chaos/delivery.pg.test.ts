import fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bot } from '../exchange/outgoing-kit.js'
import { seedIds } from '../../src/sandbox/seed.js'
import { expectArrived } from './oracle.js'
import { play } from './play.js'
import { deliverySchedule } from './schedule.js'
import { runs } from './told.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
  await fresh.db.sql`
    insert into collab.principals (bot, open_id, role, direct_chat, bound_at)
    values (${bot}, ${seedIds.alice}, 'owner', ${seedIds.dm}, 1)`
})
afterAll(() => fresh.drop())

describe('answers under random faults, deaths and clocks', () => {
  test('each part is shown once, in order and in its place, or stopped with a reason', async () => {
    await fc.assert(
      fc.asyncProperty(deliverySchedule(false), (schedule) => play(fresh.db, schedule)),
      runs(300),
    )
  }, 900_000)

  test('where nothing refuses, every part arrives', async () => {
    await fc.assert(
      fc.asyncProperty(deliverySchedule(true), (schedule) => play(fresh.db, schedule, expectArrived)),
      runs(200),
    )
  }, 900_000)
})
