import { expect } from 'vitest'
import type { ExchangeState } from '../../src/collab/exchange-state.js'
import type { Db } from '../../src/stores/db.js'

/** The rows that guard races and that views read say what the facts say: no second state beside them. */
export async function expectRowsOf({ sql }: Db, state: ExchangeState): Promise<void> {
  const request = state.id
  const [head] = await sql`select revision, seq from collab.request_heads where request = ${request}`
  expect(head).toEqual({ revision: state.head, seq: state.seq })
  const revisions = await sql<{ revision: number }[]>`
    select revision from collab.request_revisions where request = ${request} order by revision`
  expect(revisions.map((row) => row.revision)).toEqual(Array.from({ length: state.head }, (_, n) => n + 1))
  const contexts = await sql<{ revision: number }[]>`
    select revision from collab.semantic_contexts where request = ${request} order by revision`
  expect(contexts).toEqual(revisions)
  const attempts = await sql<{ id: string; revision: number; released: boolean }[]>`
    select id, revision, fence_released_at is not null as released
    from collab.dispatch_attempts where request = ${request} order by id`
  expect([...attempts]).toEqual(
    [...state.attempts.values()]
      .map(({ id, revision, released }) => ({ id, revision, released: released !== null }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  )
  const results = await sql<{ id: string; covers: string[] }[]>`
    select id, covers from collab.results where request = ${request} order by id`
  expect([...results]).toEqual(
    state.results.map(({ id, covers }) => ({ id, covers })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  )
  const effects = await sql<{ id: string }[]>`
    select id from collab.effect_intents where request = ${request} order by id`
  expect(effects.map((row) => row.id)).toEqual([...state.effects.keys()].toSorted())
  const events = await sql<{ dense: boolean; digests: number }[]>`
    select max(ordinal) = count(*) - 1 as dense, count(distinct digest)::int as digests
    from collab.observations where request = ${request} group by event_id`
  for (const event of events) expect(event).toEqual({ dense: true, digests: 1 })
}
