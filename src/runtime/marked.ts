import { readdir, readFile } from 'node:fs/promises'
import { sha256 } from '../lib/digest.js'
import { SECOND } from '../lib/time.js'

/**
 * Names the executor in the environment of everything that it starts. Some agents begin their commands in sessions of
 * their own, which the end of the agent's process group does not reach; the mark is inherited all the same.
 */
export const MARK = 'LARK_MANAGER_EXECUTOR'

/** The same for every process that ever serves one session of one workspace, whichever gateway process starts it. */
export const markOf = (runtime: string, workspace: string, lane: string): string =>
  sha256(`executor\u0000${runtime}\u0000${workspace}\u0000${lane}`).slice(0, 32)

const POLL_MS = 20
const GIVE_UP_MS = 2 * SECOND

/**
 * Every process that carries a mark, apart from those of one process group. Linux only; elsewhere none is found. A
 * command that was started with an emptied environment is not found either.
 */
export async function markedProcesses(mark: string, apartFrom: number | null): Promise<readonly number[]> {
  const entries = await readdir('/proc').catch(() => [])
  const found = await Promise.all(entries.filter((entry) => /^\d+$/u.test(entry)).map((pid) => carries(pid, mark)))
  const marked = found.flatMap((pid) => (pid === null ? [] : [pid]))
  if (apartFrom === null || marked.length === 0) return marked
  const groups = await Promise.all(marked.map(groupOf))
  return marked.filter((_, at) => groups[at] !== apartFrom)
}

/** The command lines of those that started no other one among them: what a person would call the commands. */
export async function commandsOf(pids: readonly number[]): Promise<readonly string[]> {
  const found = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
      return { pid, parent, line: line.split('\0').filter(Boolean).join(' ') }
    }),
  )
  const parents = new Set(found.map(({ parent }) => parent))
  return found.flatMap(({ pid, line }) => (line === '' || parents.has(pid) ? [] : [line]))
}

/**
 * Ends every process that carries the mark, SIGTERM first.
 *
 * @returns whether all of them are gone, and how many there were
 */
export async function endMarked(
  mark: string,
  apartFrom: number | null,
  termMs: number,
): Promise<{ readonly gone: boolean; readonly count: number }> {
  const all = new Set<number>()
  let emptyLooks = 0
  for (let waited = 0; ; waited += POLL_MS) {
    const here = await markedProcesses(mark, apartFrom)
    // Looked at twice: one that ends may have started another behind our back.
    emptyLooks = here.length === 0 ? emptyLooks + 1 : 0
    if (emptyLooks > 1 || (emptyLooks > 0 && all.size === 0)) return { gone: true, count: all.size }
    if (waited >= termMs + GIVE_UP_MS) return { gone: false, count: all.size }
    for (const pid of here) {
      if (!all.has(pid)) signal(pid, 'SIGTERM')
      else if (waited >= termMs) signal(pid, 'SIGKILL')
      all.add(pid)
    }
    if (here.length > 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // Gone already; the next look says so.
  }
}

/** What has ended has no environment any more. */
async function carries(pid: string, mark: string): Promise<number | null> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  return `\0${environment}`.includes(`\0${MARK}=${mark}\0`) ? Number(pid) : null
}

async function groupOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return stat === null ? null : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])
}
