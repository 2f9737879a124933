import type { SqlLike } from '../db.js'

/** One more thing that a runtime was seen to do. */
export async function noteActivity(
  sql: SqlLike,
  seen: {
    readonly turn: string
    readonly ordinal: number
    readonly request: string
    readonly activity: string
    readonly at: number
  },
): Promise<void> {
  await sql`
    insert into collab.turn_activity (turn, ordinal, request, activity, at)
    values (${seen.turn}, ${seen.ordinal}, ${seen.request}, ${seen.activity}, ${seen.at}) on conflict do nothing`
}

/** The runtime of a turn has begun to write its answer; the first time counts. */
export async function noteFirstAnswer(sql: SqlLike, turn: string, at: number): Promise<void> {
  await sql`update collab.turns set first_answer_at = ${at} where id = ${turn} and first_answer_at is null`
}

/** What was seen of a turn, in its order. */
export async function activityOf(
  sql: SqlLike,
  turn: string,
): Promise<readonly { readonly activity: string; readonly at: number }[]> {
  return await sql<{ activity: string; at: number }[]>`
    select activity, at from collab.turn_activity where turn = ${turn} order by ordinal`
}

/** Nobody follows a turn of long ago. */
export async function forgetOldActivity(sql: SqlLike, before: number): Promise<void> {
  await sql`delete from collab.turn_activity where at < ${before}`
}
