import { join } from 'node:path'
import postgres from 'postgres'
import { openCodexRig } from './codex-rig.js'
import { ownerIds, ownersIn, say, turnOn } from './owners.js'
import type { Rig } from './rig.js'
import { median, ms, type Row } from './table.js'

const LIMIT_MS = 1_000

/**
 * T2: a session that goes on after the gateway was restarted. From the owner's message until the model is asked, less
 * what a bare `codex app-server` needs from its start until the model is asked in the same thread; each round one of both.
 */
export async function resumes(rig: Rig, rounds: number): Promise<readonly Row[]> {
  const codex = await openCodexRig()
  const databaseUrl = await rig.database()
  const sandbox = await rig.sandbox(['--rates', 'off'])
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const env = {
    ...codex.env,
    DATABASE_URL: databaseUrl,
    LARK_BASE_URL: sandbox.url,
    LARK_PACING: 'off',
    LARK_OWNER_OPEN_IDS: ownerIds(1).join(','),
  }
  let gateway = await rig.gateway(env)
  try {
    const [owner] = await ownersIn(sandbox, 1)
    if (owner === undefined) throw new Error('nobody to write')
    await turnOn(sql, await say(sandbox, owner, '!reply the first turn'))
    const ours: number[] = []
    const bare: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      await gateway.stop()
      const [bound] = await sql<{ session: string }[]>`
        select session from collab.session_bindings where ended_at is null`
      const thread = bound?.session ?? ''
      const words = (who: string): string => `!reply round ${round} of ${who}.`

      const from = Date.now()
      const server = await codex.bare(codex.home, join(codex.root, 'bare-workspace'))
      if ((await server.open(thread)) !== thread) throw new Error('the bare app-server has another thread')
      const turn = server.turn(thread, words('the bare one'))
      bare.push((await codex.asked(words('the bare one'), 0)) - from)
      await turn
      await server.stop()

      gateway = await rig.gateway(env)
      const said = Date.now()
      const message = await say(sandbox, owner, words('the gateway'))
      ours.push((await codex.asked(words('the gateway'), 0)) - said)
      await turnOn(sql, message)
      const [now] = await sql<{ session: string }[]>`
        select session from collab.session_bindings where ended_at is null`
      if (now?.session !== thread) throw new Error('the gateway did not go on in the same thread')
    }
    const beyond = ours.map((took, round) => took - (bare[round] ?? Number.NaN))
    const most = Math.max(...beyond)
    return [
      {
        id: 'T2',
        what: 'message → model asked after a restart, beyond a bare thread/resume',
        measured: `median ${ms(median(beyond))}, max ${ms(most)}`,
        target: `≤ ${LIMIT_MS / 1_000} s`,
        ratio: most / LIMIT_MS,
        pass: most <= LIMIT_MS,
        note: `gateway ${ours.join(', ')} ms; bare ${bare.join(', ')} ms`,
      },
    ]
  } finally {
    await sql.end()
    await gateway.stop()
    await sandbox.stop()
    await codex.stop()
  }
}
