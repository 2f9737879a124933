import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

// The scripts at work on a small package: it says how it was called, and counts the signals it gets.
const program = `
let interrupts = 0
process.stdout.write('ready ' + JSON.stringify(process.argv.slice(2)) + '\\n')
const stay = setInterval(() => {}, 1000)
process.on('SIGINT', () => {
  interrupts++
  // What npm does: it passes on the signal that the terminal has sent already.
  if (interrupts === 1) process.kill(process.pid, 'SIGINT')
  setTimeout(() => {
    process.stdout.write('interrupts ' + interrupts + '\\n')
    process.exitCode = 7
    clearInterval(stay)
  }, 100)
})
`

let folder: string
let child: ChildProcess | null = null

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lark-manager-start-'))
  cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true })
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'])
    cpSync(join(root, file), join(folder, file))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'src', 'page'), { recursive: true })
  writeFileSync(join(folder, 'src', 'main.ts'), program)
  writeFileSync(join(folder, 'src', 'page', 'style.css'), 'body {}\n')
})

afterEach(async () => {
  if (child !== null && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  child = null
  rmSync(folder, { recursive: true, force: true })
})

interface Running {
  readonly out: () => string
  readonly err: () => string
  readonly ended: Promise<unknown[]>
}

function start(...args: string[]): Running {
  const own = spawn(process.execPath, [join(folder, 'scripts', 'start.mjs'), ...args], {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child = own
  let out = ''
  let err = ''
  own.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')))
  own.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')))
  return { out: () => out, err: () => err, ended: once(own, 'close') }
}

const ready = (running: Running) => expect.poll(running.out, { timeout: 60_000 }).toContain('ready')

describe('npm start', () => {
  test('builds once, hands the arguments on, and leaves stdout to the program', { timeout: 120_000 }, async () => {
    const first = start('--role', 'worker')
    await ready(first)
    expect(first.out()).toBe('ready ["start","--role","worker"]\n')
    expect(first.err()).toContain('building')
    expect(statSync(join(folder, 'dist', 'src', 'page', 'style.css')).isFile()).toBe(true)
    child!.kill('SIGTERM')
    await first.ended

    const second = start()
    await ready(second)
    expect(second.err()).toBe('')
    child!.kill('SIGTERM')
    await second.ended

    writeFileSync(join(folder, 'src', 'main.ts'), program.replace('ready ', 'ready again '))
    const third = start()
    await ready(third)
    expect(third.out()).toBe('ready again ["start"]\n')
  })

  test(
    'a signal that comes twice at once is one, and the exit code is the one of the program',
    { timeout: 120_000 },
    async () => {
      const running = start()
      await ready(running)
      child!.kill('SIGINT')
      child!.kill('SIGINT')
      expect(await running.ended).toEqual([7, null])
      expect(running.out()).toContain('interrupts 1\n')
    },
  )

  test('an error of the compiler ends it with 1 and is not forgotten', { timeout: 120_000 }, async () => {
    writeFileSync(join(folder, 'src', 'main.ts'), 'const wrong: number = "text"\nexport {}\n')
    for (const _ of [1, 2]) {
      const running = start()
      expect(await running.ended).toEqual([1, null])
      expect(running.err()).toContain('The build did not succeed')
      expect(running.out()).toBe('')
    }
  })
})
