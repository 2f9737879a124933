import { evolve, unopened, type ExchangeState } from '../../collab/exchange-state.js'
import type { Observation } from '../../collab/observation.js'
import type { EventId, RequestId, Revision, Seq } from '../../collab/refs.js'
import type { SqlLike, Tx } from '../db.js'
import { decode, type StoredFact } from './codec.js'

/** What an earlier run of the same command left. */
export interface PriorReceipt {
  readonly digest: string
  readonly seq: Seq
  readonly revision: Revision
}

const columns = `event_id as "eventId", ordinal, request, seq, revision, attempt, actor, kind, v, payload,
  recorded_at as "recordedAt"`

/**
 * Locks the head of one request, so that nothing else decides over it until the transaction ends. A request that
 * does not exist yet has no head: two openings meet at the unique indexes instead.
 */
export async function lockHead(tx: Tx, request: RequestId): Promise<void> {
  await tx`select 1 from collab.request_heads where request = ${request} for update`
}

/** Folds one exchange and looks for an earlier run of the command, in one read. */
export async function foldWithPrior(
  tx: SqlLike,
  request: RequestId,
  eventId: EventId,
): Promise<{ readonly state: ExchangeState; readonly prior: PriorReceipt | null }> {
  const rows = await tx<(StoredFact & { digest: string })[]>`
    select ${tx.unsafe(columns)}, digest from collab.observations
    where request = ${request} or event_id = ${eventId}
    order by seq`
  const own = rows.filter((row) => row.request === request)
  const said = rows.filter((row) => row.eventId === eventId).at(-1)
  return {
    state: fold(request, own.map(decode)),
    prior:
      said === undefined ? null : { digest: said.digest, seq: said.seq as Seq, revision: said.revision as Revision },
  }
}

/** The facts of one request, in order. */
export async function factsOf(sql: SqlLike, request: RequestId): Promise<readonly Observation[]> {
  const rows = await sql<StoredFact[]>`
    select ${sql.unsafe(columns)} from collab.observations where request = ${request} order by seq`
  return rows.map(decode)
}

/** The facts of several requests, each in order. */
export async function factsOfMany(
  sql: SqlLike,
  requests: readonly string[],
): Promise<ReadonlyMap<string, readonly Observation[]>> {
  const rows = await sql<StoredFact[]>`
    select ${sql.unsafe(columns)} from collab.observations where request = any(${[...requests]}) order by request, seq`
  const grouped = new Map<string, Observation[]>()
  for (const row of rows) {
    const list = grouped.get(row.request) ?? []
    list.push(decode(row))
    grouped.set(row.request, list)
  }
  return grouped
}

export function fold(request: RequestId, facts: readonly Observation[]): ExchangeState {
  return facts.reduce(evolve, unopened(request))
}

export async function stateOfRequest(sql: SqlLike, request: RequestId): Promise<ExchangeState> {
  return fold(request, await factsOf(sql, request))
}

/** Bodies by digest within one access scope; an erased or unknown one is missing from the map. */
export async function textsOf(
  sql: SqlLike,
  digests: readonly string[],
  accessScope: string,
): Promise<ReadonlyMap<string, string>> {
  if (digests.length === 0) return new Map()
  const rows = await sql<{ digest: string; body: string | null }[]>`
    select digest, body from collab.texts where digest = any(${[...digests]}) and access_scope = ${accessScope}`
  return new Map(rows.flatMap((row) => (row.body === null ? [] : [[row.digest, row.body] as const])))
}
