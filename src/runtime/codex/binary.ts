import { execFile } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { SECOND } from '../../lib/time.js'

export type FoundBinary =
  | { readonly found: true; readonly file: string; readonly from: 'CODEX_BIN' | 'npm package' | 'PATH' }
  | { readonly found: false; readonly detail: string; readonly mend: string }

/** Versions whose protocol this adapter was run against; both ends count. */
export const TESTED = { from: '0.163.0', to: '0.171.0' } as const

const targets: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

const INSTALL = 'install it with: npm install -g @openai/codex, or set CODEX_BIN to the full path of the binary'

/**
 * Finds the codex program: the one that was named, then the npm package beside this program, then PATH. Of the npm
 * package it is the vendor's binary, not the shim before it: one process less, and signals arrive.
 *
 * `detail` holds no path: where programs lie may be private.
 *
 * @param bin  CODEX_BIN; a named one that cannot be run is never replaced by another
 * @param from where to begin looking for the npm package: an absolute folder
 */
export function findCodex(bin: string, path: string | undefined, from: string): FoundBinary {
  if (bin !== '') {
    const file = isAbsolute(bin) ? bin : resolve(bin)
    if (isExecutable(file)) return { found: true, file: behindShim(file), from: 'CODEX_BIN' }
    const detail = `CODEX_BIN (${basename(bin)}) cannot be found or run`
    return { found: false, detail, mend: 'set CODEX_BIN to the full path of the codex binary, or unset it' }
  }
  const packaged = inPackages(from)
  if (packaged !== null) return { found: true, file: packaged, from: 'npm package' }
  const onPath = (path ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, 'codex'))
    .find(isExecutable)
  if (onPath !== undefined) return { found: true, file: behindShim(onPath), from: 'PATH' }
  return { found: false, detail: 'no codex binary was found', mend: INSTALL }
}

/** The vendor's binary in a node_modules of `from` or of a folder above it. */
function inPackages(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = vendorBinary(join(folder, 'node_modules'))
    if (file !== null) return file
    if (dirname(folder) === folder) return null
  }
}

function vendorBinary(modules: string): string | null {
  const platform = `${process.platform}-${process.arch}`
  const target = targets[platform]
  if (target === undefined) return null
  const inside = join(`codex-${platform}`, 'vendor', target, 'bin', 'codex')
  const places = [
    join(modules, '@openai', inside),
    join(modules, '@openai', 'codex', 'node_modules', '@openai', inside),
  ]
  return places.find(isExecutable) ?? null
}

/** @source npm package @openai/codex: `bin/codex.js` starts the binary of its platform package */
function behindShim(file: string): string {
  let real = file
  try {
    real = realpathSync(file)
  } catch {
    // It was there a moment ago; starting it will say what is wrong.
  }
  if (!real.endsWith(join('@openai', 'codex', 'bin', 'codex.js'))) return file
  return vendorBinary(dirname(dirname(dirname(dirname(real))))) ?? file
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** What `--version` says, such as `0.171.0`; null when it says nothing of that kind. */
export function versionOf(file: string, env: Readonly<Record<string, string>>): Promise<string | null> {
  return new Promise((done) => {
    execFile(file, ['--version'], { env: { ...env }, timeout: 20 * SECOND }, (error, stdout) => {
      done(error === null ? (/(\d+\.\d+\.\d+)/u.exec(stdout)?.[1] ?? null) : null)
    })
  })
}

/** Can codex confine a command on this machine? It needs user namespaces on Linux. */
export function canConfine(file: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  return new Promise((done) => {
    const args = ['sandbox', '--', '/bin/sh', '-c', 'exit 0']
    execFile(file, args, { env: { ...env }, timeout: 20 * SECOND }, (error) => done(error === null))
  })
}

/** Is it one of the versions that this adapter was run against? */
export function isTested(version: string): boolean {
  return compare(version, TESTED.from) >= 0 && compare(version, TESTED.to) <= 0
}

function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number))
  for (const [at, part] of (a ?? []).entries()) {
    const difference = part - (b?.[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
