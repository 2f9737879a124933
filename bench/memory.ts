import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { descendantsOf } from '../src/runtime/codex/descendants.js'
import { openCodexRig, type CodexRig } from './codex-rig.js'
import { ownerIds, ownersIn, say, turnOn } from './owners.js'
import { pause } from './process.js'
import type { Rig } from './rig.js'
import { median, type Row } from './table.js'

const TURNS = 4
const LIMIT = 1.2
/** Until memory has come to rest after something was done. Milliseconds. */
const REST_MS = 3_000
const LOOKS = 5

const short = (who: string, nth: number): string => `!reply ${who} ${nth}, short.`
/** A command, and then a model that thinks for long while all of them are looked at. */
const long = (who: string, nth: number): string => `!run echo one\n!delay 30s\n!reply ${who} ${nth}, long.`

interface Taken {
  readonly codex: number
  /** What the gateway's own process grew by since it was ready; 0 where there is none. */
  readonly growth: number
}

/**
 * T3: four codex turns at the same time through a gateway against four bare app-servers, each after one short turn. Summed
 * is the proportional share (PSS) of every codex process and its children while the model thinks, and what the
 * gateway's process grew by since it was ready. Linux only.
 */
export async function memory(rig: Rig): Promise<readonly Row[]> {
  const codex = await openCodexRig()
  try {
    const ours = await throughGateway(rig, codex)
    const bare = await bareOnes(codex)
    const ratio = (ours.codex + ours.growth) / bare.codex
    return [
      {
        id: 'T3',
        what: `${TURNS} codex turns at once, over ${TURNS} bare app-servers (PSS)`,
        measured: `${mb(ours.codex)} of codex and ${mb(ours.growth)} of the gateway, bare ${mb(bare.codex)}`,
        target: `≤ ${LIMIT} ×`,
        ratio,
        pass: ratio <= LIMIT,
      },
    ]
  } finally {
    await codex.stop()
  }
}

async function throughGateway(rig: Rig, codex: CodexRig): Promise<Taken> {
  const databaseUrl = await rig.database()
  const sandbox = await rig.sandbox(['--rates', 'off'])
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const gateway = await rig.gateway({
    ...codex.env,
    DATABASE_URL: databaseUrl,
    LARK_BASE_URL: sandbox.url,
    LARK_PACING: 'off',
    LARK_OWNER_OPEN_IDS: ownerIds(TURNS).join(','),
  })
  try {
    const owners = await ownersIn(sandbox, TURNS)
    await pause(REST_MS)
    const before = shareOf([gateway.pid])
    for (const [nth, owner] of owners.entries()) await turnOn(sql, await say(sandbox, owner, short('gateway', nth)))
    const said = await Promise.all(owners.map((owner, nth) => say(sandbox, owner, long('gateway', nth))))
    await thinking(codex, 'gateway')
    const { own, below } = await looksAt([gateway.pid])
    await Promise.all(said.map((message) => turnOn(sql, message)))
    return { codex: below, growth: own - before }
  } finally {
    await sql.end()
    await gateway.stop()
    await sandbox.stop()
  }
}

async function bareOnes(codex: CodexRig): Promise<Taken> {
  const home = codex.otherHome()
  const servers = await Promise.all(
    Array.from({ length: TURNS }, (_, nth) => codex.bare(home, join(codex.root, `bare-workspace-${nth}`))),
  )
  try {
    const threads = await Promise.all(servers.map((server) => server.open(null)))
    for (const [nth, server] of servers.entries()) await server.turn(threads[nth] ?? '', short('bare', nth))
    const turns = servers.map((server, nth) => server.turn(threads[nth] ?? '', long('bare', nth)))
    await thinking(codex, 'bare')
    const { own, below } = await looksAt(servers.map(({ pid }) => pid))
    await Promise.all(turns)
    return { codex: own + below, growth: 0 }
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

/** Every turn has run its command, and the model has the question. */
async function thinking(codex: CodexRig, who: string): Promise<void> {
  await Promise.all(Array.from({ length: TURNS }, (_, nth) => codex.asked(`${who} ${nth}, long.`, 1)))
  await pause(REST_MS)
}

/** Medians of some looks, a second apart: what these processes hold, and what all those below them do. Bytes. */
async function looksAt(pids: readonly number[]): Promise<{ readonly own: number; readonly below: number }> {
  const own: number[] = []
  const below: number[] = []
  for (let look = 0; look < LOOKS; look += 1) {
    own.push(shareOf(pids))
    below.push(shareOf((await Promise.all(pids.map(descendantsOf))).flat()))
    await pause(1_000)
  }
  return { own: median(own), below: median(below) }
}

/** Bytes; pages that several processes share count for each of them by their part. */
function shareOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    let said = ''
    try {
      said = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    } catch {
      // It ended between the two looks.
    }
    return sum + Number(/^Pss:\s+(\d+) kB/mu.exec(said)?.[1] ?? 0) * 1024
  }, 0)
}

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
