import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { silentLogger } from '../../src/lib/log.js'
import { migrate, migrationsFolder } from '../../src/stores/migrate.js'

let folder: string
let fresh: FreshDb

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lark-manager-migrations-'))
  fresh = await freshDb({ empty: true })
})

afterEach(async () => {
  await fresh.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** Writes a folder as drizzle-kit does. */
function migrations(...files: readonly string[]): void {
  mkdirSync(join(folder, 'meta'), { recursive: true })
  const entries = files.map((_, idx) => ({
    idx,
    version: '7',
    when: 1_000 + idx,
    tag: `000${idx}_step`,
    breakpoints: true,
  }))
  writeFileSync(join(folder, 'meta', '_journal.json'), JSON.stringify({ version: '7', dialect: 'postgresql', entries }))
  files.forEach((text, idx) => writeFileSync(join(folder, `000${idx}_step.sql`), text))
}

const run = () => migrate({ directUrl: fresh.url, logger: silentLogger, folder })

const everything = async () =>
  (
    await fresh.db.sql<{ name: string }[]>`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') order by 1`
  ).map((row) => row.name)

const first = 'create table one (n int);'
const second = 'create table two (n int);\n--> statement-breakpoint\ncreate index two_n on two (n);'

describe('migrations', () => {
  test('are applied in order, once, and only what is missing', async () => {
    migrations(first)
    expect(await run()).toEqual({ outcome: 'migrated', applied: 1, total: 1 })
    expect(await run()).toEqual({ outcome: 'current', total: 1 })
    migrations(first, second)
    expect(await run()).toEqual({ outcome: 'migrated', applied: 1, total: 2 })
    expect(await everything()).toEqual(['drizzle.__drizzle_migrations', 'public.one', 'public.two'])
  })

  test('of six processes at once one does the work', async () => {
    migrations(first, second)
    const outcomes = await Promise.all(Array.from({ length: 6 }, run))
    expect(outcomes.map((each) => each.outcome).sort()).toEqual([...Array<string>(5).fill('current'), 'migrated'])
  })

  test('a schema that is newer than known is refused and nothing is written', async () => {
    migrations(first, second)
    await run()
    migrations(first)
    const before = await everything()
    expect(await run()).toEqual({ outcome: 'schema-newer', known: 1, found: 2 })
    expect(await everything()).toEqual(before)
  })

  test('an applied migration that reads differently is refused and nothing is written', async () => {
    migrations(first)
    await run()
    migrations('create table one (n bigint);', second)
    expect(await run()).toEqual({ outcome: 'schema-differs', position: 0 })
    expect(await everything()).not.toContain('public.two')
  })

  test('one that fails takes the others of its run back', async () => {
    migrations(first, 'create table two (n nonsense);')
    await expect(run()).rejects.toThrow()
    expect(await everything()).toEqual(['drizzle.__drizzle_migrations'])
    migrations(first, second)
    expect(await run()).toEqual({ outcome: 'migrated', applied: 2, total: 2 })
  })

  test('the folder of the package is found, and its migrations make an empty database current', async () => {
    expect(existsSync(join(migrationsFolder, 'meta', '_journal.json'))).toBe(true)
    const done = await migrate({ directUrl: fresh.url, logger: silentLogger })
    expect(done).toMatchObject({ outcome: 'migrated' })
    expect(await migrate({ directUrl: fresh.url, logger: silentLogger })).toMatchObject({ outcome: 'current' })
  })
})
