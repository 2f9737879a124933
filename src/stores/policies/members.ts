import type { SqlLike } from '../db.js'
import { EVERYWHERE } from './policies.js'

export interface MemberRow {
  readonly id: string
  readonly bot: string
  /** `*` in every chat. */
  readonly chatId: string
  readonly openId: string
  readonly tenantKey: string | null
  readonly unionId: string | null
  readonly starts: number | null
  readonly until: number | null
  readonly admittedBy: string
  readonly admittedAt: number
  readonly endedAt: number | null
  /** Turns that were started by it, while it counts them. */
  readonly started: number
}

/** The memberships of one person that may concern a chat, ended ones too. */
export async function membershipsOf(
  sql: SqlLike,
  of: { readonly bot: string; readonly chatId: string; readonly openId: string },
): Promise<readonly MemberRow[]> {
  return await sql<MemberRow[]>`
    select ${columns(sql)} from collab.chat_members m
    where m.bot = ${of.bot} and m.open_id = ${of.openId} and m.chat_id in (${of.chatId}, ${EVERYWHERE})
    order by m.admitted_at, m.id`
}

/** Everybody who is admitted to a chat and not ended, those of all chats too. */
export async function membersOf(sql: SqlLike, bot: string, chatId: string): Promise<readonly MemberRow[]> {
  return await sql<MemberRow[]>`
    select ${columns(sql)} from collab.chat_members m
    where m.bot = ${bot} and m.chat_id in (${chatId}, ${EVERYWHERE}) and m.ended_at is null
    order by m.admitted_at, m.id`
}

const columns = (sql: SqlLike) => sql`
  m.id, m.bot, m.chat_id as "chatId", m.open_id as "openId", m.tenant_key as "tenantKey", m.union_id as "unionId",
  m.starts, m.until, m.admitted_by as "admittedBy", m.admitted_at as "admittedAt", m.ended_at as "endedAt",
  (select count(*)::int from collab.member_starts s where s.membership = m.id) as started`

/** Admits somebody once; the same admission again changes nothing. */
export async function putMember(sql: SqlLike, row: Omit<MemberRow, 'endedAt' | 'started'>): Promise<void> {
  await sql`
    insert into collab.chat_members
      (id, bot, chat_id, open_id, tenant_key, union_id, starts, until, admitted_by, admitted_at)
    values (${row.id}, ${row.bot}, ${row.chatId}, ${row.openId}, ${row.tenantKey}, ${row.unionId}, ${row.starts},
      ${row.until}, ${row.admittedBy}, ${row.admittedAt})
    on conflict (id) do nothing`
}

/** Ends what admits a person to a chat; with `*` what admits them to all. How many ended now. */
export async function endMembers(
  sql: SqlLike,
  of: { readonly bot: string; readonly chatId: string; readonly openId: string },
  by: string,
  at: number,
): Promise<number> {
  const rows = await sql`
    update collab.chat_members set ended_at = ${at}, ended_by = ${by}
    where bot = ${of.bot} and chat_id = ${of.chatId} and open_id = ${of.openId} and ended_at is null returning 1`
  return rows.length
}

/**
 * Takes one turn from a counted membership, for one message. Under the row's lock, so that two messages that come
 * together do not take the same last one.
 *
 * @returns false when nothing is left
 */
export async function countStart(tx: SqlLike, membership: string, ingress: string): Promise<boolean> {
  const [row] = await tx<{ starts: number | null }[]>`
    select starts from collab.chat_members where id = ${membership} and ended_at is null for update`
  if (row === undefined) return false
  if (row.starts === null) return true
  const [used] = await tx<{ others: number; own: number }[]>`
    select count(*) filter (where ingress <> ${ingress})::int as others,
      count(*) filter (where ingress = ${ingress})::int as own
    from collab.member_starts where membership = ${membership}`
  if ((used?.own ?? 0) > 0) return true
  if ((used?.others ?? 0) >= row.starts) return false
  await tx`insert into collab.member_starts (membership, ingress) values (${membership}, ${ingress})`
  return true
}
