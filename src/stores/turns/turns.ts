import type { EffectiveProfile } from '../../collab/ports.js'
import type { RequestId } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

export interface WaitingInput {
  readonly request: string
  readonly state: 'waiting' | 'held'
  readonly because: string | null
  readonly position: number
}

/** The next input of a lane that may run, in the order in which the messages were written. */
export async function nextInput(sql: SqlLike, lane: string): Promise<WaitingInput | null> {
  const [row] = await sql<WaitingInput[]>`
    select request, state, because, position from collab.turn_inputs
    where lane = ${lane} and state = 'waiting' order by position, request limit 1`
  return row ?? null
}

/** Further inputs of a lane that may run, in their order. */
export async function inputsBehind(
  sql: SqlLike,
  lane: string,
  request: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql<{ request: string }[]>`
    select request from collab.turn_inputs
    where lane = ${lane} and state = 'waiting' and request <> ${request} order by position, request limit ${limit}`
  return rows.map((row) => row.request)
}

/** Held inputs of a lane, oldest first. */
export async function heldInputs(sql: SqlLike, lane: string, because: string): Promise<readonly WaitingInput[]> {
  return await sql<WaitingInput[]>`
    select request, state, because, position from collab.turn_inputs
    where lane = ${lane} and state = 'held' and because = ${because} order by position, request`
}

/** Which of the held inputs of a lane came in last; null when none is held. */
export async function newestHeld(
  sql: SqlLike,
  lane: string,
  because: string,
): Promise<{ readonly request: string; readonly openedAt: number } | null> {
  const [row] = await sql<{ request: string; openedAt: number }[]>`
    select r.id as request, r.opened_at as "openedAt"
    from collab.turn_inputs i join collab.work_requests r on r.id = i.request
    where i.lane = ${lane} and i.state = 'held' and i.because = ${because}
    order by r.opened_at desc, r.id desc limit 1`
  return row ?? null
}

export async function inputOf(
  sql: SqlLike,
  request: string,
): Promise<{ lane: string; position: number; state: string; because: string | null } | null> {
  const [row] = await sql<{ lane: string; position: number; state: string; because: string | null }[]>`
    select lane, position, state, because from collab.turn_inputs where request = ${request}`
  return row ?? null
}

/** Ends an input whose request turned out to be closed. */
export async function settleInput(sql: SqlLike, request: string, because: string, at: number): Promise<void> {
  await sql`update collab.turn_inputs set state = 'settled', because = ${because}, settled_at = ${at}
    where request = ${request} and state <> 'settled'`
}

/** Keeps an input out of the lane's order until something wakes it. */
export async function holdInput(sql: SqlLike, request: string, because: string): Promise<void> {
  await sql`update collab.turn_inputs set state = 'held', because = ${because} where request = ${request} and state = 'waiting'`
}

/** Lets one input that failed run again. */
export async function reviveInput(sql: SqlLike, request: string): Promise<number> {
  const rows = await sql`update collab.turn_inputs set state = 'waiting', because = null
    where request = ${request} and state = 'held' and because = 'failed' returning 1`
  return rows.length
}

/** Lets inputs that failed for good run again: an operator replayed the job. Returns how many. */
export async function reviveFailed(sql: SqlLike, lane: string): Promise<number> {
  const rows = await sql`update collab.turn_inputs set state = 'waiting', because = null
    where lane = ${lane} and state = 'held' and because = 'failed' returning 1`
  return rows.length
}

export interface TurnRow {
  readonly id: string
  readonly lane: string
  readonly request: string
  readonly attempt: string
  readonly revision: number
  readonly runtime: string
  readonly holder: string
  readonly fence: number
  /** Which of the lane's sessions it runs in. */
  readonly session?: string
  readonly startedAt: number
}

/** Written before the runtime is called; the index `one_running_turn_per_session` refuses a second one. */
export async function startTurn(sql: SqlLike, turn: TurnRow): Promise<void> {
  await sql`
    insert into collab.turns (id, lane, request, attempt, revision, runtime, holder, fence, session, started_at)
    values (${turn.id}, ${turn.lane}, ${turn.request}, ${turn.attempt}, ${turn.revision}, ${turn.runtime},
      ${turn.holder}, ${turn.fence}, ${turn.session ?? null}, ${turn.startedAt})`
}

export async function noteHostTurn(
  sql: SqlLike,
  id: string,
  hostTurn: string,
  effective: EffectiveProfile,
): Promise<void> {
  await sql`update collab.turns set host_turn = ${hostTurn}, effective = ${JSON.stringify(effective)}::text::jsonb where id = ${id}`
}

export async function endTurnRow(
  sql: SqlLike,
  id: string,
  ended: string,
  because: string | null,
  at: number,
): Promise<void> {
  await sql`update collab.turns set ended_at = ${at}, ended = ${ended}, because = ${because}
    where id = ${id} and ended_at is null`
}

export interface OpenTurn {
  readonly id: string
  readonly request: string
  readonly attempt: string
  readonly session: string | null
  /** The mark that asked it to end; null: none did. */
  readonly stoppedBy: string | null
}

/** Turns of a lane that nobody ended: their holder is gone, or they would hold the lane's claim. */
export async function openTurns(sql: SqlLike, lane: string): Promise<readonly OpenTurn[]> {
  return await sql<OpenTurn[]>`
    select id, request, attempt, session, stopped_by as "stoppedBy" from collab.turns where lane = ${lane} and ended_at is null`
}

/** Whether a turn of a request has begun and not ended. */
export async function hasOpenTurn(sql: SqlLike, request: string): Promise<boolean> {
  const rows = await sql`select 1 from collab.turns where request = ${request} and ended_at is null limit 1`
  return rows.length > 0
}

/** How many turns this attempt has had: the next one's number. */
export async function turnsOfAttempt(sql: SqlLike, attempt: string): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`select count(*)::int as count from collab.turns where attempt = ${attempt}`
  return row?.count ?? 0
}

/** What else waits in a lane, beside one request. */
export async function waitingRequests(
  sql: SqlLike,
  lane: string,
  except: string,
): Promise<readonly { count: number }[]> {
  const rows = await sql<{ count: number }[]>`
    select count(*)::int as count from collab.turn_inputs
    where lane = ${lane} and state = 'waiting' and request <> ${except}`
  return rows.filter((row) => row.count > 0)
}

/** What the runtime said was in force in a turn; null when it has not begun or is unknown. */
export async function profileOfTurn(sql: SqlLike, id: string): Promise<EffectiveProfile | null> {
  const [row] = await sql<{ effective: EffectiveProfile | null }[]>`
    select effective from collab.turns where id = ${id}`
  return row?.effective ?? null
}

/** Which of the lane's sessions turns ran in, by their ids. */
export async function sessionsOfTurns(
  sql: SqlLike,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; session: string | null }[]>`
    select id, session from collab.turns where id = any(${[...ids]})`
  return new Map(rows.map(({ id, session }) => [id, session]))
}

/** The request that a turn works on; null for one that nobody started. */
export async function requestOfTurn(sql: SqlLike, id: string): Promise<RequestId | null> {
  const [row] = await sql<{ request: RequestId }[]>`select request from collab.turns where id = ${id}`
  return row?.request ?? null
}
