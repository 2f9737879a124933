import type { Observation } from '../../collab/observation.js'
import { operationsIn } from '../../collab/project/refusals.js'
import { requestView, type RequestView } from '../../collab/project/request-view.js'
import type { TurnTimes } from '../../collab/project/turns.js'
import type { Instant, RequestId } from '../../collab/refs.js'
import type { Db } from '../db.js'
import { factsOfMany, fold } from '../ledger/read.js'
import { cursorOf, newest, type Place } from './cursor.js'
import { deliveriesOfMany } from './deliveries.js'

export const requestStates = ['open', 'closed', 'failed'] as const
export type RequestState = (typeof requestStates)[number]

export interface RequestFilter {
  readonly state: RequestState | null
  readonly conversation: string | null
  /** A receiver that an attempt was assigned to. */
  readonly agent: string | null
  readonly after: Place | null
  readonly limit: number
  /** `asks` leaves the answers' bodies out: a list shows what was asked. */
  readonly bodies: 'all' | 'asks'
}

export interface RequestPage {
  readonly items: readonly RequestView[]
  /** Set while older rows may match: a page can be short, or even empty, before the end. */
  readonly nextCursor: string | null
}

interface Row {
  readonly id: string
  readonly openedAt: number
  readonly candidate: boolean
}

/** Rows looked at in one statement, and statements for one page: a rare state costs more pages, never a slow one. */
const scanRows = 2_000
const scanRounds = 3

/**
 * Newest first, by (opened at, id). State is folded from facts and stands in no column, so SQL only leaves out rows
 * that cannot match; the fold decides.
 */
export async function listRequests(sql: Db['sql'], filter: RequestFilter): Promise<RequestPage> {
  const items: RequestView[] = []
  let after = filter.after ?? newest
  for (let round = 0; round < scanRounds; round++) {
    const looked = filter.state === null && filter.agent === null ? filter.limit + 1 : scanRows
    const rows = await scan(sql, filter, after, looked)
    const candidates = rows.filter((row) => row.candidate)
    for (let from = 0; from < candidates.length; from += filter.limit) {
      const chunk = candidates.slice(from, from + filter.limit)
      const views = await findRequests(
        sql,
        chunk.map((row) => row.id),
        filter.bodies,
      )
      for (const view of views) {
        if (!matches(view, filter)) continue
        const last = items.at(-1)
        if (items.length === filter.limit && last !== undefined) {
          return { items, nextCursor: cursorOf({ at: last.openedAt, id: last.id }) }
        }
        items.push(view)
      }
    }
    const end = rows.at(-1)
    if (end === undefined || rows.length < looked) return { items, nextCursor: null }
    after = { at: end.openedAt, id: end.id }
  }
  return { items, nextCursor: cursorOf(after) }
}

function matches(view: RequestView, filter: RequestFilter): boolean {
  if (filter.state !== null && view.state !== filter.state) return false
  return filter.agent === null || view.attempts.some((attempt) => attempt.target === filter.agent)
}

async function scan(sql: Db['sql'], filter: RequestFilter, after: Place, limit: number): Promise<readonly Row[]> {
  const inConversation = filter.conversation === null ? sql`` : sql`and w.conversation = ${filter.conversation}`
  return await sql<Row[]>`
    select r.id, r.opened_at as "openedAt", ${mayBe(sql, filter.state)} and ${mayHave(sql, filter.agent)} as candidate from (
      select w.id, w.opened_at from collab.work_requests w
      where (w.opened_at, w.id) < (${after.at}, ${after.id}) ${inConversation}
      order by w.opened_at desc nulls last, w.id desc nulls last limit ${limit}
    ) r order by r.opened_at desc, r.id desc`
}

/**
 * False only for rows that certainly have another state. Scalar look-ups on purpose: `exists` here may be planned as a
 * hash over a whole table, a scalar one goes by the request's own index.
 */
function mayBe(sql: Db['sql'], state: RequestState | null) {
  switch (state) {
    case null:
    case 'closed':
      return sql`true`
    case 'failed':
      return sql`coalesce(
        (select true from collab.observations o where o.request = r.id and o.kind = 'failure-handed-over' limit 1),
        (select true from collab.deliveries d where d.request = r.id and d.outcome = 'failed' limit 1), false)`
    case 'open':
      return sql`coalesce(
        (select true from collab.deliveries d where d.request = r.id
          and (d.settled_at is null or d.outcome = 'parked') limit 1),
        (select true from collab.observations o where o.request = r.id and o.kind = 'result-withheld' limit 1),
        (select false from collab.observations o where o.request = r.id
          and o.revision = (select h.revision from collab.request_heads h where h.request = r.id)
          and (o.kind in ('cancel-acknowledged', 'request-rejected', 'request-continued')
            or (o.kind = 'result-committed' and o.payload #>> '{result,kind}' = 'result'
              and o.payload #> '{result,remainder}' = '[]'::jsonb)) limit 1), true)`
  }
}

function mayHave(sql: Db['sql'], agent: string | null) {
  if (agent === null) return sql`true`
  return sql`coalesce((select true from collab.observations o where o.request = r.id and o.kind = 'attempt-assigned'
    and o.payload #>> '{assigned,target}' = ${agent} limit 1), false)`
}

/** One request whole, or null. */
export async function findRequest(sql: Db['sql'], id: string): Promise<RequestView | null> {
  const [view] = await findRequests(sql, [id], 'all')
  return view ?? null
}

/** Composes the views of some requests, in the given order: five reads however many they are. */
export async function findRequests(
  sql: Db['sql'],
  ids: readonly string[],
  bodies: RequestFilter['bodies'],
): Promise<readonly RequestView[]> {
  if (ids.length === 0) return []
  const [facts, deliveries, wakes, times] = await Promise.all([
    factsOfMany(sql, ids),
    deliveriesOfMany(sql, ids),
    sql<{ request: string; nextWake: number | null }[]>`
      select request, next_wake as "nextWake" from collab.request_heads where request in ${sql([...ids])}`,
    sql<(TurnTimes & { request: string })[]>`
      select id, request, started_at as "acceptedAt", first_answer_at as "firstAnswerAt", ended_at as "endedAt"
      from collab.turns where request in ${sql([...ids])}`,
  ])
  const texts = await textsFor(sql, facts, bodies)
  return ids.flatMap((id) => {
    const own = facts.get(id) ?? []
    const wake = wakes.find((row) => row.request === id)?.nextWake ?? null
    const scopes = scopesOf(own)
    const textOf = (digest: string): string | null => {
      for (const scope of scopes) {
        const body = texts.get(`${scope}\u0000${digest}`)
        if (body !== undefined) return body
      }
      return null
    }
    const view = requestView(
      fold(id as RequestId, own),
      own,
      deliveries.get(id) ?? [],
      textOf,
      wake === null ? null : (wake as Instant),
      times.filter((row) => row.request === id),
    )
    return view === null ? [] : [view]
  })
}

/** The scopes in which a request's own words were stored. */
function scopesOf(facts: readonly Observation[]): ReadonlySet<string> {
  return new Set(
    facts.flatMap((fact) => {
      if (fact.kind === 'request-opened' || fact.kind === 'request-revised') return [fact.context.accessScope]
      return fact.kind === 'result-committed' ? [fact.result.accessScope] : []
    }),
  )
}

async function textsFor(
  sql: Db['sql'],
  facts: ReadonlyMap<string, readonly Observation[]>,
  bodies: RequestFilter['bodies'],
): Promise<ReadonlyMap<string, string>> {
  const digests = new Set<string>()
  for (const fact of [...facts.values()].flat()) {
    if (fact.kind === 'request-opened') for (const ask of fact.opened.asks) digests.add(ask.textDigest)
    if (fact.kind === 'request-revised') for (const ask of fact.revised.asks) digests.add(ask.textDigest)
    if (fact.kind === 'asks-split') for (const ask of fact.into) digests.add(ask.textDigest)
    if (bodies === 'all') for (const digest of operationsIn(fact)) digests.add(digest)
    if (fact.kind === 'brief-saved' && bodies === 'all') digests.add(fact.brief)
    if (fact.kind === 'result-committed' && bodies === 'all') {
      digests.add(fact.result.textDigest)
      if (fact.result.conclusionDigest !== null) digests.add(fact.result.conclusionDigest)
    }
  }
  if (digests.size === 0) return new Map()
  const rows = await sql<{ digest: string; scope: string; body: string }[]>`
    select digest, access_scope as scope, body from collab.texts
    where digest in ${sql([...digests])} and body is not null`
  return new Map(rows.map((row) => [`${row.scope}\u0000${row.digest}`, row.body]))
}
