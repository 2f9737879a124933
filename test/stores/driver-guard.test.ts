import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { guardPostgres, marker } from '../../scripts/guard-postgres.mjs'
import { assertDriverGuard } from '../../src/stores/driver-guard.js'

const installed = fileURLToPath(new URL('../../node_modules/postgres', import.meta.url))
let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lark-manager-driver-'))
  mkdirSync(join(root, 'node_modules'))
  cpSync(installed, join(root, 'node_modules', 'postgres'), { recursive: true })
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

const file = (name: string): string => join(root, 'node_modules', 'postgres', name)

describe('the correction of the database driver', () => {
  test('is made once, in every form the package ships', () => {
    guardPostgres(root)
    expect(guardPostgres(root)).toBe('present')
    for (const form of ['src', 'cjs/src', 'cf/src'])
      expect(readFileSync(file(`${form}/index.js`), 'utf8')).toContain(`guard: '${marker}'`)
  })

  test('a source it was not written for is refused and nothing is changed', () => {
    guardPostgres(root)
    // Another version: the same file with its reconnection written differently.
    const changed = readFileSync(file('src/connection.js'), 'utf8').replaceAll('closedTime =', 'closedAt =')
    writeFileSync(file('src/connection.js'), changed)
    const untouched = readFileSync(file('src/index.js'), 'utf8').replace(`  guard: '${marker}',\n`, '')
    writeFileSync(file('src/index.js'), untouched)
    expect(() => guardPostgres(root)).toThrow('src/connection.js is not the source of 3.4.9')
    expect(readFileSync(file('src/connection.js'), 'utf8')).toBe(changed)
    expect(readFileSync(file('src/index.js'), 'utf8')).toBe(untouched)
  })

  test('a driver without it is not used', () => {
    expect(() => assertDriverGuard({})).toThrow('node scripts/guard-postgres.mjs')
    expect(() => assertDriverGuard({ guard: marker })).not.toThrow()
  })
})
