import type { SqlLike } from '../db.js'
import type { DeliveryRow } from './deliveries.js'

/**
 * How many messages of other answers go into the same chat and topic before the next one of this delivery: those of
 * the answer that is under way there, then those of answers that were given earlier.
 *
 * An answer that does not get on by itself (stopped, or waiting longer than `patienceMs` for anything) holds nobody.
 */
export async function messagesAhead(
  sql: SqlLike,
  delivery: DeliveryRow,
  now: number,
  patienceMs: number,
): Promise<number> {
  const { bot, chatId, threadId } = delivery.route
  const [row] = await sql<[{ ahead: number }]>`
    with answers as (
      select d.id, d.created_at, d.planned_at is null as unplanned, exists (
          select 1 from collab.delivery_parts p where p.delivery = d.id
            and (p.message_id is not null or p.state in ('sending', 'ambiguous'))) as begun,
        (select count(*)::int from collab.delivery_parts p where p.delivery = d.id
          and p.state in ('planned', 'sending', 'ambiguous')) as unsent
      from collab.deliveries d
      where d.settled_at is null and d.bot = ${bot} and d.cause_kind in ('result', 'interim')
        and d.route ->> 'chatId' = ${chatId} and d.route ->> 'threadId' is not distinct from ${threadId}
    )
    select coalesce(sum(greatest(other.unsent, 1)), 0)::int as ahead
    from answers mine join answers other on other.id <> mine.id
    join collab.wakes w on w.kind = 'deliver' and w.subject = other.id
    where mine.id = ${delivery.id} and (other.unplanned or other.unsent > 0)
      and (not other.begun, other.created_at, other.id) < (not mine.begun, mine.created_at, mine.id)
      and (w.state = 'running' or (w.state = 'pending' and w.due_at <= ${now + patienceMs}))`
  return row.ahead
}

/** Until the transaction ends nobody else decides who is next in this chat and topic. */
export async function lockTurn(sql: SqlLike, delivery: DeliveryRow): Promise<void> {
  const { bot, chatId, threadId } = delivery.route
  await sql`select pg_advisory_xact_lock(hashtextextended(${`turn:${bot}:${chatId}:${threadId ?? ''}`}, 0))`
}
