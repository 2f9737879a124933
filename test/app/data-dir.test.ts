import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeDataDir, readKept, takeDataDir } from '../../src/app/data-dir.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const startOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19]

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'lark-manager-lock-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const lock = (holder: object) => writeFileSync(join(folder, 'lock.json'), JSON.stringify(holder))
const locks = () => readdirSync(folder).filter((name) => name.startsWith('lock.json'))

describe('the lock of a data folder', () => {
  test('is whole when it is there, leaves nothing beside it, and goes with its holder', () => {
    const taken = takeDataDir(folder, 0)
    if (!taken.ok) throw new Error('held')
    expect(locks()).toEqual(['lock.json'])
    const held = JSON.parse(readFileSync(join(folder, 'lock.json'), 'utf8')) as object
    expect(held).toMatchObject({ pid: process.pid, since: '1970-01-01T00:00:00.000Z' })
    taken.dataDir.release()
    expect(locks()).toEqual([])
    expect(readKept(folder, 'installation')).toBe(taken.dataDir.installation)
  })

  test.runIf(process.platform === 'linux')('a living holder keeps it and is named', () => {
    lock({ pid: process.ppid, started: startOf(process.ppid), since: 'then' })
    expect(takeDataDir(folder, 0)).toMatchObject({ ok: false, holder: { pid: process.ppid, since: 'then' } })
    expect(locks()).toEqual(['lock.json'])
  })

  test.runIf(process.platform === 'linux')('a process that got the number of a dead holder does not keep it', () => {
    lock({ pid: process.ppid, started: '1', since: 'then' })
    expect(takeDataDir(folder, 0).ok).toBe(true)
    expect(locks()).toEqual(['lock.json'])
  })

  test.each(['', '{', 'null', '{"pid":"1"}', '{"pid":0}'])(
    'what no process wrote whole does not keep it: %s',
    (text) => {
      writeFileSync(join(folder, 'lock.json'), text)
      expect(takeDataDir(folder, 0).ok).toBe(true)
    },
  )

  test('a folder that is a file is an error with its code', () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    expect(() => makeDataDir(file)).toThrow(/EEXIST/)
    expect(() => takeDataDir(join(file, 'below'), 0)).toThrow(/ENOTDIR/)
  })

  test.each(['nothing', 'a lock of a dead process'])(
    'one of many starts takes it, after %s',
    { timeout: 60_000 },
    async (before) => {
      if (before !== 'nothing') lock({ pid: 2 ** 22 - 1, started: '1', since: 'then' })
      // They begin at one moment, whenever each was loaded, and stay until all have tried.
      const program = `
      const { takeDataDir } = await import('./src/app/data-dir.ts')
      process.stdout.write('loaded\\n')
      await new Promise((resolve) => process.stdin.once('data', resolve))
      process.stdout.write(takeDataDir(process.argv[1], 0).ok ? 'taken\\n' : 'held\\n')
      process.stdin.once('end', () => process.exit(0))`
      const starts = Array.from({ length: 4 }, () => {
        const args = ['--import', 'tsx', '--input-type=module', '-e', program, folder]
        const child = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] })
        let out = ''
        child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')))
        return { child, out: () => out }
      })
      const all = (mark: string) =>
        expect.poll(() => starts.filter((it) => it.out().split('\n').length > (mark === 'loaded' ? 1 : 2)).length, {
          timeout: 50_000,
        })
      try {
        await all('loaded').toBe(4)
        for (const { child } of starts) child.stdin.write('go\n')
        await all('tried').toBe(4)
        expect(starts.map((it) => it.out().split('\n')[1]).toSorted()).toEqual(['held', 'held', 'held', 'taken'])
        expect(locks()).toEqual(['lock.json'])
      } finally {
        for (const { child } of starts) child.stdin.end()
      }
    },
  )
})
