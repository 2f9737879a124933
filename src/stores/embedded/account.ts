import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { linkLibraries, type Binaries } from './binaries.js'

/** The account Postgres runs as when this process is root: Postgres refuses to run as uid 0. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** Null for a normal user, who runs Postgres as himself. */
export function accountForPostgres(passwdFile = '/etc/passwd'): Account | null {
  if (process.getuid?.() !== 0) return null
  const lines = existsSync(passwdFile) ? readFileSync(passwdFile, 'utf8').split('\n') : []
  for (const name of ['postgres', 'nobody']) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':')
    const uid = Number(fields?.[2])
    const gid = Number(fields?.[3])
    if (Number.isInteger(uid) && Number.isInteger(gid) && uid > 0) return { uid, gid }
  }
  return { uid: 65_534, gid: 65_534 }
}

/** Whether every folder above (and including) `path` lets the account pass. Access lists are not looked at. */
export function canReach(path: string, account: Account): boolean {
  for (let current = resolve(path); ; current = dirname(current)) {
    const stat = statSync(current)
    const shift = stat.uid === account.uid ? 6 : stat.gid === account.gid ? 3 : 0
    if (((stat.mode >> shift) & 1) === 0) return false
    if (dirname(current) === current) return true
  }
}

/**
 * Binaries the account can start: as they are, or copied once to a folder below `cacheRoot` when the checkout lies
 * where the account cannot go (for example below `/root`).
 */
export function reachableBinaries(binaries: Binaries, account: Account | null, cacheRoot = '/var/tmp'): string {
  if (binaries.native !== null) linkLibraries(binaries.native)
  if (account === null || canReach(join(binaries.bin, 'postgres'), account)) return binaries.bin
  if (binaries.native === null) return binaries.bin
  const version = packageVersion(binaries.native)
  const target = join(cacheRoot, `lark-manager-postgres-${version}-${process.arch}`)
  if (!isOurs(target)) {
    rmSync(target, { recursive: true, force: true })
    const half = `${target}.${process.pid}`
    rmSync(half, { recursive: true, force: true })
    mkdirSync(half, { mode: 0o755 })
    cpSync(binaries.native, join(half, 'native'), { recursive: true, verbatimSymlinks: true })
    chmodSync(half, 0o755)
    try {
      renameSync(half, target)
    } catch (error) {
      rmSync(half, { recursive: true, force: true })
      if (!isOurs(target)) throw error
    }
  }
  return join(target, 'native', 'bin')
}

/** A cache folder in a place anyone may write to is used only when root made it and nobody else can change it. */
function isOurs(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  return stat !== undefined && stat.isDirectory() && stat.uid === 0 && (stat.mode & 0o022) === 0
}

function packageVersion(native: string): string {
  const manifest = join(dirname(native), 'package.json')
  if (!existsSync(manifest)) return basename(dirname(native))
  return String((JSON.parse(readFileSync(manifest, 'utf8')) as { version?: unknown }).version)
}

/** Makes a folder that belongs to the account (or to this user) and to nobody else. */
export function ownFolder(folder: string, account: Account | null): void {
  mkdirSync(folder, { recursive: true })
  if (account !== null) chownSync(folder, account.uid, account.gid)
  chmodSync(folder, 0o700)
}
