import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import type { AskId, RequestId, Revision } from '../../src/collab/refs.js'
import { attachedInbox } from '../../src/stores/turns/inbox.js'
import { cursorOf } from '../../src/stores/views/cursor.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import {
  asksOf,
  attached,
  event,
  handOn,
  registered,
  rigOf,
  rootInTurn,
  stateOf,
  word,
  type Rig,
} from './agents-kit.js'

/** Entries that stand in one inbox. */
const ENTRIES = 10_000

let fresh: FreshDb
let rig: Rig
let seed: RequestId
const anna: ToolCaller = attached('anna')

beforeAll(async () => {
  fresh = await freshDb()
  rig = rigOf(fresh.db, [registered('anna')])
  const { request, manager } = await rootInTurn(rig, 'Please check all of them.')
  seed = await handOn(rig, manager, request, 'anna', {
    intent: 'consultation',
    question: 'Is this one right?',
    brief: 'One of many.',
  })
  await rig.tools.inboxRead(anna, { cursor: null, limit: 1 })
  await copied(seed, ENTRIES - 1)
})
afterAll(async () => {
  await fresh.drop()
})

/** Copies of one request with everything that is known of it, each under ids of its own. */
async function copied(request: RequestId, times: number): Promise<void> {
  const { sql } = fresh.db
  const [attempt] = [...(await stateOf(rig, request)).attempts.keys()]
  const [ask] = await asksOf(rig, request)
  const [origin] = await sql<{ id: string }[]>`
    select origin_message as id from collab.work_requests where id = ${request}`
  const named = [request, attempt, ask, origin?.id].map(String)
  for (const table of [
    'work_requests',
    'request_heads',
    'request_revisions',
    'semantic_contexts',
    'dispatch_attempts',
    'observations',
    'turn_inputs',
  ]) {
    const of = table === 'work_requests' ? sql`t.id` : sql`t.request`
    const renamed = named.reduce(
      (text, id) => sql`replace(${text}, ${id}, ${id.slice(0, 24)} || lpad(to_hex(n), 12, '0'))`,
      sql`to_jsonb(t)::text`,
    )
    const own =
      table === 'observations' ? sql`|| jsonb_build_object('event_id', md5(t.event_id || n)::uuid::text)` : sql``
    await sql`
      insert into ${sql(`collab.${table}`)}
      select copy.* from ${sql(`collab.${table}`)} t, generate_series(1, ${times}::int) n,
        jsonb_populate_record(null::${sql(`collab.${table}`)}, ${renamed}::jsonb ${own}) copy
      where ${of} = ${request}`
  }
  await sql`analyze`
}

/** The ids of the whole inbox, read in pages of the store. */
async function walked(limit: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let more = true; more;) {
    const places = await attachedInbox(fresh.db.sql, 'anna', ids.at(-1) ?? '', limit)
    ids.push(...places.map((place) => place.request))
    more = places.length === limit
  }
  return ids
}

describe(`an inbox of ${ENTRIES} entries`, () => {
  test('is read page by page, each entry once, the oldest first', async () => {
    const all = await walked(50)
    expect(all).toHaveLength(ENTRIES)
    expect(all).toEqual([...new Set(all)].toSorted())
    const pageAfter = (at: number) =>
      rig.tools.inboxRead(anna, { cursor: at === 0 ? null : cursorOf({ at: 0, id: all[at - 1] ?? '' }), limit: 50 })
    for (const at of [0, 50, ENTRIES / 2, ENTRIES - 60]) {
      const { items, nextCursor } = await pageAfter(at)
      expect(items.map((item) => item.request)).toEqual(all.slice(at, at + 50))
      expect(nextCursor).toBe(cursorOf({ at: 0, id: all[at + 49] ?? '' }))
      expect(items.every((item) => item.brief.includes('Is this one right?') && item.asks.length === 1)).toBe(true)
    }
    expect(await pageAfter(ENTRIES - 10)).toMatchObject({ items: Array(10).fill({}), nextCursor: null })
    expect(await pageAfter(ENTRIES)).toEqual({ items: [], nextCursor: null })
  })

  test('never gives more than a page, whatever is asked for', async () => {
    for (const limit of [ENTRIES, 51, Number.MAX_SAFE_INTEGER, Number.NaN, 0.5, -1]) {
      const { items } = await rig.tools.inboxRead(anna, { cursor: null, limit })
      expect(items.length).toBeLessThanOrEqual(50)
      expect(items[0]?.brief).toContain('Please check all of them.')
    }
    for (const cursor of ['', 'no cursor', randomUUID(), '\u0000', 'x'.repeat(10_000)]) {
      expect((await rig.tools.inboxRead(anna, { cursor, limit: 2 })).items).toHaveLength(2)
    }
  })

  test('goes on where it was, while entries leave it', async () => {
    const first = await rig.tools.inboxRead(anna, { cursor: null, limit: 3 })
    const [ask] = (await asksOf(rig, first.items[2]?.request as RequestId)) as [AskId]
    const said = { eventId: event(), request: first.items[2]?.request as RequestId, onRevision: 1 as Revision }
    const asks = [{ ask, judgment: 'rejected' as const, reason: 'a duplicate' }]
    expect(word(await rig.tools.assess(anna, { ...said, asks }))).toBe('accepted')
    const second = await rig.tools.inboxRead(anna, { cursor: first.nextCursor, limit: 3 })
    const again = await rig.tools.inboxRead(anna, { cursor: null, limit: 6 })
    const left = [...first.items.slice(0, 2), ...second.items].map((item) => item.request)
    expect(again.items.slice(0, 5).map((item) => item.request)).toEqual(left)
  })
})
