import { DAY } from '../../lib/time.js'
import type { SqlLike } from '../db.js'

/** A message of a history that no door brought. */
export interface Gap {
  readonly ingress: string
  readonly bot: string
  readonly messageId: string
  readonly chatId: string
  readonly writtenAt: number
  /** `away`: we were not there when it was written. */
  readonly because: 'away' | 'connected'
}

/** Which of these messages no event is stored of. */
export async function unknownMessages(
  sql: SqlLike,
  bot: string,
  messageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (messageIds.length === 0) return new Set()
  const rows = await sql<{ key: string }[]>`
    select key from collab.ingress_events where bot = ${bot} and key = any(${[...messageIds]})`
  const known = new Set(rows.map((row) => row.key))
  return new Set(messageIds.filter((id) => !known.has(id)))
}

/** Written before the message itself is stored, so that no crash between hides that it was missing. */
export async function recordGap(sql: SqlLike, gap: Gap, now: number): Promise<void> {
  await sql`
    with put as (
      insert into collab.ingress_gaps (ingress, bot, message_id, chat_id, written_at, found_at, because)
      values (${gap.ingress}, ${gap.bot}, ${gap.messageId}, ${gap.chatId}, ${gap.writtenAt}, ${now}, ${gap.because})
      on conflict do nothing
    )
    update collab.presence set missed_at = greatest(missed_at, ${gap.writtenAt}::bigint)
    where bot = ${gap.bot} and ${gap.because} = 'connected'`
}

/** A door brought it while the history was read: nothing was missing. */
export async function dropGap(sql: SqlLike, ingress: string): Promise<void> {
  await sql`delete from collab.ingress_gaps where ingress = ${ingress}`
}

/** What came in during the last day, and what did not although a door was open. */
export interface Intake {
  readonly lastEventAt: number | null
  readonly events: number
  readonly messages: number
  /** Found in a history only, and brought by no door since. */
  readonly missed: number
  readonly missedAway: number
}

export async function intakeOf(sql: SqlLike, bot: string, now: number): Promise<Intake> {
  const since = now - DAY
  const [row] = await sql<[Intake]>`
    select
      (select received_at from collab.ingress_events where bot = ${bot} and door <> 'gap-fill'
        order by received_at desc limit 1) as "lastEventAt",
      came.events, came.messages, gone.missed, gone.away as "missedAway"
    from
      (select count(*)::int as events, (count(*) filter (where kind = 'message'))::int as messages
        from collab.ingress_events where bot = ${bot} and received_at > ${since} and door <> 'gap-fill') came,
      (select (count(*) filter (where because = 'connected'))::int as missed,
          (count(*) filter (where because = 'away'))::int as away
        from collab.ingress_gaps g where bot = ${bot} and found_at > ${since}
          and not exists (select 1 from collab.ingress_duplicates d where d.ingress = g.ingress and d.door <> 'gap-fill')) gone`
  return row
}

/** More than one message in twenty came by no door: events seem to go to somebody else. */
export function seemsShared(intake: Pick<Intake, 'messages' | 'missed'>): boolean {
  return intake.missed * 20 > intake.messages + intake.missed
}

/** Absences and gaps that no count looks at any more. */
export async function forgetOldAbsences(sql: SqlLike, before: number): Promise<void> {
  await sql`delete from collab.absences where until_at < ${before}`
  await sql`delete from collab.ingress_gaps where found_at < ${before}`
}
