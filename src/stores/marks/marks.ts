import { must } from '../../lib/assert.js'
import type { SqlLike } from '../db.js'

export interface Mark {
  readonly id: string
  readonly conversation: string
  /** The stored event that said it; null when it came from no chat. */
  readonly ingress: string | null
  readonly kind: 'stop' | 'new'
  readonly position: number
  readonly writtenAt: number
  readonly markedAt: number
}

/** Writes a mark once; a second time the one that stands is returned. */
export async function putMark(sql: SqlLike, mark: Mark): Promise<Mark> {
  await sql`
    insert into collab.conversation_marks (id, conversation, ingress, kind, position, written_at, marked_at)
    values (${mark.id}, ${mark.conversation}, ${mark.ingress}, ${mark.kind}, ${mark.position}, ${mark.writtenAt},
      ${mark.markedAt})
    on conflict do nothing`
  return must(await markOf(sql, mark.id), 'the mark')
}

export async function markOf(sql: SqlLike, id: string): Promise<Mark | null> {
  const [row] = await sql<Mark[]>`
    select id, conversation, ingress, kind, position, written_at as "writtenAt", marked_at as "markedAt"
    from collab.conversation_marks where id = ${id}`
  return row ?? null
}

/** Was a stop or a fresh conversation heard that came after this place in the order of arrival? */
export async function isMarkedAfter(sql: SqlLike, conversation: string, position: number): Promise<boolean> {
  const rows = await sql`
    select 1 from collab.conversation_marks where conversation = ${conversation} and position > ${position} limit 1`
  return rows.length > 0
}

/**
 * The fresh conversation that a message belongs to: the last one that was begun before it arrived; null before the
 * first. What did not come in as an event of a chat is placed by the time at which it was opened.
 */
export async function freshBefore(
  sql: SqlLike,
  conversation: string,
  message: { readonly bot: string; readonly messageId: string; readonly openedAt: number },
): Promise<{ readonly id: string; readonly writtenAt: number } | null> {
  const [row] = await sql<{ id: string; writtenAt: number }[]>`
    select m.id, m.written_at as "writtenAt" from collab.conversation_marks m
    left join collab.ingress_events e on e.bot = ${message.bot} and e.key = ${message.messageId}
    where m.conversation = ${conversation} and m.kind = 'new'
      and (case when e.position is null then m.marked_at < ${message.openedAt} else m.position < e.position end)
    order by m.position desc limit 1`
  return row ?? null
}
