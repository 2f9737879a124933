import type { EffectiveProfile, SessionRef } from '../../collab/ports.js'
import type { SqlLike, Tx } from '../db.js'

/** Why a session ended that an operator has replaced. */
export const REPLACED = 'replaced-by-operator'

/** The runtime session that continues a lane, if one is bound. */
export async function sessionOf(sql: SqlLike, lane: string): Promise<SessionRef | null> {
  const [row] = await sql<{ runtime: string; id: string }[]>`
    select runtime, session as id from collab.session_bindings where lane = ${lane} and ended_at is null`
  return row ?? null
}

/** Binds a session to its lane; an earlier one is ended with the reason. Nothing changes when it is the same. */
export async function bindSession(
  sql: SqlLike,
  binding: {
    readonly id: string
    readonly lane: string
    readonly session: SessionRef
    readonly effective: EffectiveProfile
    readonly because: string
  },
  at: number,
): Promise<void> {
  await sql`
    update collab.session_bindings set ended_at = ${at}, because = ${binding.because}
    where lane = ${binding.lane} and ended_at is null
      and (runtime <> ${binding.session.runtime} or session <> ${binding.session.id})`
  await sql`
    insert into collab.session_bindings (id, lane, runtime, session, effective, bound_at)
    values (${binding.id}, ${binding.lane}, ${binding.session.runtime}, ${binding.session.id},
      ${JSON.stringify(binding.effective)}::text::jsonb, ${at})
    on conflict do nothing`
}

/** A binding, locked against whoever ends it at the same time; null when there is none of this id. */
export async function liveBinding(
  tx: Tx,
  id: string,
): Promise<{ readonly lane: string; readonly endedAt: number | null } | null> {
  const [row] = await tx<{ lane: string; endedAt: number | null }[]>`
    select lane, ended_at as "endedAt" from collab.session_bindings where id = ${id} for update`
  return row ?? null
}

/** How often an operator has replaced a session of this lane; in a transaction no further one comes until its end. */
export async function replacementsOf(sql: SqlLike, lane: string): Promise<number> {
  const rows = await sql<{ because: string | null }[]>`
    select because from collab.session_bindings where lane = ${lane} order by id for share`
  return rows.filter(({ because }) => because === REPLACED).length
}

export async function endBinding(sql: SqlLike, id: string, because: string, at: number): Promise<void> {
  await sql`update collab.session_bindings set ended_at = ${at}, because = ${because}
    where id = ${id} and ended_at is null`
}

/** The session of a lane that was ended last, and why; null when none ever was. */
export async function lastEnded(
  sql: SqlLike,
  lane: string,
): Promise<{ readonly session: SessionRef; readonly because: string | null } | null> {
  const [row] = await sql<{ runtime: string; id: string; because: string | null }[]>`
    select runtime, session as id, because from collab.session_bindings
    where lane = ${lane} and ended_at is not null order by ended_at desc limit 1`
  return row === undefined ? null : { session: { runtime: row.runtime, id: row.id }, because: row.because }
}
