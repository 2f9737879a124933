import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changesSince, cursorNow, isCursor } from '../../src/stores/views/changes.js'
import { noteActivity } from '../../src/stores/turns/activity.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { boundedRuns } from '../kit/runs.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb({ max: 12 })
})
afterAll(() => fresh.drop())

const LIMIT = 1_000
const activity = (turn: string, ordinal: number, request = 'r') => ({
  turn,
  ordinal,
  request,
  activity: 'tool',
  at: ordinal,
})

let rounds = 0

describe('what changed since a snapshot', () => {
  test('each change comes exactly once, in whatever order transactions begin, commit or fail, and whoever looks between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ steps: fc.integer({ min: 0, max: 5 }), fails: fc.boolean() }), {
          minLength: 1,
          maxLength: 6,
        }),
        fc.infiniteStream(fc.nat()),
        async (writers, choice) => {
          const turn = `t${rounds++}`
          const begun = await cursorNow(fresh.db.sql)
          const expected = new Set<string>()
          // Each writer opens its transaction, writes, and waits until it is chosen to end.
          const open = await Promise.all(
            writers.map(async ({ fails }, n) => {
              const connection = await fresh.db.sql.reserve()
              await connection.unsafe('begin')
              await noteActivity(connection, activity(turn, n))
              if (!fails) expected.add(`${turn}-${n}`)
              return { end: () => connection.unsafe(fails ? 'rollback' : 'commit'), connection }
            }),
          )
          const seen: string[] = []
          let cursor = begun
          const look = async () => {
            const news = await changesSince(fresh.db.sql, cursor, null, LIMIT)
            if (news === null) throw new Error('the place was lost')
            cursor = news.cursor
            seen.push(...news.changes.map((change) => change.id))
          }
          while (open.length > 0) {
            const [next] = open.splice((choice.next().value ?? 0) % open.length, 1)
            await next?.end()
            next?.connection.release()
            if ((choice.next().value ?? 0) % 2 === 0) await look()
          }
          await look()
          await look()
          expect([...seen].sort()).toEqual([...expected].sort())
        },
      ),
      boundedRuns(40),
    )
  })

  test('a place of another database, or one too far back, is not known', async () => {
    const here = await cursorNow(fresh.db.sql)
    expect(await changesSince(fresh.db.sql, '999999999:999999999:', null, LIMIT)).toBeNull()
    for (const n of [1, 2, 3]) await noteActivity(fresh.db.sql, activity('far', n))
    expect(await changesSince(fresh.db.sql, here, null, 2)).toBeNull()
    expect((await changesSince(fresh.db.sql, here, null, 3))?.changes).toHaveLength(3)
  })

  test.each(['', '1', '1:2', 'a:b:', '1:2:3,', `1:2:${'3,'.repeat(3_000)}3`, "1:2:'; drop table"])(
    '%j is no place',
    (text) => {
      expect(isCursor(text)).toBe(false)
    },
  )
})
