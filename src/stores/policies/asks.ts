import type { SqlLike } from '../db.js'

export interface AskRow {
  readonly id: string
  readonly bot: string
  readonly chatId: string
  readonly openId: string
  readonly tenantKey: string | null
  readonly unionId: string | null
  readonly owner: string
  readonly askedAt: number
  readonly answer: string | null
}

/** Times since which a question is not put again. */
export interface Quiet {
  /** The person was refused later than this. */
  readonly refusedSince: number
  /** Anything about this person was asked later than this. */
  readonly askedSince: number
  /** How many questions one owner gets since then at most. */
  readonly ownerSince: number
  readonly ownerMost: number
}

/** Puts a question to an owner, unless one about this person is open, was refused lately, or the owner was asked enough. */
export async function putAsk(sql: SqlLike, ask: Omit<AskRow, 'answer'>, quiet: Quiet): Promise<boolean> {
  const rows = await sql`
    insert into collab.admission_asks (id, bot, chat_id, open_id, tenant_key, union_id, owner, asked_at)
    select ${ask.id}, ${ask.bot}, ${ask.chatId}, ${ask.openId}, ${ask.tenantKey}, ${ask.unionId}, ${ask.owner},
      ${ask.askedAt}::bigint
    where not exists (
        select 1 from collab.admission_asks a where a.bot = ${ask.bot} and a.open_id = ${ask.openId}
          and (a.answer is null or a.asked_at > ${quiet.askedSince}
            or (a.answer = 'refused' and a.answered_at > ${quiet.refusedSince})))
      and (select count(*) from collab.admission_asks a where a.bot = ${ask.bot} and a.owner = ${ask.owner}
        and a.asked_at > ${quiet.ownerSince}) < ${quiet.ownerMost}
    on conflict do nothing returning 1`
  return rows.length > 0
}

export async function askOf(sql: SqlLike, id: string): Promise<AskRow | null> {
  const [row] = await sql<AskRow[]>`
    select id, bot, chat_id as "chatId", open_id as "openId", tenant_key as "tenantKey", union_id as "unionId", owner,
      asked_at as "askedAt", answer
    from collab.admission_asks where id = ${id}`
  return row ?? null
}

/** The first answer stands; what stands then. */
export async function answerAsk(sql: SqlLike, id: string, answer: string, by: string, at: number): Promise<string> {
  await sql`
    update collab.admission_asks set answer = ${answer}, answered_by = ${by}, answered_at = ${at}
    where id = ${id} and answer is null`
  return (await askOf(sql, id))?.answer ?? answer
}
