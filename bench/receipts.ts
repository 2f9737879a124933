import postgres from 'postgres'
import type { WorldMessage } from '../src/sandbox/world.js'
import { pause, until } from './process.js'
import type { Rig, Sandbox } from './rig.js'
import { ms, quantile, spread, type Row } from './table.js'

const CHATS = 500
const TURN_SECONDS = 30

export interface ReceiptLoad {
  readonly id: 'P1' | 'P1b'
  readonly perSecond: number
  readonly seconds: number
  /** The platform limits, and so do we. */
  readonly limits: boolean
}

/**
 * P1, P1b: from the event to the accepted reaction, seen from the platform: both times are the sandbox's, so the way of
 * the event to us and 20 ms of the platform are in it. Messages come at fixed times whatever became of earlier ones.
 */
export async function receipts(rig: Rig, load: ReceiptLoad): Promise<readonly Row[]> {
  await rig.redis.wipe()
  const databaseUrl = await rig.database()
  const sandbox = await rig.sandbox(['--rates', load.limits ? 'on' : 'off'])
  const gateway = await rig.gateway({
    DATABASE_URL: databaseUrl,
    REDIS_URL: rig.redis.url,
    LARK_BASE_URL: sandbox.url,
    LARK_PACING: load.limits ? 'on' : 'off',
    REQUEST_CONCURRENCY: '1',
  })
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  try {
    const chats = await prepare(sandbox, load.seconds)
    await until(
      async () => (await sql`select 1 from collab.turns where ended_at is null`).length > 0,
      'the turn that holds the only place',
    )
    await sandbox.post('/faults', { latency: 20 })
    await say(sandbox, chats, load.perSecond, 3)
    await pause(1_000)

    const said = await say(sandbox, chats, load.perSecond, load.seconds)
    const reacted = async () => {
      const { reactions } = await sandbox.stats()
      return said.map((message) => reactions[message.id])
    }
    // A look at everything takes the sandbox a while: not before the last ones had their time.
    await pause(2_000)
    await until(
      async () => (await reacted()).every((entry) => (entry?.reactedAt.length ?? 0) > 0),
      'the receipts',
      5_000,
    ).catch(() => null)
    const entries = await reacted()
    const took = entries.flatMap((entry) => {
      const at = entry?.reactedAt[0]
      return entry === undefined || at === undefined ? [] : [at - entry.saidAt]
    })
    const doubled = entries.filter((entry) => (entry?.reactedAt.length ?? 0) > 1).length
    const stats = await sandbox.stats()
    const calls = stats.calls['reaction.create'] ?? {}
    if (stats.sends.some((sent) => chats.includes(sent.chatId))) throw new Error('a message was answered meanwhile')
    const refused = Object.entries(calls).reduce((sum, [code, count]) => (code === '0' ? sum : sum + count), 0)
    const [row] = await sql<{ skipped: number; ours: number | null }[]>`
      select (select count(*)::int from collab.reactions where state = 'skipped') as skipped,
        (select percentile_cont(0.99) within group (order by r.placed_at - e.received_at)
          from collab.reactions r join collab.ingress_events e on e.bot = r.bot and e.key = r.message_id
          where r.purpose = 'received' and r.placed_at is not null) as ours`
    const whole = took.length === said.length && doubled === 0 && refused === 0 && row?.skipped === 0
    const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)]
    const inTime = p99 <= 150 && (load.id === 'P1b' || p50 <= 60)
    return [
      {
        id: load.id,
        what: `event → reaction accepted, ${load.perSecond}/s over ${CHATS} chats, ${load.seconds} s, limits ${load.limits ? 'on' : 'off'}`,
        measured: spread(took),
        target: load.id === 'P1' ? 'p50 ≤ 60 ms, p99 ≤ 150 ms' : 'p99 ≤ 150 ms, none skipped, no 429',
        ratio: Math.max(p99 / 150, load.id === 'P1' ? p50 / 60 : 0),
        pass: whole && inTime,
        note: `${took.length} of ${said.length} receipts, ${row?.skipped ?? '?'} skipped, ${refused} calls refused, ${doubled} placed twice; by our own clock p99 ${ms(row?.ours ?? Number.NaN)} until the answer of the platform was stored`,
      },
    ]
  } finally {
    await sql.end()
    await gateway.stop()
    await sandbox.stop()
  }
}

/** Binds the owner by a first direct message, makes the chats, and takes the only place for turns for the whole time. */
async function prepare(sandbox: Sandbox, seconds: number): Promise<readonly string[]> {
  const { alice, dm } = sandbox.ids
  await sandbox.post('/say', { chatId: dm, from: alice, text: '!reply ready' })
  await until(async () => (await sandbox.stats()).sends.length > 0, 'the first answer')
  const made = async (name: string): Promise<string> =>
    (await sandbox.post<{ chatId: string }>('/chat', { mode: 'group', name, members: [alice] })).chatId
  const chats: string[] = []
  for (let nth = 0; nth < CHATS; nth += 1) chats.push(await made(`Group ${nth}`))
  const turns = Math.ceil((seconds + 15) / TURN_SECONDS) + 1
  for (let nth = 0; nth < turns; nth += 1) {
    const chatId = await made(`Long turn ${nth}`)
    await sandbox.post('/say', { chatId, from: alice, mentionBot: true, text: `!delay ${TURN_SECONDS}s\n!reply done` })
  }
  return chats
}

/** Says one message after the other at the given rate, addressed to the bot. Never waits for an answer. */
async function say(
  sandbox: Sandbox,
  chats: readonly string[],
  perSecond: number,
  seconds: number,
): Promise<readonly WorldMessage[]> {
  const from = performance.now()
  const said: Promise<WorldMessage>[] = []
  const count = Math.round(perSecond * seconds)
  while (said.length < count) {
    const nth = said.length
    const wait = from + (nth * 1_000) / perSecond - performance.now()
    if (wait > 1) await pause(wait)
    const text = `!reply 第 ${nth} 条已收到 noted`
    const chatId = chats[nth % chats.length] ?? ''
    said.push(sandbox.post('/say', { chatId, from: sandbox.ids.alice, mentionBot: true, text }))
  }
  return await Promise.all(said)
}
