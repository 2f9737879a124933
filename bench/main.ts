import { availableParallelism, loadavg } from 'node:os'
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { codexBinary } from '../test/kit/codex-bench.js'
import { ingress } from './ingress.js'
import { memory } from './memory.js'
import { overhead } from './overhead.js'
import { parts } from './parts.js'
import { pause } from './process.js'
import { receipts } from './receipts.js'
import { resumes } from './resume.js'
import { openRig, root, type Rig } from './rig.js'
import { starts } from './start.js'
import { tableOf, type Row } from './table.js'
import { turns } from './turns.js'

/**
 * `npm run bench -- [names] [--seconds N] [--quiet-below LOAD] [--profile FOLDER]`
 *
 * Names: P1 P1b P2 P3 P5 P6 T1 T2 T3; all when none is named, those on the real codex (T2, T3) where it is installed.
 * `--seconds` shortens what lasts long, for trying out. Before each measurement it waits up to `--patience` seconds until
 * the load of the machine is below `--quiet-below`.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string' },
    'quiet-below': { type: 'string' },
    patience: { type: 'string', default: '300' },
    profile: { type: 'string' },
  },
})

const seconds = values.seconds === undefined ? null : Number(values.seconds)
const measurements: Readonly<Record<string, (rig: Rig) => Promise<readonly Row[]>>> = {
  P1: (rig) => receipts(rig, { id: 'P1', perSecond: 100, seconds: seconds ?? 60, limits: false }),
  P1b: (rig) => receipts(rig, { id: 'P1b', perSecond: 15, seconds: seconds ?? 300, limits: true }),
  P2: (rig) => ingress(rig, seconds ?? 60),
  P3: async (rig) => {
    const requests = seconds === null ? 200 : seconds * 5
    return [...(await overhead(rig, 'redis', requests)), ...(await overhead(rig, 'postgres', requests))]
  },
  P5: (rig) => parts(rig),
  P6: () => starts(seconds === null ? 5 : 1),
  T1: (rig) => turns(rig, seconds === null ? 400 : seconds * 5),
  T2: (rig) => resumes(rig, seconds === null ? 5 : 1),
  T3: (rig) => memory(rig),
}

const onCodex = ['T2', 'T3']
const here = Object.keys(measurements).filter((name) => codexBinary !== null || !onCodex.includes(name))
const names = positionals.length > 0 ? positionals : here
const unknown = names.filter((name) => !Object.hasOwn(measurements, name))
if (unknown.length > 0)
  throw new Error(`unknown: ${unknown.join(', ')}; there are ${Object.keys(measurements).join(', ')}`)

const built = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: ['ignore', 2, 2] })
if (built.status !== 0) process.exit(1)

const rig = await openRig({ profile: values.profile ?? null })
const rows: Row[] = []
const loads: string[] = []
try {
  for (const name of names) {
    const load = await quiet()
    process.stderr.write(`${name} … (load ${load.toFixed(1)})\n`)
    rows.push(...((await measurements[name]?.(rig)) ?? []))
    loads.push(`${name} ${load.toFixed(1)}`)
  }
} finally {
  await rig.stop()
}
const { postgres, redis } = rig.versions
process.stdout.write(
  `${tableOf(rows)}\n\n${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores shared by load generator, gateway, sandbox, Postgres ${postgres} and Redis ${redis}; Node ${process.versions.node}; load of the machine (1 min) before each: ${loads.join(', ')}\n`,
)
process.exitCode = rows.some((row) => row.pass === false) ? 1 : 0
process.exit()

/** Other work on the machine is not what we measure. */
async function quiet(): Promise<number> {
  const below = Number(values['quiet-below'] ?? Number.POSITIVE_INFINITY)
  const end = performance.now() + Number(values.patience) * 1_000
  for (;;) {
    const load = loadavg()[0] ?? 0
    if (load <= below || performance.now() > end) return load
    await pause(2_000)
  }
}
