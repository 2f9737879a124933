import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId, newSecret } from './chance.js'

export interface DataDir {
  readonly path: string
  /** Names this installation over restarts: what it held when it died is its own to take back. */
  readonly installation: string
  release(): void
}

export type DataDirOutcome =
  | { readonly ok: true; readonly dataDir: DataDir }
  | { readonly ok: false; readonly holder: { readonly pid: number; readonly since: string } }

/**
 * Takes the data folder for this process alone. The lock names its holder by pid and start time, so that a number
 * which the system gave to another process since does not block a start.
 */
export function takeDataDir(path: string, now: number): DataDirOutcome {
  makeDataDir(path)
  const lock = join(path, 'lock.json')
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid), since: new Date(now).toISOString() })
  for (let tries = 0; tries < 5; tries += 1) {
    if (placeLock(lock, mine)) {
      return {
        ok: true,
        dataDir: { path, installation: keep(path, 'installation', newId), release: () => release(path) },
      }
    }
    const text = textIn(lock)
    if (text === null) continue
    const holder = holderIn(text)
    if (holder !== null && isAlive(holder)) return { ok: false, holder }
    removeLock(lock, text)
  }
  throw new Error(`the lock in DATA_DIR could not be taken: remove lock.json if no other process uses it`)
}

/** 0711: the account of the embedded database only passes through; everything below is closed by its own mode. */
export function makeDataDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o711 })
}

/** Written beside its place and linked there in one step: whoever finds it finds all of it. False: there is one. */
function placeLock(lock: string, text: string): boolean {
  const beside = `${lock}.${newId()}`
  writeFileSync(beside, text, { mode: 0o600 })
  try {
    linkSync(beside, lock)
    return true
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === 'EEXIST') return false
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error
    return placeUnlinked(lock, text)
  } finally {
    rmSync(beside, { force: true })
  }
}

/** On a file system without links there is a moment in which the lock is empty. */
function placeUnlinked(lock: string, text: string): boolean {
  try {
    writeFileSync(lock, text, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false
    throw error
  }
}

/** Takes away the lock of a dead holder, and puts back what it took when that was a new one by then. */
function removeLock(lock: string, dead: string): void {
  const aside = `${lock}.${newId()}`
  try {
    renameSync(lock, aside)
  } catch {
    // Another start was faster.
    return
  }
  const taken = textIn(aside)
  if (taken !== null && taken !== dead) placeLock(lock, taken)
  rmSync(aside, { force: true })
}

function release(path: string): void {
  rmSync(join(path, 'url'), { force: true })
  rmSync(join(path, 'lock.json'), { force: true })
}

/** The token of the operator on a loopback host: made once, readable by this user only. */
export function adminTokenIn(path: string): string {
  return keep(path, 'admin-token', newSecret)
}

/** Reads a small kept value, or makes it. */
function keep(path: string, name: string, make: () => string): string {
  const file = join(path, name)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const value = make()
  writeFileSync(file, `${value}\n`, { mode: 0o600 })
  return value
}

/** A value that a gateway left in its data folder; null when there is none, or it is not ours to read. */
export function readKept(path: string, name: string): string | null {
  return textIn(join(path, name))?.trim() ?? null
}

/** Leaves where this gateway listens, for commands on the same machine. */
export function leaveUrl(path: string, url: string): void {
  writeFileSync(join(path, 'url'), `${url}\n`, { mode: 0o600 })
}

interface Holder {
  readonly pid: number
  readonly started: string | null
  readonly since: string
}

function textIn(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** Null for what no process of ours has written whole. */
function holderIn(text: string): Holder | null {
  try {
    const read = JSON.parse(text) as Partial<Holder> | null
    return typeof read?.pid === 'number' && read.pid > 0 ? (read as Holder) : null
  } catch {
    return null
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM'
  }
  return holder.pid !== process.pid && startOf(holder.pid) === holder.started
}

/** The process's start time as the kernel counts it; null where there is no /proc. */
function startOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19] ?? null
  } catch {
    return null
  }
}
