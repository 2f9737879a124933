import type { SqlLike } from '../db.js'

/** Takes a lease that is free, stale, or already ours. */
export async function acquireLease(
  sql: SqlLike,
  name: string,
  holder: string,
  now: number,
  ms: number,
): Promise<boolean> {
  const rows = await sql`
    insert into collab.leases as l (name, holder, held_until) values (${name}, ${holder}, ${now + ms})
    on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
      where l.holder = excluded.holder or l.held_until < ${now}
    returning 1`
  return rows.length > 0
}

/** Lengthens a lease that is still ours; false when another has taken it. */
export async function renewLease(
  sql: SqlLike,
  name: string,
  holder: string,
  now: number,
  ms: number,
): Promise<boolean> {
  const rows = await sql`
    update collab.leases set held_until = ${now + ms} where name = ${name} and holder = ${holder} returning 1`
  return rows.length > 0
}

export async function releaseLease(sql: SqlLike, name: string, holder: string): Promise<void> {
  await sql`delete from collab.leases where name = ${name} and holder = ${holder}`
}

/** Ends what an earlier process with this name before its own held; only when it is known to be gone. */
export async function releaseEarlier(sql: SqlLike, name: string, installation: string, holder: string): Promise<void> {
  await sql`delete from collab.leases
    where name = ${name} and holder <> ${holder} and starts_with(holder, ${`${installation} `})`
}
