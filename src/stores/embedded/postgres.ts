import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import postgres from 'postgres'
import type { Logger } from '../../lib/log.js'
import { accountForPostgres, ownFolder, reachableBinaries } from './account.js'
import { findBinaries, linkLibraries, majorVersion, type Binaries } from './binaries.js'
import { initialise, needsWorkingDirectory, runningServer, startServer, stopServer, type Cluster } from './cluster.js'

export interface EmbeddedOptions {
  /** The folder of this installation; the cluster lies in `postgres` below it. Made when missing. */
  readonly dataDir: string
  /** 0 or absent: a free one. A server that is found running keeps the port it has. */
  readonly port?: number
  readonly logger: Logger
  /** Makes the password of a new cluster: letters, digits, `-` and `_`. */
  readonly newSecret: () => string
  /** False only in tests: a power cut may then lose the database. */
  readonly fsync?: boolean
  /** The value of PATH, for binaries that are neither in the npm package nor in the folders of Debian. */
  readonly searchPath?: string | undefined
  /** Only these binaries, for tests against another major version. */
  readonly bin?: string
}

export interface EmbeddedPostgres {
  /** Holds the password: not for logs. */
  readonly url: string
  readonly pid: number
  /** True when a server that an ended parent left behind was taken over. */
  readonly reused: boolean
  /** Starts it again on the same port when it died; clients reconnect by themselves. Does nothing after `stop`. */
  ensure(): Promise<'running' | 'restarted' | 'stopped'>
  stop(): Promise<void>
}

const user = 'lark_manager'
const database = 'lark_manager'

/**
 * Starts a real Postgres on 127.0.0.1 with its data below `dataDir`, or takes over the one that is already running
 * there. It runs in a session of its own and outlives this process unless `stop` is called.
 *
 * Works as root (the server runs as `postgres` or `nobody`) and as a normal user, and needs no install script of npm.
 *
 * @throws when no binaries fit, or the server does not start; the message names the reason and no folder
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const account = accountForPostgres()
  // The programs run with the cluster as their working directory.
  const dataDir = resolve(options.dataDir)
  // The account of Postgres only passes through; what else lies there is closed by its own mode.
  mkdirSync(dataDir, { recursive: true, mode: account === null ? 0o700 : 0o711 })
  const folder = join(dataDir, 'postgres')
  ownFolder(folder, account)
  const candidates: Binaries[] =
    options.bin === undefined ? findBinaries(options.searchPath) : [{ bin: options.bin, from: 'path', native: null }]
  const chosen = await choose(candidates, folder)
  const cluster: Cluster = { folder, bin: reachableBinaries(chosen, account), account }
  if (needsWorkingDirectory(cluster) && Number(await majorVersion(chosen)) < 16)
    throw new Error('this Postgres cannot work below a folder that its account may not enter: choose another DATA_DIR')

  const password = await preparedCluster(cluster, join(dataDir, 'postgres.secret'), options)
  const urlOf = (port: number) => `postgres://${user}:${password}@127.0.0.1:${port}`
  const before = runningServer(cluster)
  const reused = before !== null && before.ready && (await answers(`${urlOf(before.port)}/postgres`))
  if (before !== null && !reused) await stopServer(cluster)
  if (!reused) await start(cluster, options)

  const server = runningServer(cluster)
  if (server === null) throw new Error('Postgres ended right after it had started')
  const base = urlOf(server.port)
  await createDatabase(`${base}/postgres`)
  options.logger.info(reused ? 'embedded postgres taken over' : 'embedded postgres started', { reason: chosen.from })
  let stopped = false
  return {
    url: `${base}/${database}`,
    pid: server.pid,
    reused,
    ensure: async () => {
      if (stopped) return 'stopped'
      if (runningServer(cluster) !== null) return 'running'
      await start(cluster, { ...options, port: server.port })
      options.logger.warn('embedded postgres had ended and was started again')
      return 'restarted'
    },
    stop: async () => {
      stopped = true
      await stopServer(cluster)
    },
  }
}

/** Binaries whose major version is that of the existing data; the first ones when there is no data yet. */
async function choose(candidates: readonly Binaries[], folder: string): Promise<Binaries> {
  const first = candidates[0]
  if (first === undefined)
    throw new Error('no Postgres found: run `npm ci`, or install the Debian package `postgresql`, or set DATABASE_URL')
  const versionFile = join(folder, 'PG_VERSION')
  if (!existsSync(versionFile)) return first
  const needed = readFileSync(versionFile, 'utf8').trim()
  for (const candidate of candidates) {
    if (candidate.native !== null) linkLibraries(candidate.native)
    if ((await majorVersion(candidate)) === needed) return candidate
  }
  throw new Error(`the data in DATA_DIR was made by Postgres ${needed}, and no Postgres ${needed} is installed here`)
}

/**
 * The password of the cluster, which is made first when there is none. It is made beside its place and moved there when
 * it is complete, so a start that was ended in the middle is simply done again.
 */
async function preparedCluster(cluster: Cluster, secretFile: string, options: EmbeddedOptions): Promise<string> {
  if (existsSync(join(cluster.folder, 'PG_VERSION'))) return readFileSync(secretFile, 'utf8').trim()
  if (readdirSync(cluster.folder).length > 0)
    throw new Error('the folder `postgres` in DATA_DIR holds something that is not a database; move it away')
  const half = `${cluster.folder}.new`
  rmSync(half, { recursive: true, force: true })
  ownFolder(half, cluster.account)
  const password = options.newSecret()
  await initialise({ ...cluster, folder: half }, user, password, options.fsync ?? true)
  writeFileSync(secretFile, `${password}\n`, { mode: 0o600 })
  renameSync(half, cluster.folder)
  return password
}

async function start(cluster: Cluster, options: EmbeddedOptions): Promise<void> {
  const wanted = options.port ?? 0
  for (let attempt = 1; ; attempt++) {
    const problem = await startServer(cluster, wanted === 0 ? await freePort() : wanted, options.fsync ?? true)
    if (problem === null) return
    // Sessions of a killed server hold its memory until they notice, which takes some tries of about 0.1 s.
    const leaving = problem.includes('still in use') && attempt < 50
    // A free port can be taken by somebody else before the server has it.
    const portLost = wanted === 0 && problem.includes('could not create any TCP/IP sockets') && attempt < 4
    if (!leaving && !portLost) throw new Error(`Postgres did not start: ${problem}`)
  }
}

/** A server that was killed this moment still has its process. */
async function answers(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, fetch_types: false, connect_timeout: 5, onnotice: () => {} })
  try {
    await sql`select 1`
    return true
  } catch {
    return false
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function createDatabase(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} })
  try {
    const found = await sql`select 1 from pg_database where datname = ${database}`
    if (found.length === 0) await sql.unsafe(`create database ${database} encoding 'UTF8' template template0`)
  } finally {
    await sql.end({ timeout: 2 })
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}
