import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../kit/platform.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

let folder: string
let dataDir: string
let child: ChildProcess | null = null

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lark-manager-start-'))
  dataDir = join(folder, 'data')
})

afterEach(async () => {
  if (child !== null && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  child = null
  rmSync(folder, { recursive: true, force: true })
})

function start(env: Readonly<Record<string, string>> = {}, ...args: string[]) {
  const begun = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts', 'start', ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: dataDir, LOG_FORMAT: 'json', LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child = begun
  let out = ''
  let err = ''
  begun.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')))
  begun.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')))
  return { child: begun, out: () => out, err: () => err, ended: once(begun, 'close') }
}

/** The server writes it before it starts and takes it away when it has ended. */
const serverFile = () => join(dataDir, 'postgres', 'postmaster.pid')
const nothingIsLeft = () => {
  expect(existsSync(serverFile())).toBe(false)
  expect(existsSync(join(dataDir, 'lock.json'))).toBe(false)
}

describe('a start that does not come to its end', { timeout: 120_000 }, () => {
  test('told to stop: the database is stopped, the folder is free, and it says so', async () => {
    const running = start()
    await expect.poll(() => existsSync(serverFile()), { timeout: 60_000, interval: 5 }).toBe(true)
    running.child.kill('SIGINT')
    expect(await running.ended).toEqual([0, null])
    expect(running.err()).toBe('stopped before it was ready\n')
    expect(running.out()).toBe('')
    nothingIsLeft()
  })

  test('an exception: the same, with one line that names no folder', async () => {
    mkdirSync(join(dataDir, 'admin-token'), { recursive: true })
    const running = start()
    expect(await running.ended).toEqual([1, null])
    expect(running.err()).toMatch(/^Error EISDIR: [^\n]*\n$/)
    expect(running.err()).not.toContain(folder)
    nothingIsLeft()
  })
})

describe('what a start needs', { timeout: 60_000 }, () => {
  const secret = 'hunter2-of-the-owner'

  test('a database that does not answer is told in one line, and no password', async () => {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    await new Promise((resolve) => probe.close(resolve))
    const app = { LARK_APP_ID: 'cli_a1b2c3d4e5f60718', LARK_APP_SECRET: 'x', ADMIN_TOKEN: 'x'.repeat(32) }
    const running = start(
      { ...app, DATABASE_URL: `postgres://lark:${secret}@127.0.0.1:${port}/lark` },
      '--role',
      'worker',
    )
    expect(await running.ended).toEqual([1, null])
    expect(running.err()).toBe('cannot reach the database (ECONNREFUSED): start it or correct DATABASE_URL\n')
    // A process of one role makes its folder, too.
    expect(existsSync(dataDir)).toBe(true)
  })

  test('a folder that is a file, and an address that is none', async () => {
    writeFileSync(join(folder, 'file'), '')
    const file = start({ DATA_DIR: join(folder, 'file') })
    expect(await file.ended).toEqual([1, null])
    expect(file.err()).toBe('cannot use DATA_DIR (EEXIST): it must name a folder in which this user may write\n')
    const address = start({ DATABASE_URL: `postgres://lark:${secret}@db:54x2/lark` })
    expect(await address.ended).toEqual([2, null])
    expect(address.err()).toContain('- DATABASE_URL must be')
    expect(address.err()).not.toContain(secret)
  })
})

describe('ready', { timeout: 120_000 }, () => {
  test('is said when messages can come in', async () => {
    const running = start()
    await expect.poll(running.out, { timeout: 100_000, interval: 5 }).toMatch(/^ready \S+\n/)
    const [, url] = /^ready (\S+)\n/.exec(running.out()) ?? []
    const answer = await fetch(`${url}/readyz`)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('lark: ok (connected as Manager')
    running.child.kill('SIGTERM')
    expect(await running.ended).toEqual([0, null])
    nothingIsLeft()
  })

  test('a worker says it without a sign-in link, and holds no connection', async () => {
    const platform = await openPlatform({ env: { LARK_OWNER_OPEN_IDS: 'ou_another' } })
    onTestFinished(() => platform.close())
    const running = start({ ...(platform.env as Record<string, string>), LOG_LEVEL: 'error' }, '--role', 'worker')
    await expect.poll(running.out, { timeout: 100_000, interval: 5 }).toMatch(/^ready \S+\n/)
    const [, url] = /^ready (\S+)\n/.exec(running.out()) ?? []
    expect(await (await fetch(`${url}/readyz`)).text()).toContain('lark: ok (sends only, as Manager)')
    // Who was bound and is not listed any more is named.
    const headers = { authorization: `Bearer ${platform.token}` }
    const doctor = (await (await fetch(`${url}/api/v1/doctor`, { headers })).json()) as { checks: { name: string }[] }
    expect(doctor.checks.find((check) => check.name === 'owners')).toMatchObject({
      state: 'warning',
      detail: `bound, but not in LARK_OWNER_OPEN_IDS: ${platform.ids.alice}`,
    })
    running.child.kill('SIGTERM')
    expect(await running.ended).toEqual([0, null])
    expect(running.out()).toBe(`ready ${url}\n`)
    expect(platform.served.sandbox.connections()).toBe(0)
    expect(await platform.db.sql`select name from collab.leases where name like 'long-connection-%'`).toHaveLength(0)
  })
})
