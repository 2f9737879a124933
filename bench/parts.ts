import { limits } from '../src/sandbox/rates.js'
import { pause, until } from './process.js'
import type { Rig } from './rig.js'
import type { Row } from './table.js'

const CHATS = 200
/** More in one answer, and it comes as a file with its beginning. */
const PARTS = 5
const ANSWERS = 2
const SECOND = 1_000
const MINUTE = 60 * SECOND

/**
 * P5: 2 000 parts to 200 chats while the platform limits, against the shortest time that its limits allow. Both times
 * are the platform's. Receipts are off, so that nothing but parts is sent.
 */
export async function parts(rig: Rig): Promise<readonly Row[]> {
  await rig.redis.wipe()
  const sandbox = await rig.sandbox(['--rates', 'on'])
  const gateway = await rig.gateway({
    DATABASE_URL: await rig.database(),
    REDIS_URL: rig.redis.url,
    LARK_BASE_URL: sandbox.url,
    LARK_REACTION_RECEIVED: '',
    REQUEST_CONCURRENCY: '20',
    DELIVERY_CONCURRENCY: '50',
    PROGRESS_AFTER_MS: '0',
  })
  const { alice, dm } = sandbox.ids
  try {
    await sandbox.post('/say', { chatId: dm, from: alice, text: '!reply ready' })
    await until(async () => (await sandbox.stats()).sends.length > 0, 'the first answer')
    const chats: string[] = []
    for (let nth = 0; nth < CHATS; nth += 1) {
      const chat = { mode: 'group', name: `Group ${nth}`, members: [alice] }
      chats.push((await sandbox.post<{ chatId: string }>('/chat', chat)).chatId)
    }
    for (let nth = 0; nth < ANSWERS; nth += 1) {
      const text = `!parts ${PARTS}`
      await Promise.all(chats.map((chatId) => sandbox.post('/say', { chatId, from: alice, mentionBot: true, text })))
    }
    const wanted = CHATS * PARTS * ANSWERS
    const mine = new Set(chats)
    const sends = await until(
      async () => {
        await pause(1_000)
        const sent = (await sandbox.stats()).sends.filter(({ chatId }) => mine.has(chatId))
        return sent.length >= wanted ? sent : null
      },
      'all parts',
      10 * MINUTE,
    )
    const times = sends.map(({ at }) => at).toSorted((a, b) => a - b)
    const took = (times.at(-1) ?? 0) - (times[0] ?? 0)
    const { calls } = await sandbox.stats()
    const refused = Object.entries(calls)
      .filter(([api]) => api.startsWith('message.'))
      .flatMap(([, codes]) => Object.entries(codes))
      .reduce((sum, [code, count]) => (code === '0' ? sum : sum + count), 0)
    const most = Math.max(
      ...chats.map((chat) => busiest(sends.filter(({ chatId }) => chatId === chat).map(({ at }) => at))),
    )
    const shortest = shortestFor(wanted)
    const ratio = took / shortest
    return [
      {
        id: 'P5',
        what: `${wanted} parts to ${CHATS} chats, limits on`,
        measured: `${(took / SECOND).toFixed(1)} s, at most ${most}/s in one chat, ${refused} calls refused`,
        target: `≤ 1.1 × ${(shortest / SECOND).toFixed(1)} s, ≤ ${limits.perTargetPerSecond}/s in one chat, no 429`,
        ratio,
        pass: ratio <= 1.1 && most <= limits.perTargetPerSecond && refused === 0,
        note: `${sends.length} parts; the shortest time is a thousand at 50/s, the next thousand when the first leave the minute`,
      },
    ]
  } finally {
    await gateway.stop()
    await sandbox.stop()
  }
}

/** The most in any second. */
function busiest(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.max(0, ...sorted.map((from, n) => sorted.slice(n).filter((at) => at < from + SECOND).length))
}

/** From the first call to the last, when each begins as soon as both limits of the API allow. */
function shortestFor(count: number): number {
  const starts: number[] = []
  for (let n = 0; n < count; n += 1) {
    const second = (starts[n - limits.perApiPerSecond] ?? -SECOND) + SECOND
    const minute = (starts[n - limits.perApiPerMinute] ?? -MINUTE) + MINUTE
    starts.push(Math.max(0, second, minute))
  }
  return starts.at(-1) ?? 0
}
