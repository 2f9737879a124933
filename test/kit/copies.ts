import type postgres from 'postgres'

/** The n-th request that `loadCopies` has made. */
export const copyOf = (n: number): string => `load-${String(n).padStart(10, '0')}`

/** Rows of one statement: a bigger one would hold them all in memory. */
const STEP = 50_000

/**
 * Copies of the one request that stands in the database, made by Postgres itself: the same facts under other ids, so
 * that every fold reads what the code would write. A hundred share one conversation and one lane; each has its input and
 * its wake, settled and done, as nearly all of many have.
 *
 * @param of `from` counts, `to` does not
 */
export async function loadCopies(
  sql: postgres.Sql,
  of: { readonly from: number; readonly to: number; readonly facts: number },
): Promise<void> {
  const { facts } = of
  const [template] = await sql<{ id: string }[]>`
    select id from collab.work_requests where id not like 'load-%' limit 1`
  const id = template?.id ?? ''
  for (let { from } = of; from < of.to; from += STEP) {
    const to = Math.min(of.to, from + STEP) - 1
    const made = sql`select n, 'load-' || lpad(n::text, 10, '0') as id from generate_series(${from}::int, ${to}::int) n`
    await sql`
      insert into collab.work_requests
      select g.id, w.bot, 'c' || (g.n / 100), w.parent, w.origin_channel, 'om-' || g.id, w.opened_at + g.n
      from (${made}) g, collab.work_requests w where w.id = ${id}`
    await sql`insert into collab.request_heads (request, revision, seq)
      select g.id, 1, ${facts}::int from (${made}) g`
    await sql`
      insert into collab.observations
        (event_id, ordinal, request, seq, revision, attempt, actor, kind, v, payload, digest, evidence_refs, result_ref, recorded_at)
      select 'ev-' || g.id, f - 1, g.id, f, 1, null, o.actor,
        case when f = 1 then o.kind else 'receiver-waits' end, 1,
        case when f = 1 then replace(o.payload::text, ${id}, g.id)::jsonb
          else jsonb_build_object('agent', 'manager', 'because', 'busy') end,
        o.digest, o.evidence_refs, null, o.recorded_at + g.n
      from (${made}) g, generate_series(1, ${facts}::int) f, collab.observations o where o.request = ${id}`
    await sql`insert into collab.turn_inputs (request, lane, position, state, settled_at)
      select g.id, 'lane' || (g.n / 100), g.n, 'settled', 1 from (${made}) g`
    await sql`insert into collab.wakes (kind, subject, generation, due_at, state)
      select 'accept', g.id, 1, g.n, 'done' from (${made}) g`
  }
}
