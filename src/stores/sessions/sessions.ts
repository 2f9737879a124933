import { sha256 } from '../../lib/digest.js'
import { DAY, MINUTE } from '../../lib/time.js'
import type { SqlLike } from '../db.js'

/** How long a printed sign-in link works. */
export const signInCodeMs = 15 * MINUTE
/** How long a browser stays signed in. */
export const sessionMs = 14 * DAY

export interface WebSession {
  /** Digest of the cookie's secret: names the session in audit lines, opens nothing. */
  readonly digest: string
  readonly expiresAt: number
}

/** Purposes are part of what is digested, so a code is never a cookie. */
const digestOfCode = (code: string): string => sha256(`sign-in-code\u0000${code}`)
const digestOfSecret = (secret: string): string => sha256(`web-session\u0000${secret}`)

/** What a page must repeat on writes; it follows from the cookie's secret, which no other site can read. */
export const csrfOf = (secret: string): string => sha256(`csrf\u0000${secret}`)

/** Remembers a code that was just made; only its digest is kept. Codes long past are removed on the way. */
export async function createSignInCode(sql: SqlLike, code: string, now: number): Promise<void> {
  await sql`
    with gone as (delete from collab.sign_in_codes where expires_at < ${now - DAY})
    insert into collab.sign_in_codes (digest, expires_at) values (${digestOfCode(code)}, ${now + signInCodeMs})`
}

/**
 * Uses a code up and opens a session, in one statement: of two callers with one code one is answered.
 *
 * @returns null when the code is unknown, used or too old
 */
export async function redeemSignInCode(
  sql: SqlLike,
  code: string,
  secret: string,
  now: number,
): Promise<WebSession | null> {
  const digest = digestOfSecret(secret)
  const rows = await sql`
    with used as (
      update collab.sign_in_codes set used_at = ${now}
      where digest = ${digestOfCode(code)} and used_at is null and expires_at > ${now} returning 1
    )
    insert into collab.web_sessions (digest, csrf, created_at, expires_at)
    select ${digest}, ${sha256(csrfOf(secret))}, ${now}::bigint, ${now + sessionMs}::bigint from used returning 1`
  return rows.length === 0 ? null : { digest, expiresAt: now + sessionMs }
}

/** For one who proved to be the operator by other means. */
export async function openSession(sql: SqlLike, secret: string, now: number): Promise<WebSession> {
  const digest = digestOfSecret(secret)
  await sql`
    insert into collab.web_sessions (digest, csrf, created_at, expires_at)
    values (${digest}, ${sha256(csrfOf(secret))}, ${now}, ${now + sessionMs})`
  return { digest, expiresAt: now + sessionMs }
}

/** The living session of a cookie, or null. */
export async function findSession(sql: SqlLike, secret: string, now: number): Promise<WebSession | null> {
  const [row] = await sql<{ digest: string; expiresAt: number }[]>`
    select digest, expires_at as "expiresAt" from collab.web_sessions
    where digest = ${digestOfSecret(secret)} and ended_at is null and expires_at > ${now}`
  return row ?? null
}

export async function endSession(sql: SqlLike, digest: string, now: number): Promise<void> {
  await sql`update collab.web_sessions set ended_at = ${now} where digest = ${digest} and ended_at is null`
}
