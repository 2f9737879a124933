import type { DeliveryId, RequestId } from '../../collab/refs.js'
import type { SqlLike } from '../db.js'

export interface ProgressCard {
  readonly request: RequestId
  /** The delivery that brought the card into the chat. */
  readonly delivery: DeliveryId
  /** A card that is too old to change is followed by a new one. */
  readonly generation: number
  /** Digest of what it says. */
  readonly shown: string
  /** How many facts of the request and of its children it was made from. */
  readonly seen: number
  readonly openedAt: number
  readonly updatedAt: number
  readonly closedAt: number | null
}

export async function progressCardOf(sql: SqlLike, request: RequestId): Promise<ProgressCard | null> {
  const [row] = await sql<ProgressCard[]>`
    select request, delivery, generation, shown, seen, opened_at as "openedAt", updated_at as "updatedAt",
      closed_at as "closedAt"
    from collab.progress_cards where request = ${request}`
  return row ?? null
}

/** Puts the card of a generation. False: another run has put it. */
export async function putProgressCard(sql: SqlLike, card: Omit<ProgressCard, 'closedAt'>): Promise<boolean> {
  const rows = await sql`
    insert into collab.progress_cards (request, delivery, generation, shown, seen, opened_at, updated_at)
    values (${card.request}, ${card.delivery}, ${card.generation}, ${card.shown}, ${card.seen}, ${card.openedAt},
      ${card.updatedAt})
    on conflict (request) do update
    set delivery = excluded.delivery, generation = excluded.generation, shown = excluded.shown, seen = excluded.seen,
      opened_at = excluded.opened_at, updated_at = excluded.updated_at
    where progress_cards.generation < excluded.generation and progress_cards.closed_at is null
    returning 1`
  return rows.length > 0
}

/** What the card says now, or that it was looked at and says the same. */
export async function noteShown(
  sql: SqlLike,
  card: Pick<ProgressCard, 'request' | 'generation' | 'shown' | 'seen' | 'updatedAt'>,
): Promise<void> {
  await sql`
    update collab.progress_cards set shown = ${card.shown}, seen = ${card.seen}, updated_at = ${card.updatedAt}
    where request = ${card.request} and generation = ${card.generation}`
}

/** Nothing of it changes any more: it has said the end, or cannot be changed. */
export async function closeProgressCard(
  sql: SqlLike,
  request: RequestId,
  because: 'ended' | 'refused' | 'not-sent',
  at: number,
): Promise<void> {
  await sql`update collab.progress_cards set closed_at = ${at}, closed_because = ${because}
    where request = ${request} and closed_at is null`
}

/** How many facts a request and its children have. */
export async function factsSeen(sql: SqlLike, request: RequestId): Promise<number> {
  const [row] = await sql<{ seen: number }[]>`
    select coalesce(sum(h.seq), 0)::int as seen
    from collab.work_requests w join collab.request_heads h on h.request = w.id
    where w.id = ${request} or w.parent = ${request}`
  return row?.seen ?? 0
}

/**
 * Requests whose progress is due to be looked at: those of people that have had no answer and no card for `afterMs`,
 * and those whose card is older than their facts.
 */
export async function progressOwed(
  sql: SqlLike,
  now: number,
  afterMs: number,
  limit: number,
): Promise<readonly RequestId[]> {
  const rows = await sql<{ request: RequestId }[]>`
    (select i.request from collab.turn_inputs i join collab.work_requests w on w.id = i.request
      where i.state <> 'settled' and (i.because is null or i.because not in ('late', 'stopped', 'backlog', 'failed'))
        and w.parent is null and w.opened_at <= ${now - afterMs}
        and not exists (select 1 from collab.progress_cards p where p.request = i.request)
      limit ${limit})
    union all
    (select p.request from collab.progress_cards p
      where p.closed_at is null and p.seen <> (
        select coalesce(sum(h.seq), 0) from collab.work_requests w join collab.request_heads h on h.request = w.id
        where w.id = p.request or w.parent = p.request)
      limit ${limit})`
  return rows.map((row) => row.request)
}
