import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface Started<T> {
  readonly ready: T
  /** From the call to the line that said it. */
  readonly tookMs: number
  readonly pid: number
  /** Asks it to end, and ends it after 15 s. */
  stop(): Promise<void>
}

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly limitMs?: number
}

const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/**
 * Starts a process with this environment and nothing else of ours, and waits for the line of its stdout that says it is
 * ready. When it ends before that, the last of what it said is in the error.
 */
export async function start<T>(command: Command, readyIn: (line: string) => T | null): Promise<Started<T>> {
  const from = performance.now()
  const child = spawn(command.program, command.args, {
    cwd: command.cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], LANG: 'C.UTF-8', ...command.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => (said = (said + bytes.toString('utf8')).slice(-4_000)))
  const ready = await new Promise<T>((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`not ready in time; it said:\n${said}`)), command.limitMs ?? 60_000)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it was ready; it said:\n${said}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = readyIn(line)
      if (found === null) return
      clearTimeout(limit)
      resolve(found)
    })
  }).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  const tookMs = performance.now() - from
  return { ready, tookMs, pid: child.pid ?? 0, stop: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const limit = setTimeout(() => child.kill('SIGKILL'), 15_000)
  await ended
  clearTimeout(limit)
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Looks until it is so; names what was waited for when it is not so in time. */
export async function until<T>(look: () => Promise<T | null | false>, what: string, limitMs = 30_000): Promise<T> {
  const end = performance.now() + limitMs
  for (;;) {
    const seen = await look()
    if (seen !== null && seen !== false) return seen
    if (performance.now() > end) throw new Error(`waited ${limitMs} ms for ${what}`)
    await pause(20)
  }
}
