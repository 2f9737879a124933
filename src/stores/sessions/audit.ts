import type { SqlLike } from '../db.js'

/** Who did what to which thing at a door. `at` is in milliseconds since the epoch. */
export interface AuditLine {
  /** The identity of the command: the same one again adds no line. */
  readonly id: string
  readonly at: number
  readonly who: string
  readonly act: string
  readonly subject: string
}

/** Append only. False: this command is on record already. */
export async function writeAudit(sql: SqlLike, line: AuditLine): Promise<boolean> {
  const rows = await sql`
    insert into collab.audit_lines (id, at, who, act, subject)
    values (${line.id}, ${line.at}, ${line.who}, ${line.act}, ${line.subject})
    on conflict (id) do nothing returning 1`
  return rows.length > 0
}

/** What a command on record asked for; null when it is not. */
export async function actOnRecord(sql: SqlLike, id: string): Promise<string | null> {
  const [row] = await sql<{ act: string }[]>`select act from collab.audit_lines where id = ${id}`
  return row?.act ?? null
}
