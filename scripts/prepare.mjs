// What `npm start` and `npm test` need before they can do their own work. Plain JavaScript without imports from
// node_modules, because that may not be there yet. Everything it prints goes to stderr.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { guardPostgres } from './guard-postgres.mjs'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const say = (text) => process.stderr.write(`${text}\n`)

/** Ends the process when this Node is older than the floor in package.json. */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  say(`Node 20.19 or newer is needed; this is ${process.versions.node}.`)
  process.exit(1)
}

/**
 * Installs the locked packages when one of them is missing or of another version, and corrects the database driver.
 * Ends the process when that fails.
 *
 * @param {{ dev: boolean }} need whether the packages for building and testing are needed too
 */
export function prepareModules(need) {
  const missing = missingPackages(need.dev)
  if (missing !== null) {
    say(`installing packages (${missing}) …`)
    // NODE_ENV=production or an omit setting must not leave out what the build needs.
    const args = ['ci', '--include=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund']
    const npm = process.env.npm_execpath
    const [program, before] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
    const done = spawnSync(program, [...before, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
    if (done.signal !== null) process.exit(130)
    if (done.error !== undefined || done.status !== 0) {
      say('npm ci did not succeed; the reason is above.')
      process.exit(1)
    }
  }
  try {
    guardPostgres(root)
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    process.exit(1)
  }
}

/** Why an installation is needed, or null. npm writes its own list last, so half an installation counts as none. */
function missingPackages(dev) {
  const listed = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(listed)) return 'none are installed'
  const installed = JSON.parse(readFileSync(listed, 'utf8')).packages
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  for (const [path, { version, optional, dev: onlyDev, devOptional }] of Object.entries(wanted)) {
    if (path === '' || optional || devOptional || (onlyDev && !dev)) continue
    if (installed[path]?.version !== version) return `${path.replace(/^.*node_modules\//, '')} ${version}`
  }
  return null
}

/** The digest of everything the build reads; null when there is no source, as in an image that holds the build only. */
function inputsDigest() {
  const source = join(root, 'src')
  if (!existsSync(source)) return null
  const hash = createHash('sha256')
  const files = [...filesBelow(source)].map((file) => relative(root, file)).sort()
  for (const file of ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', ...files]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (entry.isFile()) yield path
  }
}

const mark = join(root, 'dist', '.build')
const built = join(root, 'dist', 'src', 'main.js')

/** @returns {string | null} the digest to build for, or null when the build is there and of these inputs */
export function buildNeeded() {
  const digest = inputsDigest()
  if (!existsSync(built)) return digest ?? 'no build and no source'
  if (digest === null || (existsSync(mark) && readFileSync(mark, 'utf8') === digest)) return null
  return digest
}

/** Builds `dist` anew; ends the process when the compiler finds an error. */
export function build(digest) {
  say('building …')
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const done = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (done.signal !== null) process.exit(130)
  if (done.status !== 0 || !existsSync(built)) {
    say('The build did not succeed; the reason is above.')
    process.exit(1)
  }
  // Files the compiler does not carry over, such as style sheets.
  for (const file of filesBelow(join(root, 'src'))) {
    if (/\.(tsx?|md)$/.test(file)) continue
    const target = join(root, 'dist', relative(root, file))
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(file, target)
  }
  // Last, so that an interrupted build is done again.
  writeFileSync(mark, digest)
}
