import { readdir, readFile } from 'node:fs/promises'

const LOOK_MS = 10

/** Live processes below one, however deep. Linux only; elsewhere none are known. */
export async function descendantsOf(pid: number): Promise<readonly number[]> {
  const entries = await readdir('/proc').catch(() => [])
  const found = await Promise.all(entries.filter((entry) => /^\d+$/u.test(entry)).map(lifeOf))
  const below = (parent: number): readonly number[] =>
    found.flatMap((one) => (one?.parent === parent ? [one.pid, ...below(one.pid)] : []))
  return below(pid)
}

/** True as soon as none of them lives; false when one still does after `ms`. */
export async function becomeGone(pids: readonly number[], ms: number): Promise<boolean> {
  for (let waited = 0; ; waited += LOOK_MS) {
    const lives = await Promise.all(pids.map((pid) => lifeOf(String(pid))))
    if (lives.every((life) => life === null)) return true
    if (waited >= ms) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** Lets processes end by themselves for `ms`, then kills those that did not; says whether all are gone. */
export async function endAll(pids: readonly number[], ms: number): Promise<boolean> {
  if (await becomeGone(pids, ms)) return true
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Gone meanwhile, or not ours to end; what follows looks which.
    }
  }
  return becomeGone(pids, ms)
}

/** Null for one that has ended, collected or not. */
async function lifeOf(pid: string): Promise<{ readonly pid: number; readonly parent: number } | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  // The command name stands in parentheses and may hold anything; the fields follow its last one.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return fields.length < 2 || /[ZX]/u.test(fields[0] ?? '') ? null : { pid: Number(pid), parent: Number(fields[1]) }
}
