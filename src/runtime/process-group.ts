import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { Writable } from 'node:stream'
import type { QuiesceProof } from '../collab/ports.js'
import { SECOND } from '../lib/time.js'
import { within } from './wait.js'

export interface ProcessSpec {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment of the process; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** What only the process itself may read, once, from its file descriptor 3: its environment is its children's, too. */
  readonly secret?: string | null
}

export type ProcessEnd =
  | { readonly end: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly end: 'not-started' }

const POLL_MS = 20
const DRAIN_MS = 200

/** A program in a process group of its own, so that what it starts ends with it. */
export class ProcessGroup {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<ProcessEnd>

  constructor(spec: ProcessSpec) {
    const secret = spec.secret ?? null
    this.child = spawn(spec.file, spec.args, {
      cwd: spec.cwd,
      env: { ...spec.env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...(secret === null ? [] : ['pipe' as const])],
    }) as ChildProcessWithoutNullStreams
    const fourth = this.child.stdio[3]
    if (secret !== null && fourth !== null && fourth instanceof Writable) {
      fourth.on('error', () => {})
      fourth.end(secret)
    }
    // A pipe that breaks is seen as the end of the process; without a listener it would end ours.
    for (const pipe of [this.child.stdin, this.child.stdout, this.child.stderr]) pipe.on('error', () => {})
    this.ended = new Promise((resolve) => {
      this.child.once('error', () => {
        if (this.child.pid === undefined) resolve({ end: 'not-started' })
      })
      this.child.once('exit', (code, signal) => {
        // What it wrote last may still be in the pipe; a child of its own may hold that pipe open for ever.
        const drained = once(this.child, 'close').catch(() => null)
        void within(DRAIN_MS, drained, null).then(() => resolve({ end: 'exited', code, signal }))
      })
    })
  }

  get pid(): number | undefined {
    return this.child.pid
  }

  /**
   * Ends the whole group: end of input, then SIGTERM, then SIGKILL.
   *
   * @param inputMs how long a program may take to end by itself once its input ends
   * @param termMs how long it may take after SIGTERM
   */
  async end(inputMs: number, termMs: number): Promise<QuiesceProof> {
    if (this.child.pid === undefined) {
      await within(SECOND, this.ended, null)
      return { executor: this.child.pid === undefined ? 'gone' : 'unknown' }
    }
    const group = this.child.pid
    this.child.stdin.end()
    if (inputMs > 0)
      await within(
        inputMs,
        once(this.child, 'exit').catch(() => null),
        null,
      )
    if (await groupIsGone(group)) return { executor: 'gone' }
    signalGroup(group, 'SIGTERM')
    if (await becomesGone(group, termMs)) return { executor: 'gone' }
    signalGroup(group, 'SIGKILL')
    return { executor: (await becomesGone(group, 2 * SECOND)) ? 'gone' : 'unknown' }
  }
}

function signalGroup(group: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-group, signal)
  } catch {
    // Gone already, or not ours to signal; what follows looks which.
  }
}

async function becomesGone(group: number, ms: number): Promise<boolean> {
  for (let waited = 0; ; waited += POLL_MS) {
    if (await groupIsGone(group)) return true
    if (waited >= ms) return false
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** True when no process of the group can act any more. One that has ended but was not yet collected cannot. */
export async function groupIsGone(group: number): Promise<boolean> {
  try {
    process.kill(-group, 0)
  } catch (error) {
    return (error as { code?: unknown }).code === 'ESRCH'
  }
  return onlyEndedMembers(group)
}

/** Linux only; elsewhere a group that can be signalled counts as alive. */
async function onlyEndedMembers(group: number): Promise<boolean> {
  const entries = await readdir('/proc').catch(() => null)
  if (entries === null || !entries.includes('self')) return false
  const members = await Promise.all(entries.filter((entry) => /^\d+$/u.test(entry)).map(stateAndGroup))
  return members.every((member) => member === null || member.group !== group || /[ZX]/u.test(member.state))
}

async function stateAndGroup(pid: string): Promise<{ readonly state: string; readonly group: number } | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  // The command name stands in parentheses and may hold anything; the fields follow its last one.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields === undefined ? null : { state: fields[0] ?? '', group: Number(fields[2]) }
}
