import { join } from 'node:path'
import postgres from 'postgres'
import { ENCRYPT_KEY, plainRequests, sealedRequests, VERIFICATION_TOKEN } from './events.js'
import { cpuMs } from './cpu.js'
import { closedLoop, type Answered } from './load.js'
import { start } from './process.js'
import { root, type Rig } from './rig.js'
import { median, ms, quantile, type Row } from './table.js'

const CONNECTIONS = 32
/** More than either side can answer on any machine we know. */
const MOST_PER_SECOND = 8_000

interface Turn extends Answered {
  /** Of the server, Postgres and Redis, for each event. */
  readonly cpuMs: number
}

/**
 * P2: durable ingress through the webhook against the floor. Both run all the time on the same Postgres and Redis and
 * are measured in turns, so that the machine is the same for both; the ratio is the median of the turns.
 */
export async function ingress(rig: Rig, seconds: number): Promise<readonly Row[]> {
  const [floorUrl, oursUrl] = [await rig.database(), await rig.database()]
  const sandbox = await rig.sandbox(['--rates', 'off'])
  const floor = await start(
    {
      program: process.execPath,
      args: ['--import', 'tsx', join('bench', 'floor.ts')],
      cwd: root,
      env: { DATABASE_URL: floorUrl, REDIS_URL: rig.redis.url },
    },
    (line) => (line.startsWith('ready ') ? line.slice('ready '.length) : null),
  )
  const ours = await rig.gateway(
    {
      DATABASE_URL: oursUrl,
      REDIS_URL: rig.redis.url,
      LARK_BASE_URL: sandbox.url,
      LARK_EVENTS: 'webhook',
      LARK_ENCRYPT_KEY: ENCRYPT_KEY,
      LARK_VERIFICATION_TOKEN: VERIFICATION_TOKEN,
      LARK_REACTION_RECEIVED: '',
      // No worker and no sweep: what comes in waits in the queue.
    },
    ['--role', 'gateway'],
  )
  try {
    const measure = async (url: string, make: (count: number) => Buffer[], turnMs: number): Promise<Turn> => {
      const requests = make(Math.ceil((turnMs / 1_000) * MOST_PER_SECOND) + CONNECTIONS)
      const port = Number(new URL(url).port)
      const pids = [url === ours.url ? ours.pid : floor.pid, rig.pids.postgres, rig.pids.redis]
      const before = cpuMs(pids)
      const answered = await closedLoop({ port, requests: requests.values(), connections: CONNECTIONS, ms: turnMs })
      return { ...answered, cpuMs: (cpuMs(pids) - before) / answered.ok }
    }
    const turns: { floor: Turn; ours: Turn }[] = []
    const rounds = 5
    const turnMs = (seconds / rounds / 2) * 1_000
    let sent = 0
    for (let round = -1; round < rounds; round += 1) {
      // The first round warms both up and is not counted; who goes first changes.
      const pair =
        round % 2 === 0
          ? {
              floor: await measure(floor.ready, plainRequests, turnMs),
              ours: await measure(ours.url, sealedRequests, turnMs),
            }
          : {
              ours: await measure(ours.url, sealedRequests, turnMs),
              floor: await measure(floor.ready, plainRequests, turnMs),
            }
      sent += pair.ours.ok
      if (pair.ours.other + pair.floor.other > 0) throw new Error('an answer was not 200')
      if (round >= 0) turns.push(pair)
    }
    const kept = await stored(oursUrl)
    if (kept !== sent) throw new Error(`${sent} events were answered with 200, but ${kept} are stored`)
    const ratios = turns.map((turn) => turn.ours.perSecond / turn.floor.perSecond)
    const ratio = median(ratios)
    const rate = (of: 'ours' | 'floor') => Math.round(median(turns.map((turn) => turn[of].perSecond)))
    const cpu = (of: 'ours' | 'floor') => median(turns.map((turn) => turn[of].cpuMs)).toFixed(2)
    const late = (of: 'ours' | 'floor') =>
      ms(
        quantile(
          turns.flatMap((turn) => turn[of].latencies),
          0.99,
        ),
      )
    return [
      {
        id: 'P2',
        what: 'durable ingress through the webhook',
        measured: `${rate('ours')}/s, floor ${rate('floor')}/s`,
        target: '≥ 0.70 of the floor',
        ratio,
        pass: ratio >= 0.7,
        note: `${CONNECTIONS} connections, ${rounds} turns each, ratios ${ratios.map((one) => one.toFixed(2)).join(' ')}; p99 of an answer ${late('ours')}, floor ${late('floor')}; CPU of server, Postgres and Redis for each event ${cpu('ours')} ms, floor ${cpu('floor')} ms; all ${sent} events answered with 200 are stored`,
      },
    ]
  } finally {
    await ours.stop()
    await floor.stop()
    await sandbox.stop()
  }
}

async function stored(url: string): Promise<number> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n from collab.ingress_events`
  await sql.end()
  return row?.n ?? 0
}
