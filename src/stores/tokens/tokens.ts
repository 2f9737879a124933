import type { SqlLike, Tx } from '../db.js'

export interface TokenToIssue {
  readonly agent: string
  /** What one executor holds at a time; a newer token of it makes the older ones stale. */
  readonly seat: string
  readonly session: string
  readonly lane: string | null
  readonly digest: string
  readonly now: number
  /** Milliseconds since the epoch; null lasts until it is replaced or revoked. */
  readonly expiresAt: number | null
}

export interface FoundToken {
  readonly agent: string
  readonly seat: string
  readonly session: string
  readonly epoch: number
  readonly lane: string | null
  /** False once a newer one of the same seat was issued. */
  readonly current: boolean
  readonly revoked: boolean
  readonly expired: boolean
}

export interface ListedToken extends Omit<FoundToken, 'revoked' | 'expired'> {
  readonly issuedAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

/** Issuers of one seat that meet each other wait in the database; so many in a row would be a bug. */
const MEETINGS = 100

/**
 * Writes the next token of a seat; from then on every older one is stale. It waits for what the newest one is doing in
 * a transaction of its own (`isReplaced`).
 *
 * @returns its epoch, counted from 1. Two issuers at once get two epochs: `one_token_per_epoch` decides.
 */
export async function issueToken(sql: SqlLike, token: TokenToIssue): Promise<number> {
  const { agent, seat, session, lane, digest, now, expiresAt } = token
  for (let meeting = 0; meeting < MEETINGS; meeting++) {
    const [row] = await sql<{ epoch: number }[]>`
      insert into collab.tokens (digest, agent, seat, session, epoch, lane, issued_at, expires_at)
      select ${digest}, ${agent}, ${seat}, ${session}, coalesce(max(epoch), 0) + 1, ${lane}, ${now}::bigint,
        ${expiresAt}::bigint
      from (select epoch from collab.tokens where seat = ${seat} order by epoch desc limit 1 for update) as newest
      on conflict (seat, epoch) do nothing returning epoch`
    if (row !== undefined) return row.epoch
  }
  throw new Error('no epoch was free for a new token')
}

/** Null when nobody ever had a token of this digest. */
export async function findToken(sql: SqlLike, digest: string, now: number): Promise<FoundToken | null> {
  const [row] = await sql<FoundToken[]>`
    select agent, seat, session, epoch, lane, revoked_at is not null as revoked,
      coalesce(expires_at <= ${now}, false) as expired,
      not exists (select 1 from collab.tokens newer where newer.seat = t.seat and newer.epoch > t.epoch) as current
    from collab.tokens t where digest = ${digest}`
  return row ?? null
}

/**
 * Whether the holder of this epoch was replaced or revoked. While the transaction runs it cannot be: who replaces it
 * waits for the row that is locked here.
 */
export async function isReplaced(tx: Tx, seat: string, epoch: number): Promise<boolean> {
  // Two statements: the second sees what was committed while the first waited for it.
  const [, ended] = await Promise.all([
    tx`select 1 from collab.tokens where seat = ${seat} and epoch = ${epoch} for share`,
    tx`
      select 1 from collab.tokens
      where seat = ${seat} and (epoch > ${epoch} or (epoch = ${epoch} and revoked_at is not null)) limit 1`,
  ])
  return ended.length > 0
}

/** Ends one token. False when there is none, or it was ended before. */
export async function revokeToken(sql: SqlLike, seat: string, epoch: number, now: number): Promise<boolean> {
  const rows = await sql`
    update collab.tokens set revoked_at = ${now}
    where seat = ${seat} and epoch = ${epoch} and revoked_at is null returning 1`
  return rows.length > 0
}

/** Of one agent, or of all; newest first. A digest leaves this file only as a question. */
export async function listTokens(sql: SqlLike, agent: string | null): Promise<readonly ListedToken[]> {
  return await sql<ListedToken[]>`
    select agent, seat, session, epoch, lane, issued_at as "issuedAt", expires_at as "expiresAt",
      revoked_at as "revokedAt",
      not exists (select 1 from collab.tokens newer where newer.seat = t.seat and newer.epoch > t.epoch) as current
    from collab.tokens t where ${agent}::text is null or agent = ${agent}
    order by issued_at desc, seat, epoch desc`
}
