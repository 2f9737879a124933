import { join } from 'node:path'
import postgres from 'postgres'
import { ownerIds, ownersIn, say, turnOn } from './owners.js'
import { root, type Rig } from './rig.js'
import { quantile, spread, type Row } from './table.js'

const OWNERS = 4
const WARM_UP = 20
const LIMIT_MS = 50
/** Between first and last words. A model takes longer; without it the news that the turn began is still being written. */
const ANSWERS_AFTER_MS = 50

interface Taken {
  readonly before: number[]
  readonly after: number[]
}

/**
 * T1: what a turn costs beside its agent, an ACP agent in a process of its own. First from the prompt being composed until
 * the agent has it whole, through the row of the turn, the adapter and the pipe; then from the agent's last words until
 * its result is committed with the delivery. One at a time and as many as one process runs at the same time.
 */
export async function turns(rig: Rig, count: number): Promise<readonly Row[]> {
  const databaseUrl = await rig.database()
  const sandbox = await rig.sandbox(['--rates', 'off'])
  const program = [process.execPath, join(root, 'node_modules/tsx/dist/cli.mjs'), join(root, 'bench/turn-agent.ts')]
  const gateway = await rig.gateway({
    DATABASE_URL: databaseUrl,
    LARK_BASE_URL: sandbox.url,
    LARK_PACING: 'off',
    LARK_OWNER_OPEN_IDS: ownerIds(OWNERS).join(','),
    MANAGER_ENDPOINT: 'acp',
    MANAGER_COMMAND: program.map((word) => `"${word}"`).join(' '),
  })
  const sql = postgres(databaseUrl, { max: OWNERS, onnotice: () => {} })
  try {
    const owners = await ownersIn(sandbox, OWNERS)
    const run = async (atOnce: number, times: number, waitMs: number): Promise<Taken> => {
      const taken: Taken = { before: [], after: [] }
      let next = 0
      const one = async (place: number): Promise<void> => {
        while (next < times) {
          const nth = next++
          const owner = owners[atOnce === 1 ? nth % OWNERS : place]
          if (owner === undefined) throw new Error('more at once than owners')
          const ended = await turnOn(sql, await say(sandbox, owner, `number ${nth}, wait=${waitMs}`))
          const { had, gave } = JSON.parse(ended.answer) as { had: number; gave: number }
          taken.before.push(had - ended.composedAt)
          taken.after.push(ended.committedAt - gave)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, (_, place) => one(place)))
      return taken
    }
    // Starts the agents, and binds the owners.
    await run(1, WARM_UP, 0)
    const [alone, together] = [await run(1, count, ANSWERS_AFTER_MS), await run(OWNERS, count, ANSWERS_AFTER_MS)]
    const atOnce = await run(1, Math.ceil(count / 2), 0)
    return [
      rowOf('prompt composed → agent has it, one at a time', alone.before, true),
      rowOf('last words → result committed, one at a time', alone.after, true),
      rowOf(`prompt composed → agent has it, ${OWNERS} at a time`, together.before, true),
      rowOf(`last words → result committed, ${OWNERS} at a time`, together.after, true),
      rowOf('last words → result committed, of an agent that answers at once', atOnce.after, false),
    ]
  } finally {
    await sql.end()
    await gateway.stop()
    await sandbox.stop()
  }
}

function rowOf(what: string, took: readonly number[], hasTarget: boolean): Row {
  const p99 = quantile(took, 0.99)
  return {
    id: 'T1',
    what: `${what}, ${took.length} turns`,
    measured: spread(took),
    target: hasTarget ? `p99 ≤ ${LIMIT_MS} ms` : '–',
    ratio: hasTarget ? p99 / LIMIT_MS : null,
    pass: hasTarget ? p99 <= LIMIT_MS : null,
  }
}
