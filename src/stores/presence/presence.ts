import type { SqlLike } from '../db.js'

export interface Presence {
  readonly firstAt: number
  readonly aliveAt: number
  readonly openedAt: number
  readonly askedAt: number | null
  readonly filledAt: number | null
  readonly missedAt: number | null
}

export interface Beat {
  readonly bot: string
  /** The last proof that events could come in. */
  readonly aliveAt: number
  readonly now: number
  /** The door was just opened: what lies before it is an absence. */
  readonly opened: boolean
}

/**
 * Says that the door of a bot is open, and records the absence that is over: before an opening since the last proof of
 * life, else since the last beat when the beats stopped.
 *
 * @returns the row, whether an absence was recorded, and when a door last brought anything
 * @source delivery In 5
 */
export async function beat(
  sql: SqlLike,
  b: Beat,
): Promise<Presence & { readonly returned: boolean; readonly lastEventAt: number | null }> {
  const [row] = await sql<(Presence & { returned: boolean; lastEventAt: number | null })[]>`
    with before as (
      select bot, case when ${b.opened} then alive_at else beaten_at end as from_at,
        ${b.opened} or beaten_at < ${b.now - ABSENT_AFTER_MS} as returned
      from collab.presence where bot = ${b.bot} for update
    ), absent as (
      insert into collab.absences (bot, from_at, until_at)
      select bot, from_at, ${b.now}::bigint from before where returned and from_at < ${b.now}
    ), put as (
      insert into collab.presence as p (bot, first_at, alive_at, beaten_at, opened_at)
      values (${b.bot}, ${b.now}, ${b.aliveAt}, ${b.now}, ${b.now})
      on conflict (bot) do update set
        alive_at = greatest(p.alive_at, excluded.alive_at), beaten_at = excluded.beaten_at,
        opened_at = case when (select returned from before) then excluded.opened_at else p.opened_at end
      returning *
    )
    select first_at as "firstAt", alive_at as "aliveAt", opened_at as "openedAt", asked_at as "askedAt",
      filled_at as "filledAt", missed_at as "missedAt",
      ${b.opened} or coalesce((select returned from before), true) as returned,
      (select received_at from collab.ingress_events where bot = ${b.bot} and door <> 'gap-fill'
        order by received_at desc limit 1) as "lastEventAt"
    from put`
  if (row === undefined) throw new Error('a presence was neither put nor found')
  return row
}

export async function presenceOf(sql: SqlLike, bot: string): Promise<Presence | null> {
  const [row] = await sql<Presence[]>`
    select first_at as "firstAt", alive_at as "aliveAt", opened_at as "openedAt", asked_at as "askedAt",
      filled_at as "filledAt", missed_at as "missedAt"
    from collab.presence where bot = ${bot}`
  return row ?? null
}

/** The histories shall be read: those of all places that were read before `at`. */
export async function askHistories(sql: SqlLike, bot: string, at: number): Promise<void> {
  await sql`update collab.presence set asked_at = greatest(asked_at, ${at}::bigint) where bot = ${bot}`
}

/** Every place was read for what was asked at `at`. */
export async function historiesRead(sql: SqlLike, bot: string, at: number): Promise<void> {
  await sql`update collab.presence set filled_at = greatest(filled_at, ${at}::bigint) where bot = ${bot}`
}

/** How far the platform's clock may stand from ours. */
const SKEW_MS = 2_000

/** Beats come far more often; after so long without one nothing could be stored. */
export const ABSENT_AFTER_MS = 20_000

/**
 * The end of the absence in which something was written; null when we were there. One that nobody has recorded yet ends
 * `now`: no beat has come since long before it was written.
 */
export async function absenceAt(sql: SqlLike, bot: string, writtenAt: number, now: number): Promise<number | null> {
  const [row] = await sql<{ untilAt: number | null }[]>`
    select greatest(
      (select max(until_at) from collab.absences
        where bot = ${bot} and until_at >= ${writtenAt - SKEW_MS} and from_at <= ${writtenAt + SKEW_MS}),
      (select ${now}::bigint from collab.presence
        where bot = ${bot} and beaten_at < ${writtenAt - ABSENT_AFTER_MS})) as "untilAt"`
  return row?.untilAt ?? null
}

/** Which of our own bots these are: each that ever opened a door here left its row. */
export async function ownBots(sql: SqlLike, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ bot: string }[]>`select bot from collab.presence where bot = any(${[...ids]})`
  return rows.map((row) => row.bot)
}
