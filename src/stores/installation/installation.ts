import type { SqlLike } from '../db.js'

/** A choice made once for this database: the first one stays and is returned. */
export async function chooseOnce(sql: SqlLike, name: string, value: string, now: number): Promise<string> {
  const [row] = await sql<{ value: string }[]>`
    with mine as (
      insert into collab.installation (name, value, set_at) values (${name}, ${value}, ${now})
      on conflict (name) do nothing returning value
    )
    select value from mine union all select value from collab.installation where name = ${name} limit 1`
  return row?.value ?? value
}

/** Changes a choice on purpose, or leaves a mark of our own life. */
export async function setInstallation(sql: SqlLike, name: string, value: string, now: number): Promise<void> {
  await sql`
    insert into collab.installation as i (name, value, set_at) values (${name}, ${value}, ${now})
    on conflict (name) do update set value = excluded.value, set_at = excluded.set_at`
}
