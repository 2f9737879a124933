import { closeSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isExecutable } from '../acp/command-line.js'

/** Folders of the system that every confined program sees. */
export const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'] as const

/** An interpreter may itself be a script with one. */
const DEEPEST = 4

/** Parts of a package that are its code; whatever else lies there is left out: settings, keys, data. */
const codeFolders = new Set(['bin', 'build', 'dist', 'lib', 'node_modules', 'out', 'src'])
const codeFile = /\.(?:[cm]?js|json|node|wasm)$/u

/**
 * What a program needs of its own installation, by what it is and not by where it lies: the file itself, its interpreter,
 * and the package that either belongs to. A home or a folder of data that a package happens to lie in is never part of it.
 *
 * @param args files among them (a script, a loader) are programs, too
 * @param apart folders that are no installation, whatever lies in them
 * @returns the program as it is to be started, and absolute paths without a link in them
 */
export function installationOf(
  file: string,
  args: readonly string[],
  searchPath: string | undefined,
  apart: readonly string[],
): { readonly file: string; readonly paths: readonly string[]; readonly links: ReadonlyMap<string, string> } {
  const paths = new Set<string>()
  const links = new Map<string, string>()
  const add = (path: string, depth: number): string => {
    const real = realOf(path)
    if (real === null || depth > DEEPEST) return path
    for (const one of partsOf(real, apart)) paths.add(one)
    if (real !== path) links.set(path, real)
    const interpreter = interpreterOf(real, searchPath)
    if (interpreter !== null) add(interpreter, depth + 1)
    return real
  }
  const program = add(file, 0)
  for (const arg of args) {
    const path = pathIn(arg)
    if (path !== null) add(path, 0)
  }
  return { file: program, paths: [...paths], links }
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

export const isOfSystem = (path: string): boolean => systemFolders.some((folder) => isWithin(path, folder))

function partsOf(real: string, apart: readonly string[]): readonly string[] {
  if (isOfSystem(real)) return []
  const modules = real.indexOf(`${sep}node_modules${sep}`)
  // What a package needs may lie beside it.
  if (modules > 0) return [real.slice(0, modules + sep.length + 'node_modules'.length)]
  for (let folder = dirname(real); dirname(folder) !== folder; folder = dirname(folder)) {
    const names = namesIn(folder)
    if (names.includes('pyvenv.cfg') && isPackage(folder, apart)) return [folder]
    if (!names.includes('package.json') || !isPackage(folder, apart)) continue
    return [
      real,
      ...names.filter((name) => codeFolders.has(name) || codeFile.test(name)).map((name) => join(folder, name)),
    ]
  }
  return [real]
}

/** A package lies somewhere below; the folders at the top, homes, and what holds them are no package. */
function isPackage(folder: string, apart: readonly string[]): boolean {
  const shallow = folder.split(sep).filter(Boolean).length < 2
  return !shallow && folder !== '/var/tmp' && !apart.includes(folder)
}

function interpreterOf(file: string, searchPath: string | undefined): string | null {
  const [, program = '', argument = ''] = /^#! *(\S+)(?: +(?:-S +)?(\S+))?/u.exec(firstLine(file)) ?? []
  if (program === '') return null
  if (basename(program) !== 'env') return program
  const found = (searchPath ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, argument))
  return argument === '' ? null : (found.find(isExecutable) ?? null)
}

function firstLine(file: string): string {
  try {
    const opened = openSync(file, 'r')
    try {
      const buffer = Buffer.alloc(256)
      return buffer.toString('utf8', 0, readSync(opened, buffer, 0, 256, 0)).split('\n', 1)[0] ?? ''
    } finally {
      closeSync(opened)
    }
  } catch {
    return ''
  }
}

/** The file that an argument names; null for any other word. */
function pathIn(arg: string): string | null {
  try {
    const path = arg.startsWith('file:') ? fileURLToPath(arg) : arg
    return isAbsolute(path) && statSync(path).isFile() ? path : null
  } catch {
    return null
  }
}

/** Where a path really leads; null when nothing is there. */
export function realOf(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
