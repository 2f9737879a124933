import { execFile } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canReach, type Account } from './account.js'

/** One data folder with the programs that may work on it. */
export interface Cluster {
  readonly folder: string
  readonly bin: string
  readonly account: Account | null
}

export interface RunningServer {
  readonly pid: number
  readonly port: number
  readonly ready: boolean
}

const logName = 'server.log'
const logLimitBytes = 5_000_000

/**
 * Runs one Postgres program on the cluster.
 *
 * The data folder is named through the working directory when the account may not pass a folder above it (such as
 * `/root`): `/proc/self/cwd` needs no way from the top. Postgres 15 and older leave their working directory while they
 * start and cannot do this.
 */
export function run(cluster: Cluster, program: string, args: readonly string[]): Promise<string> {
  const folder = needsWorkingDirectory(cluster) ? '/proc/self/cwd' : cluster.folder
  return new Promise((resolve, reject) => {
    execFile(
      join(cluster.bin, program),
      ['-D', folder, ...args],
      {
        cwd: cluster.folder,
        env: { LC_ALL: 'C', LANG: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
        ...cluster.account,
      },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout)
        const lines = stderr.trim().split('\n')
        const reason = (lines.find((line) => line.includes('error:')) ?? lines.at(-1) ?? '').replaceAll(
          folder,
          'the data folder',
        )
        reject(new Error(`${program} failed (${error.code ?? error.signal ?? 'no exit code'}): ${reason}`))
      },
    )
  })
}

export function needsWorkingDirectory(cluster: Cluster): boolean {
  return cluster.account !== null && !canReach(cluster.folder, cluster.account)
}

/** Makes the cluster: UTF-8, locale C (it never changes with a library), passwords required on every connection. */
export async function initialise(cluster: Cluster, user: string, password: string, fsync: boolean): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'lark-manager-init-'))
  const passwordFile = join(scratch, 'password')
  try {
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
    if (cluster.account !== null) {
      chownSync(scratch, cluster.account.uid, cluster.account.gid)
      chownSync(passwordFile, cluster.account.uid, cluster.account.gid)
    }
    await run(cluster, 'initdb', [
      `--username=${user}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      ...(fsync ? [] : ['--no-sync']),
    ])
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** @returns null, or the reason the server gave for not starting */
export async function startServer(cluster: Cluster, port: number, fsync: boolean): Promise<string | null> {
  const log = join(cluster.folder, logName)
  const size = existsSync(log) ? statSync(log).size : 0
  if (size > logLimitBytes) truncateSync(log, 0)
  const from = size > logLimitBytes ? 0 : size
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The server's own log must not repeat what people wrote: no statement and no detail line of a failed one.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    ...(fsync ? {} : { fsync: 'off', full_page_writes: 'off' }),
  }
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  // pg_ctl puts the server into a session of its own, so Ctrl-C in the terminal of this process does not reach it.
  try {
    await run(cluster, 'pg_ctl', ['start', '--wait', '--timeout=60', `--log=${logName}`, '-o', options.join(' ')])
    return null
  } catch (error) {
    return logProblem(cluster, from) ?? (error instanceof Error ? error.message : 'no reason was given')
  }
}

/** Fast shutdown (sessions are ended, a checkpoint is written); immediate when that does not end in 20 s. */
export async function stopServer(cluster: Cluster): Promise<void> {
  try {
    await run(cluster, 'pg_ctl', ['stop', '--wait', '--timeout=20', '--mode=fast'])
  } catch (error) {
    if (runningServer(cluster) === null) return
    await run(cluster, 'pg_ctl', ['stop', '--wait', '--timeout=5', '--mode=immediate']).catch(() => {
      throw error
    })
  }
}

/** The server that works on this folder now, read from its lock file; a left-over file of a dead one gives null. */
export function runningServer(cluster: Cluster): RunningServer | null {
  const lock = join(cluster.folder, 'postmaster.pid')
  if (!existsSync(lock)) return null
  const lines = readFileSync(lock, 'utf8').split('\n')
  const pid = Number(lines[0])
  const port = Number(lines[3])
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return null
  if (!isPostgres(pid)) {
    // The number was given to another process after a crash; Postgres itself would refuse to start because of it.
    rmSync(lock, { force: true })
    return null
  }
  return { pid, port, ready: (lines[7] ?? '').trim() === 'ready' }
}

/** The last line the server wrote about what went wrong, without names of folders. */
function logProblem(cluster: Cluster, from: number): string | null {
  const log = join(cluster.folder, logName)
  if (!existsSync(log)) return null
  const lines = readFileSync(log).subarray(from).toString('utf8').split('\n')
  const line = lines.findLast((text) => text.includes('FATAL:'))
  return line?.replace(/^.*FATAL: +/, '').replaceAll(cluster.folder, 'the data folder') ?? null
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function isPostgres(pid: number): boolean {
  if (process.platform !== 'linux') return true
  try {
    return readlinkSync(`/proc/${pid}/exe`).includes('postgres')
  } catch (error) {
    // A process that is ending or waits to be collected has no program any more.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
  }
  try {
    // Root in a container may not look at programs of other accounts; the name is open to everybody.
    return /^\d+ \(postgres\) [^ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
