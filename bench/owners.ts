import type postgres from 'postgres'
import type { WorldMessage } from '../src/sandbox/world.js'
import { until } from './process.js'
import type { Sandbox } from './rig.js'

/** One who may use the manager, in a direct chat of their own: a lane and a session for each. */
export interface Owner {
  readonly openId: string
  readonly chatId: string
}

export interface EndedTurn {
  /** When its prompt was composed: the row is made with this time right after it was. */
  readonly composedAt: number
  /** When its result was committed: taken right after the transaction. */
  readonly committedAt: number
  readonly answer: string
}

/** Ids that a gateway can be given before the platform knows them. */
export const ownerIds = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, nth) => `ou_${String(nth).padStart(32, '0')}`)

export async function ownersIn(sandbox: Sandbox, count: number): Promise<readonly Owner[]> {
  const owners: Owner[] = []
  for (const [nth, openId] of ownerIds(count).entries()) {
    await sandbox.post('/person', { name: `Owner ${nth}`, openId })
    const chat = { mode: 'p2p', name: `Owner ${nth}`, members: [openId] }
    owners.push({ openId, chatId: (await sandbox.post<{ chatId: string }>('/chat', chat)).chatId })
  }
  return owners
}

/** The id of the message. */
export async function say(sandbox: Sandbox, owner: Owner, text: string): Promise<string> {
  const message = { chatId: owner.chatId, from: owner.openId, mentionBot: false, text }
  return (await sandbox.post<WorldMessage>('/say', message)).id
}

/** Waits for the end of the turn on a message; throws when it gave no answer. */
export async function turnOn(sql: postgres.Sql, message: string, limitMs = 60_000): Promise<EndedTurn> {
  return await until(
    async () => {
      const [row] = await sql<{ composed: string; committed: string; ended: string; because: string; body: string }[]>`
        select t.started_at as composed, t.ended_at as committed, t.ended, t.because, x.body
        from collab.work_requests r join collab.turns t on t.request = r.id
        left join collab.results s on s.turn = t.id left join collab.texts x on x.digest = s.text_digest
        where r.origin_message = ${message} and t.ended_at is not null`
      if (row === undefined) return null
      if (row.ended !== 'completed') throw new Error(`a turn ended as ${row.ended}: ${row.because}`)
      return { composedAt: Number(row.composed), committedAt: Number(row.committed), answer: row.body }
    },
    'the end of a turn',
    limitMs,
  )
}
