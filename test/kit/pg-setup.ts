import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { guardPostgres } from '../../scripts/guard-postgres.mjs'
import { newSecret } from '../../src/app/chance.js'
import { silentLogger } from '../../src/lib/log.js'

const prefix = 'lark-manager-test-pg-'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server of this run; the URL names its maintenance database. */
    readonly pgUrl: string
    readonly pgMajor: number
  }
}

/** One embedded server for the whole run, without fsync, with a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Before the driver is loaded by anything that comes later.
  guardPostgres(project.config.root)
  const { startEmbedded } = await import('../../src/stores/embedded/postgres.js')
  const { migrate } = await import('../../src/stores/migrate.js')
  await sweep()
  const dataDir = join(tmpdir(), `${prefix}${process.pid}`)
  mkdirSync(dataDir, { mode: 0o711 })
  const server = await startEmbedded({
    dataDir,
    logger: silentLogger,
    newSecret,
    fsync: false,
    ...binOf(process.env['TEST_PG']),
  })
  const end = async (): Promise<void> => {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    const template = new URL(server.url)
    template.pathname = '/template_migrated'
    const admin = postgres(server.url, { max: 1, onnotice: () => {} })
    await admin.unsafe('create database template_migrated template template0')
    const [row] = await admin<{ v: string }[]>`select current_setting('server_version_num') as v`
    await admin.end()
    const done = await migrate({ directUrl: template.toString(), logger: silentLogger })
    if (done.outcome !== 'migrated') throw new Error(`the template database was not migrated: ${done.outcome}`)
    project.provide('pgUrl', server.url)
    project.provide('pgMajor', Math.floor(Number(row?.v) / 10_000))
  } catch (error) {
    await end()
    throw error
  }
  return end
}

function binOf(choice: string | undefined): { bin?: string } {
  if (choice === undefined || choice === '' || choice === 'embedded') return {}
  if (choice !== 'debian15') throw new Error('TEST_PG is `embedded` or `debian15`')
  const bin = '/usr/lib/postgresql/15/bin'
  if (!existsSync(bin)) throw new Error('TEST_PG=debian15 needs: apt-get install postgresql-15')
  return { bin }
}

/** Stops and removes what a killed run left behind. */
async function sweep(): Promise<void> {
  const { startEmbedded } = await import('../../src/stores/embedded/postgres.js')
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(name.startsWith(prefix) ? name.slice(prefix.length) : '')
    if (!Number.isInteger(pid) || pid <= 0 || isAlive(pid)) continue
    const dataDir = join(tmpdir(), name)
    try {
      const left = await startEmbedded({ dataDir, logger: silentLogger, newSecret, fsync: false })
      await left.stop()
    } catch {
      // Half made; the folder alone is left.
    }
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
