import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { newSecret } from '../../src/app/chance.js'
import { silentLogger } from '../../src/lib/log.js'
import { isConnectionLost, openDb, type Db } from '../../src/stores/db.js'
import { startEmbedded, type EmbeddedPostgres } from '../../src/stores/embedded/postgres.js'

// A defect here shows as an exception outside every test: vitest then fails the run.

/** Kills the session a transaction runs in, from another one, and waits until it is gone. */
async function killSession(db: Db, pid: number): Promise<void> {
  await db.direct`select pg_terminate_backend(${pid}, 5000)`
}

async function pidOf(sql: postgres.ISql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  return row!.pid
}

const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => error,
  )

describe('a session that is killed', () => {
  let fresh: FreshDb

  beforeAll(async () => {
    // One connection, so that what a dead transaction leaves behind meets the next statement.
    fresh = await freshDb({ empty: true, max: 1 })
    await fresh.db.sql`create table steps (name text primary key)`
  })

  afterAll(() => fresh.drop())

  test('between two statements of a transaction: the transaction fails, the process and the pool go on', async () => {
    const { db } = fresh
    for (let round = 0; round < 8; round++) {
      const failed = await outcome(
        db.tx(async (tx) => {
          await tx`insert into steps (name) values (${`before ${round}`})`
          await killSession(db, await pidOf(tx))
          await tx`insert into steps (name) values (${`after ${round}`})`
        }),
      )
      expect(isConnectionLost(failed)).toBe(true)
      expect(await db.sql`select name from steps`).toHaveLength(0)
    }
  })

  test('the function of the lost transaction cannot write through the connection that somebody else got', async () => {
    const { db } = fresh
    let goOn: () => void = () => {}
    const others = new Promise<void>((resolve) => (goOn = resolve))
    let late: Promise<unknown> = Promise.resolve()
    const lost = db.tx(async (tx) => {
      await killSession(db, await pidOf(tx))
      late = others.then(() => tx`insert into steps (name) values ('zombie')`)
      await late
    })
    expect(isConnectionLost(await outcome(lost))).toBe(true)
    // The only connection is open again and busy with another transaction when the dead one speaks.
    await db.tx(async (tx) => {
      await tx`insert into steps (name) values ('other')`
      goOn()
      expect(isConnectionLost(await outcome(late))).toBe(true)
    })
    expect(await db.sql`select name from steps`).toEqual([{ name: 'other' }])
    await db.sql`delete from steps`
  })

  test('while a statement runs: it fails, and the next one does not get its error', async () => {
    const { db } = fresh
    const pid = await pidOf(db.sql)
    const running = outcome(db.sql`select pg_sleep(30)`)
    await expect
      .poll(
        async () => (await db.direct`select 1 from pg_stat_activity where pid = ${pid} and state = 'active'`).length,
      )
      .toBe(1)
    await killSession(db, pid)
    expect(isConnectionLost(await running)).toBe(true)
    expect(await db.sql`select 1 as one`).toEqual([{ one: 1 }])
  })

  test('in the same instant as statements are handed over: each one ends, and the pool goes on', async () => {
    const { db } = fresh
    for (let round = 0; round < 8; round++) {
      const pid = await pidOf(db.sql)
      const killed = killSession(db, pid)
      const many = Array.from({ length: 20 }, (_, n) => outcome(db.sql`select ${n}::int as n`))
      await killed
      for (const each of await Promise.all(many)) expect(each === 'done' || isConnectionLost(each)).toBe(true)
      expect(await db.sql`select 1 as one`).toEqual([{ one: 1 }])
    }
  })
})

describe('a connection that is reset', () => {
  let fresh: FreshDb
  let proxy: Server
  let db: Db
  const clients = new Set<Socket>()

  beforeAll(async () => {
    fresh = await freshDb({ empty: true, max: 1 })
    await fresh.db.sql`create table steps (name text primary key)`
    const url = new URL(fresh.url)
    const server = { host: url.hostname, port: Number(url.port) }
    proxy = createServer((client) => {
      const upstream = connect(server)
      clients.add(client)
      client.on('error', () => upstream.destroy())
      upstream.on('error', () => client.destroy())
      client.pipe(upstream).pipe(client)
      client.on('close', () => clients.delete(client))
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    url.port = String((proxy.address() as AddressInfo).port)
    db = openDb({ url: url.toString(), logger: silentLogger, max: 1 })
  })

  afterAll(async () => {
    await db.close()
    proxy.close()
    await fresh.drop()
  })

  test('while a statement of a transaction runs: it fails, and the next transaction there is served', async () => {
    for (let round = 0; round < 8; round++) {
      let pid = 0
      const lost = outcome(
        db.tx(async (tx) => {
          pid = await pidOf(tx)
          await tx`insert into steps (name) values ('lost')`
          // Its error makes the driver hand over the rollback before the connection has ended.
          await tx`select pg_sleep(30)`
        }),
      )
      await expect
        .poll(async () => [
          ...(await fresh.db.sql`select 1 from pg_stat_activity where pid = ${pid} and query like '%sleep%'`),
        ])
        .toHaveLength(1)
      for (const client of clients) client.resetAndDestroy()
      await killSession(fresh.db, pid)
      expect(isConnectionLost(await lost)).toBe(true)
      await db.tx((tx) => tx`insert into steps (name) values (${`kept ${round}`})`)
    }
    expect(await db.sql`select name from steps`).toHaveLength(8)
  })
})

describe('a server that is killed', () => {
  let dataDir: string
  let server: EmbeddedPostgres
  let db: Db

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'lark-manager-kill-'))
    server = await startEmbedded({ dataDir, logger: silentLogger, newSecret, fsync: false })
    db = openDb({ url: server.url, logger: silentLogger, max: 4 })
  })

  afterAll(async () => {
    await db.close()
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  test('inside transactions, by SIGKILL: they fail, and the same pool works after the restart', async () => {
    const port = Number(new URL(server.url).port)
    await db.sql`drop table if exists steps`
    await db.sql`create table steps (name text primary key)`
    let holding = 0
    let killNow: () => void = () => {}
    const killed = new Promise<void>((resolve) => (killNow = resolve))
    const lost = Array.from({ length: 8 }, (_, n) =>
      outcome(
        db.tx(async (tx) => {
          await tx`insert into steps (name) values (${`lost ${n}`})`
          if (++holding === 4) {
            process.kill(server.pid, 'SIGKILL')
            killNow()
          }
          await killed
          await tx`insert into steps (name) values (${`later ${n}`})`
          await tx`select pg_sleep(0.05)`
        }),
      ),
    )
    await killed
    server = await startEmbedded({ dataDir, logger: silentLogger, newSecret, fsync: false, port })
    const ends = await Promise.all(lost)
    expect(ends.slice(0, 4).every(isConnectionLost)).toBe(true)
    await expect.poll(() => outcome(db.sql`select 1`), { timeout: 5_000 }).toBe('done')
    const names = await db.sql<{ name: string }[]>`select name from steps`
    const kept = ends.filter((end) => end === 'done').length
    // Both statements of a transaction that came through, neither of one that was lost.
    expect(names).toHaveLength(kept * 2)
    await db.tx((tx) => tx`insert into steps (name) values ('after')`)
    expect(await db.orm.execute("select name from steps where name = 'after'")).toHaveLength(1)
  })
})
