import type { SqlLike } from '../db.js'
import type { WakeKind, WakeRef } from '../../collab/ports.js'

export type Claim =
  | {
      readonly claimed: true
      readonly fence: number
      readonly generation: number
      readonly from: 'pending' | 'dead' | 'running'
    }
  | { readonly claimed: false; readonly because: 'done' | 'held' | 'unknown' }

/**
 * Puts a wake, or raises its generation. While the subject is held its state stays `running`: the holder's end puts
 * the next wake, so nothing is stranded.
 */
export async function putWake(sql: SqlLike, kind: WakeKind, subject: string, dueAt: number): Promise<WakeRef> {
  const [row] = await sql<{ generation: number }[]>`
    insert into collab.wakes as w (kind, subject, generation, due_at, state)
    values (${kind}, ${subject}, 1, ${dueAt}, 'pending')
    on conflict (kind, subject) do update set
      generation = w.generation + 1,
      due_at = case when w.state = 'pending' then least(w.due_at, excluded.due_at) else excluded.due_at end,
      state = case when w.state = 'running' then 'running' else 'pending' end,
      enqueued_at = null
    returning generation`
  return { kind, subject, generation: row?.generation ?? 1 }
}

/** Takes the subject when something is owed and nobody holds it. A `dead` one is taken: a replay really runs again. */
export async function claimWake(
  sql: SqlLike,
  kind: WakeKind,
  subject: string,
  holder: string,
  now: number,
  holdMs: number,
): Promise<Claim> {
  const [row] = await sql<{ before: string; fence: number | null; generation: number | null }[]>`
    with seen as (
      select state, held_until from collab.wakes where kind = ${kind} and subject = ${subject} for update
    ), taken as (
      update collab.wakes w set state = 'running', holder = ${holder}, held_until = ${now + holdMs}::bigint, fence = fence + 1
      from seen
      where w.kind = ${kind} and w.subject = ${subject}
        and (seen.state in ('pending', 'dead') or (seen.state = 'running' and seen.held_until < ${now}))
      returning w.fence, w.generation
    )
    select seen.state as before, taken.fence, taken.generation from seen left join taken on true`
  if (row === undefined) return { claimed: false, because: 'unknown' }
  if (row.fence !== null && row.generation !== null) {
    return {
      claimed: true,
      fence: row.fence,
      generation: row.generation,
      from: row.before as 'pending' | 'dead' | 'running',
    }
  }
  return { claimed: false, because: row.before === 'done' ? 'done' : 'held' }
}

/** Lengthens a hold; false when it was lost to another holder. */
export async function renewWake(
  sql: SqlLike,
  kind: WakeKind,
  subject: string,
  fence: number,
  until: number,
): Promise<boolean> {
  const rows = await sql`
    update collab.wakes set held_until = ${until}
    where kind = ${kind} and subject = ${subject} and fence = ${fence} and state = 'running' returning 1`
  return rows.length > 0
}

/**
 * Ends a hold. When the generation was raised meanwhile the wake is pending again: it is returned to be kicked, one
 * generation up once more, because the job of the raised one may have run already and found the subject held.
 */
export async function settleWake(
  sql: SqlLike,
  kind: WakeKind,
  subject: string,
  claim: { readonly fence: number; readonly generation: number },
  now: number,
): Promise<WakeRef | null> {
  const [row] = await sql<{ state: string; generation: number }[]>`
    update collab.wakes set
      state = case when generation = ${claim.generation} then 'done' else 'pending' end,
      generation = case when generation = ${claim.generation} then generation else generation + 1 end,
      due_at = case when generation = ${claim.generation} then due_at else ${now}::bigint end,
      holder = null, held_until = null, enqueued_at = null, last_error = null
    where kind = ${kind} and subject = ${subject} and fence = ${claim.fence} and state = 'running'
    returning state, generation`
  return row?.state === 'pending' ? { kind, subject, generation: row.generation } : null
}

/**
 * Gives a hold back unfinished: it runs again at `dueAt`, or when a wake that came meanwhile is due; that one is
 * returned to be kicked.
 */
export async function releaseWake(
  sql: SqlLike,
  kind: WakeKind,
  subject: string,
  claim: { readonly fence: number; readonly generation: number },
  dueAt: number,
  lastError: string | null,
): Promise<WakeRef | null> {
  const [row] = await sql<{ generation: number }[]>`
    update collab.wakes set state = 'pending', holder = null, held_until = null, last_error = ${lastError},
      due_at = case when generation = ${claim.generation} then ${dueAt}::bigint else least(due_at, ${dueAt}::bigint) end,
      generation = case when generation = ${claim.generation} then generation else generation + 1 end
    where kind = ${kind} and subject = ${subject} and fence = ${claim.fence} and state = 'running'
    returning generation`
  return row === undefined || row.generation === claim.generation ? null : { kind, subject, generation: row.generation }
}

/** Ends a hold for good: `dead`, until somebody replays the job. A raised generation is pending again and returned. */
export async function failWake(
  sql: SqlLike,
  kind: WakeKind,
  subject: string,
  claim: { readonly fence: number; readonly generation: number },
  lastError: string,
  now: number,
): Promise<WakeRef | null> {
  const [row] = await sql<{ state: string; generation: number }[]>`
    update collab.wakes set
      state = case when generation = ${claim.generation} then 'dead' else 'pending' end,
      generation = case when generation = ${claim.generation} then generation else generation + 1 end,
      due_at = case when generation = ${claim.generation} then due_at else ${now}::bigint end,
      holder = null, held_until = null, enqueued_at = null, last_error = ${lastError}
    where kind = ${kind} and subject = ${subject} and fence = ${claim.fence} and state = 'running'
    returning state, generation`
  return row?.state === 'pending' ? { kind, subject, generation: row.generation } : null
}

/** What a process of this installation held when it died: pending again, one generation up. Returned to be kicked. */
export async function recoverHeld(sql: SqlLike, holder: string, now: number): Promise<readonly WakeRef[]> {
  return await sql<{ kind: WakeKind; subject: string; generation: number }[]>`
    update collab.wakes set state = 'pending', generation = generation + 1, due_at = ${now}::bigint, holder = null,
      held_until = null, enqueued_at = ${now}::bigint
    where state = 'running' and holder = ${holder} returning kind, subject, generation`
}

/** Due rows that nobody looked at for the grace time, and rows whose holder is gone; oldest first, never `dead` ones. */
export async function owedWakes(
  sql: SqlLike,
  now: number,
  graceMs: number,
  limit: number,
): Promise<readonly WakeRef[]> {
  return await sql<{ kind: WakeKind; subject: string; generation: number }[]>`
    select kind, subject, generation from collab.wakes
    where (state = 'pending' and due_at <= ${now - graceMs} and coalesce(enqueued_at, 0) <= ${now - graceMs})
       or (state = 'running' and held_until < ${now})
    order by due_at limit ${limit}`
}

/** Marks rows whose job is known to be alive, so that the next rounds look at others first. */
export async function markKnown(sql: SqlLike, wakes: readonly WakeRef[], now: number): Promise<void> {
  if (wakes.length === 0) return
  await sql`
    update collab.wakes w set enqueued_at = ${now}
    from jsonb_to_recordset(${JSON.stringify(wakes)}::text::jsonb) as k(kind text, subject text, generation int)
    where w.kind = k.kind and w.subject = k.subject and w.generation = k.generation`
}

/** Raises the generation of rows whose job is lost, under the conditions that made them owed. */
export async function raiseLost(sql: SqlLike, wakes: readonly WakeRef[], now: number): Promise<readonly WakeRef[]> {
  if (wakes.length === 0) return []
  return await sql<{ kind: WakeKind; subject: string; generation: number }[]>`
    update collab.wakes w set generation = w.generation + 1, state = 'pending', enqueued_at = ${now}::bigint, holder = null, held_until = null
    from jsonb_to_recordset(${JSON.stringify(wakes)}::text::jsonb) as k(kind text, subject text, generation int)
    where w.kind = k.kind and w.subject = k.subject and w.generation = k.generation
      and (w.state = 'pending' or (w.state = 'running' and w.held_until < ${now}))
    returning w.kind, w.subject, w.generation`
}
