import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placeOf, cursorOf } from '../../src/stores/views/cursor.js'
import { findDelivery, listDeliveries } from '../../src/stores/views/deliveries.js'
import { findRequest, listRequests, type RequestFilter } from '../../src/stores/views/requests.js'
import { stuckCounts, ingressCounts } from '../../src/stores/views/standing.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { webUnderTest } from './kit.js'
import { ask } from './seed.js'

const rows = 30_000
let fresh: FreshDb
let id: string
beforeAll(async () => {
  // One connection: the counters of a session are flushed by that session.
  fresh = await freshDb({ max: 1 })
  const { sql } = fresh.db
  id = await ask(webUnderTest(fresh.db).deps.exchange, { text: 'the oldest one', at: 1_000 })
  await sql`
    insert into collab.work_requests (id, bot, conversation, origin_channel, origin_message, opened_at)
    select 'r' || n, 'b', 'c' || n % 50, 'lark', 'm' || n, 2000 + n / 3 from generate_series(1, ${rows}::int) n`
  await sql`insert into collab.request_heads (request, revision, seq)
    select 'r' || n, 1, 1 from generate_series(1, ${rows}::int) n`
  await sql`
    insert into collab.observations (event_id, ordinal, request, seq, revision, actor, kind, v, payload, digest, evidence_refs, recorded_at)
    select 'e' || n, 0, 'r' || n, 1, 1, '{"kind":"host"}', 'cancel-acknowledged', 1, '{}', 'd', '[]', n from generate_series(1, ${rows}::int) n`
  await sql`
    insert into collab.deliveries (id, cause_kind, cause_id, route_key, route, bot, request, source, created_at, settled_at, outcome)
    select 'd' || n, 'result', 'c' || n, 'k', '{}', 'b', 'r' || n, '{}', n, n, 'verified' from generate_series(1, ${rows}::int) n`
  await sql`
    insert into collab.wakes (kind, subject, generation, due_at, state)
    select 'deliver', 'w' || n, 1, n, 'done' from generate_series(1, ${rows}::int) n`
  await sql`analyze`
})
afterAll(() => fresh.drop())

/** Rows read by scanning whole tables while `work` ran. */
async function scanned(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const { sql } = fresh.db
  const read = async () => {
    await sql`select pg_stat_force_next_flush()`
    await sql`select pg_stat_clear_snapshot()`
    return await sql<{ name: string; rows: number }[]>`
      select relname as name, seq_tup_read as rows from pg_stat_user_tables where schemaname = 'collab'`
  }
  const before = new Map((await read()).map((row) => [row.name, row.rows]))
  await work()
  return Object.fromEntries(
    (await read()).map((row) => [row.name, row.rows - (before.get(row.name) ?? 0)] as const).filter(([, n]) => n > 100),
  )
}

const filter = (over: Partial<RequestFilter>): RequestFilter => ({
  state: null,
  conversation: null,
  agent: null,
  after: null,
  limit: 20,
  bodies: 'all',
  ...over,
})

describe('views over many rows', () => {
  test.each([
    ['all', {}],
    ['failed ones', { state: 'failed' }],
    ['open ones', { state: 'open' }],
    ['one conversation', { conversation: 'c7' }],
    ['one agent', { agent: 'manager' }],
    ['a late page', { after: { at: 5_000, id: 'r9' } }],
  ] as const)('requests: %s by index alone', async (_name, over) => {
    const read = await scanned(() => listRequests(fresh.db.sql, filter(over)))
    expect(read).toEqual({})
  })

  test('one request and one delivery by index alone', async () => {
    const read = await scanned(async () => {
      expect(await findRequest(fresh.db.sql, id)).toMatchObject({ id, state: 'open' })
      expect(await findDelivery(fresh.db.sql, 'd77')).toMatchObject({ id: 'd77', state: 'verified' })
    })
    expect(read).toEqual({})
  })

  test.each([null, 'verified', 'failed', 'parked', 'planned', 'sending'] as const)(
    'deliveries by index alone: %s',
    async (state) => {
      const read = await scanned(() => listDeliveries(fresh.db.sql, { state, after: null, limit: 20 }))
      expect(read).toEqual({})
    },
  )

  test('deliveries page by page, equal times by id', async () => {
    const first = await listDeliveries(fresh.db.sql, { state: null, after: null, limit: 2 })
    expect(first.items.map((item) => item.id)).toEqual([`d${rows}`, `d${rows - 1}`])
    const after = placeOf(first.nextCursor ?? '')
    const second = await listDeliveries(fresh.db.sql, { state: 'verified', after, limit: 1 })
    expect(second.items.map((item) => item.id)).toEqual([`d${rows - 2}`])
  })

  test('a rare state is found in bounded steps, page after page, without a gap', async () => {
    const found: string[] = []
    let after: RequestFilter['after'] = null
    for (let pages = 0; ; pages++) {
      expect(pages).toBeLessThan(10)
      const page = await listRequests(fresh.db.sql, filter({ state: 'open', after, limit: 5 }))
      found.push(...page.items.map((item) => item.id))
      if (page.nextCursor === null) break
      after = placeOf(page.nextCursor)
    }
    expect(found).toEqual([id])
  })

  test('what stands still is counted by index alone', async () => {
    const read = await scanned(() => stuckCounts(fresh.db.sql, 1_000_000))
    expect(read).toEqual({})
  })

  test('counts say what stands still', async () => {
    await fresh.db
      .sql`insert into collab.wakes (kind, subject, generation, due_at, state) values ('deliver', 'd1', 1, 0, 'dead')`
    expect(await stuckCounts(fresh.db.sql, 10)).toMatchObject({ wakesDead: 1, deliveriesParked: 0, eventsOwed: 0 })
    expect(await ingressCounts(fresh.db.sql, 10)).toEqual({})
  })
})

describe('cursors', () => {
  test('name a place and nothing else is taken for one', () => {
    expect(placeOf(cursorOf({ at: 12, id: 'abc' }))).toEqual({ at: 12, id: 'abc' })
    for (const wrong of ['', 'x', 'MTI', 'LjE', '12.', "1.'; drop table"]) expect(placeOf(wrong)).toBeNull()
  })
})
