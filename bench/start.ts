import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pause, start, type Started } from './process.js'
import { root } from './rig.js'
import { median, ms, type Row } from './table.js'

const limits = { empty: 6_000, existing: 3_000, killed: 5_000 } as const
const names = {
  empty: 'DATA_DIR empty',
  existing: 'DATA_DIR existing',
  killed: 'after SIGKILL of the process',
} as const

/** P6: `npm start` until its `ready` line, installed and built, with the embedded database and the local platform. */
export async function starts(rounds: number): Promise<readonly Row[]> {
  const took: Record<keyof typeof limits, number[]> = { empty: [], existing: [], killed: [] }
  for (let round = 0; round < rounds; round += 1) {
    const dataDir = mkdtempSync(join(tmpdir(), 'lark-manager-bench-start-'))
    try {
      took.empty.push(await once(dataDir, 'stop'))
      took.existing.push(await once(dataDir, 'kill'))
      took.killed.push(await once(dataDir, 'stop'))
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
  return (['empty', 'existing', 'killed'] as const).map((kind) => {
    const typical = median(took[kind])
    return {
      id: 'P6',
      what: `npm start → ready, ${names[kind]}`,
      measured: `median ${ms(typical)} of ${took[kind].map((one) => (one / 1_000).toFixed(2)).join(', ')} s`,
      target: `≤ ${limits[kind] / 1_000} s`,
      ratio: typical / limits[kind],
      pass: typical <= limits[kind],
    }
  })
}

async function once(dataDir: string, end: 'stop' | 'kill'): Promise<number> {
  const npm: Started<true> = await start(
    { program: 'npm', args: ['start'], cwd: root, env: { DATA_DIR: dataDir, PORT: '0', HOST: '127.0.0.1' } },
    (line) => (line.startsWith('ready ') ? true : null),
  )
  // npm is one process and the gateway another; only the lock names the second.
  const { pid } = JSON.parse(readFileSync(join(dataDir, 'lock.json'), 'utf8')) as { pid: number }
  process.kill(pid, end === 'kill' ? 'SIGKILL' : 'SIGTERM')
  while (isAlive(pid)) await pause(20)
  await npm.stop()
  return npm.tookMs
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
