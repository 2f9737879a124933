import type { Db } from '../db.js'

export type PlaceKind = 'p2p' | 'group' | 'topic'

/** Where some conversations stand. One that is not known yet is missing from the map. */
export async function placesOf(sql: Db['sql'], ids: readonly string[]): Promise<ReadonlyMap<string, PlaceKind>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; chatType: string; threadKey: string }[]>`
    select id, chat_type as "chatType", thread_key as "threadKey" from collab.conversations
    where id in ${sql([...new Set(ids)])}`
  return new Map(
    rows.map((row) => [row.id, row.threadKey !== '' ? 'topic' : row.chatType === 'p2p' ? 'p2p' : 'group'] as const),
  )
}
