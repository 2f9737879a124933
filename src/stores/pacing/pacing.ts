import { earlyMs } from '../../collab/decide/send.js'
import type { CauseKind } from '../../collab/delivery.js'
import type { SqlLike } from '../db.js'

/**
 * One limited resource. A call may start at `next − burstMs`; each call moves `next` on by `intervalMs` (GCRA).
 *
 * A call needs all its resources, level by level from the lowest: where one of a level is late, the call keeps its
 * place in that level and those below, and asks for the levels above when its time has come. So nobody holds what all
 * share while waiting for something of its own.
 */
export interface PaceKey {
  readonly key: string
  readonly intervalMs: number
  readonly burstMs: number
  readonly level: number
}

export type PacedApi = 'send' | 'get' | 'react' | 'upload'

/** Who goes first where there is not enough for all: control answers, then progress and notices, then answers. */
export type PaceRank = 'control' | 'progress' | 'answer'

export const rankOf: Readonly<Record<CauseKind, PaceRank>> = {
  control: 'control',
  approval: 'control',
  progress: 'progress',
  notice: 'progress',
  interim: 'answer',
  result: 'answer',
}

/* Waits that the platform named come first: nothing else is taken before they are over. */
const HOLD = 0
const CHAT_LANE = 1
const API_LANE = 2
const CHAT = 3
const API = 4

/** A wait that the platform named, for everything of one API or of one chat. */
export function holdKey(bot: string, what: { readonly api: PacedApi } | { readonly chatId: string }): PaceKey {
  const name = 'api' in what ? `api:${bot}:${what.api}` : `chat:${bot}:${what.chatId}`
  return { key: `${name}:hold`, intervalMs: 0, burstMs: 0, level: HOLD }
}

/**
 * 50 per second and 1 000 per minute for each API of a bot (Lark: frequency control). In any window of W ms at most
 * (W + 300 + burst) / interval + 1 calls start, 49 and 999: a call may go 50 ms before and 250 ms after its slot.
 */
export function apiPace(bot: string, api: PacedApi): readonly PaceKey[] {
  return [
    holdKey(bot, { api }),
    { key: `api:${bot}:${api}:second`, intervalMs: 45, burstMs: 900, level: API },
    { key: `api:${bot}:${api}:minute`, intervalMs: 63, burstMs: 2_600, level: API },
  ]
}

/**
 * What one message into one chat takes: 5 per second into the chat (Lark: message/create), and the API's own.
 *
 * Everything but a control answer waits in a lane of its rank first. The lanes together are narrower than the limit,
 * so what has passed them finds the limit free, and a control answer finds nobody waiting there.
 */
export function sendPace(bot: string, chatId: string, rank: PaceRank): readonly PaceKey[] {
  const lane = lanes[rank]
  return [
    holdKey(bot, { chatId }),
    ...(lane === null
      ? []
      : [
          { key: `chat:${bot}:${chatId}:${rank}`, ...lane.chat, level: CHAT_LANE },
          { key: `api:${bot}:send:second:${rank}`, ...lane.second, level: API_LANE },
          { key: `api:${bot}:send:minute:${rank}`, ...lane.minute, level: API_LANE },
        ]),
    { key: `chat:${bot}:${chatId}`, intervalMs: 300, burstMs: 190, level: CHAT },
    ...apiPace(bot, 'send'),
  ]
}

const lanes = {
  control: null,
  progress: {
    chat: { intervalMs: 3_000, burstMs: 6_000 },
    second: { intervalMs: 1_000, burstMs: 5_000 },
    minute: { intervalMs: 1_500, burstMs: 9_000 },
  },
  answer: {
    chat: { intervalMs: 340, burstMs: 190 },
    second: { intervalMs: 48, burstMs: 700 },
    minute: { intervalMs: 66, burstMs: 2_000 },
  },
} as const satisfies Record<PaceRank, object | null>

/** Taking a reaction away can wait; half of the limit is left to those that say "received". */
export function cleanupPace(bot: string): readonly PaceKey[] {
  return [
    { key: `api:${bot}:react:second:cleanup`, intervalMs: 90, burstMs: 450, level: API_LANE },
    { key: `api:${bot}:react:minute:cleanup`, intervalMs: 126, burstMs: 1_300, level: API_LANE },
    ...apiPace(bot, 'react'),
  ]
}

export interface Slot {
  readonly startAt: number
  /** How much was taken for that time: everything, up to and including one level, or nothing because it is too late. */
  readonly taken: 'all' | 'none' | number
}

/**
 * The rule that `takeSlot` runs in the database, for one moment: what is taken and where every `next` moves.
 * Pure, so that the limits can be proved.
 */
export function slotRule(
  keys: readonly (PaceKey & { readonly nextAt: number })[],
  now: number,
  withinMs: number,
): Slot & { readonly next: ReadonlyMap<string, number> } {
  const startOf = (key: (typeof keys)[number]): number => Math.max(now, key.nextAt - key.burstMs)
  const late = keys.filter((key) => startOf(key) > now + earlyMs).map((key) => key.level)
  const last = Math.max(...keys.map((key) => key.level))
  const upTo = late.length === 0 ? last : Math.min(...late)
  const wanted = keys.filter((key) => key.level <= upTo)
  const startAt = Math.max(now, ...wanted.map(startOf))
  if (startAt > now + withinMs) return { startAt, taken: 'none', next: new Map() }
  // A hold is nobody's place: it is only looked at.
  const moved = wanted.filter((key) => key.intervalMs > 0)
  const next = new Map(moved.map((key) => [key.key, Math.max(key.nextAt, startAt) + key.intervalMs]))
  return { startAt, taken: upTo === last ? 'all' : upTo, next }
}

/**
 * Takes the next place in all resources of a call, or in those below the first that is late, and says when that is;
 * the caller waits elsewhere. One statement, rows locked in key order, so that all workers share one count. A place
 * later than `now + withinMs` is not taken.
 *
 * @source delivery.md Out 3; Lark: frequency control
 */
export async function takeSlot(
  sql: SqlLike,
  keys: readonly PaceKey[],
  now: number,
  withinMs: number = Number.MAX_SAFE_INTEGER - now,
): Promise<Slot> {
  const json = JSON.stringify(keys)
  const slot = await take(sql, json, keys.length, now, withinMs)
  if (slot !== null) return slot
  await sql`
    insert into collab.pacing (key, next_at)
    select key, 0 from jsonb_to_recordset(${json}::text::jsonb) as k(key text) order by key
    on conflict do nothing`
  const again = await take(sql, json, keys.length, now, withinMs)
  if (again === null) throw new Error('pacing rows are missing after they were put')
  return again
}

/** What a call still needs that holds everything, the levels up to one, or nothing. A named wait counts always. */
export function missingOf(keys: readonly PaceKey[], held: 'none' | 'all' | number): readonly PaceKey[] {
  return keys.filter((key) => held === 'none' || key.level === HOLD || (held !== 'all' && key.level > held))
}

/**
 * The same for a call that holds a place already, of all its resources or up to one level: takes what is missing. A
 * wait that the platform named meanwhile counts all the same, and undoes what was held.
 */
export async function takeRest(
  sql: SqlLike,
  keys: readonly PaceKey[],
  held: 'none' | 'all' | number,
  now: number,
): Promise<{ readonly startAt: number; readonly held: 'all' | number }> {
  const slot = await takeSlot(sql, missingOf(keys, held), now)
  const undone = held === 'all' && slot.startAt > now + earlyMs
  return { startAt: slot.startAt, held: undone || slot.taken === 'none' ? HOLD : slot.taken }
}

/** Nothing that needs one of these begins before `until`, whichever worker asks; the platform's own word. */
export async function holdUntil(sql: SqlLike, keys: readonly PaceKey[], until: number): Promise<void> {
  await sql`
    insert into collab.pacing as p (key, next_at)
    select key, ${until}::bigint from jsonb_to_recordset(${JSON.stringify(keys)}::text::jsonb) as k(key text)
    order by key
    on conflict (key) do update set next_at = greatest(p.next_at, excluded.next_at)`
}

interface Row {
  readonly rows: number
  readonly startAt: number
  readonly upTo: number
  readonly last: number
  readonly taken: boolean
}

async function take(
  sql: SqlLike,
  keysJson: string,
  count: number,
  now: number,
  withinMs: number,
): Promise<Slot | null> {
  const [row] = await sql<Row[]>`
    with wanted as (
      select * from jsonb_to_recordset(${keysJson}::text::jsonb)
        as k(key text, "intervalMs" bigint, "burstMs" bigint, level int)
    ), locked as (
      select p.key, p.next_at from collab.pacing p where p.key in (select key from wanted) order by p.key for update
    ), k as (
      select l.key, l.next_at, w."intervalMs", w.level, greatest(${now}::bigint, l.next_at - w."burstMs") as start_at
      from locked l join wanted w using (key)
    ), stop as (
      select count(*)::int as rows, max(level) as last,
        coalesce(min(level) filter (where start_at > ${now}::bigint + ${earlyMs}), max(level)) as up_to
      from k
    ), slot as (
      select stop.rows, stop.last, stop.up_to, max(k.start_at) as start_at,
        stop.rows = ${count} and max(k.start_at) <= ${now}::bigint + ${withinMs}::bigint as taken
      from stop join k on k.level <= stop.up_to
      group by stop.rows, stop.last, stop.up_to
    ), moved as (
      update collab.pacing p set next_at = greatest(k.next_at, slot.start_at) + k."intervalMs"
      from k, slot
      where p.key = k.key and slot.taken and k.level <= slot.up_to and k."intervalMs" > 0
    )
    select rows, start_at as "startAt", up_to as "upTo", last, taken from slot`
  if (row === undefined || row.rows < count) return null
  return { startAt: row.startAt, taken: !row.taken ? 'none' : row.upTo === row.last ? 'all' : row.upTo }
}
