import postgres from 'postgres'
import type { WorldMessage } from '../src/sandbox/world.js'
import { until } from './process.js'
import type { Rig } from './rig.js'
import { quantile, spread, type Row } from './table.js'

/** More than one, so that the platform's 5 per second into one chat never makes us wait. */
const CHATS = 20
const WARM_UP = 30

/**
 * P3: from the event to the delivery that was read back, with a runtime that answers at once and a platform that takes
 * no time. One request at a time. The event's time is the sandbox's clock, the end is the row's.
 */
export async function overhead(rig: Rig, queue: 'redis' | 'postgres', requests: number): Promise<readonly Row[]> {
  await rig.redis.wipe()
  const databaseUrl = await rig.database()
  const sandbox = await rig.sandbox(['--rates', 'off'])
  const gateway = await rig.gateway({
    DATABASE_URL: databaseUrl,
    LARK_BASE_URL: sandbox.url,
    ...(queue === 'redis' ? { REDIS_URL: rig.redis.url } : {}),
  })
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const { alice, dm } = sandbox.ids
  const one = async (chatId: string, nth: number): Promise<number> => {
    const said = await sandbox.post<WorldMessage>('/say', {
      chatId,
      from: alice,
      mentionBot: chatId !== dm,
      text: `!reply answer ${nth}`,
    })
    const settledAt = await until(async () => {
      const [row] = await sql<{ at: string; outcome: string }[]>`
        select settled_at as at, outcome from collab.deliveries
        where route ->> 'replyTo' = ${said.id} and cause_kind <> 'notice' and settled_at is not null`
      if (row !== undefined && row.outcome !== 'verified') throw new Error(`the delivery ended as ${row.outcome}`)
      return row === undefined ? null : Number(row.at)
    }, 'the delivery')
    return settledAt - said.createTime
  }
  try {
    // Binds the owner.
    await one(dm, 0)
    const chats: string[] = []
    for (let nth = 0; nth < CHATS; nth += 1) {
      const chat = { mode: 'group', name: `Group ${nth}`, members: [alice] }
      chats.push((await sandbox.post<{ chatId: string }>('/chat', chat)).chatId)
    }
    const took: number[] = []
    for (let nth = 0; nth < WARM_UP + requests; nth += 1) {
      const ms = await one(chats[nth % CHATS] ?? dm, nth)
      if (nth >= WARM_UP) took.push(ms)
    }
    const p50 = quantile(took, 0.5)
    const onRedis = queue === 'redis'
    return [
      {
        id: onRedis ? 'P3' : 'P3 pg',
        what: `event → verified delivery, one at a time, queue on ${onRedis ? 'Redis' : 'Postgres'}`,
        measured: spread(took),
        target: onRedis ? 'p50 ≤ 120 ms' : '–',
        ratio: onRedis ? p50 / 120 : null,
        pass: onRedis ? p50 <= 120 : null,
        note: `${took.length} requests over ${CHATS} chats after ${WARM_UP} that warmed up; pacing on`,
      },
    ]
  } finally {
    await sql.end()
    await gateway.stop()
    await sandbox.stop()
  }
}
