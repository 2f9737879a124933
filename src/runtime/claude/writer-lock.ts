import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A process by its number and the moment it began, so that a number used again is not taken for it. */
interface Seen {
  readonly pid: number
  readonly started: string | null
}

interface Held {
  readonly state: 'held'
  /** The gateway that writes. */
  readonly gateway: Seen
  /** What everything that writes for it carries in its environment. */
  readonly mark: string
}

type Entry = Held | { readonly state: 'free' }

export type LockOutcome =
  | { readonly taken: true; readonly lock: WriterLock }
  /** `leftover`: nobody holds it, but the processes of a gateway that died are still there and could not be ended. */
  | { readonly taken: false; readonly because: 'held' | 'leftover' }

/**
 * The right to write into one session, for one process at a time on all gateways that share a folder.
 *
 * Claude Code has none: two processes in one session both answer, and its history keeps one of them. Each holder has a
 * file of its own whose number is one above the last, made in one step; the highest number holds. Nobody but its holder
 * writes to a file, and a file goes only when a higher one is there, so a slow taker sees that it was late. What a
 * gateway left behind when it was killed is ended before its lock passes on.
 */
export class WriterLock {
  private constructor(
    private readonly folder: string,
    private readonly name: string,
    private readonly number: number,
    private readonly self: Seen,
    /** Names what writes under this lock; unique. */
    readonly mark: string,
  ) {}

  /**
   * @param mark a new one; whoever writes carries it in its environment
   * @param endLeftover ends everything that carries a mark, and says whether it is gone
   */
  static async take(
    folder: string,
    session: string,
    mark: string,
    endLeftover: (mark: string) => Promise<boolean>,
  ): Promise<LockOutcome> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const self: Seen = { pid: process.pid, started: await startOf(process.pid) }
    for (;;) {
      const last = Math.max(0, ...(await numbersOf(folder, session)))
      if (last > 0) {
        const entry = await entryIn(join(folder, fileName(session, last)))
        // Its holder has just made way for a higher one.
        if (entry === 'gone') continue
        if (entry.state === 'held') {
          if (await isThere(entry.gateway)) return { taken: false, because: 'held' }
          if (!(await endLeftover(entry.mark))) return { taken: false, because: 'leftover' }
        }
      }
      const lock = new WriterLock(folder, session, last + 1, self, mark)
      if (!(await lock.#place())) continue
      const now = await numbersOf(folder, session)
      if (Math.max(...now) > last + 1) {
        await rm(lock.#path, { force: true })
        continue
      }
      for (const number of now) if (number <= last) await rm(join(folder, fileName(session, number)), { force: true })
      return { taken: true, lock }
    }
  }

  async release(): Promise<void> {
    await this.#write({ state: 'free' })
  }

  get #path(): string {
    return join(this.folder, fileName(this.name, this.number))
  }

  async #place(): Promise<boolean> {
    const beside = join(this.folder, `.${this.mark}`)
    const held: Held = { state: 'held', gateway: this.self, mark: this.mark }
    await writeFile(beside, JSON.stringify(held), { mode: 0o600 })
    try {
      await link(beside, this.#path)
      return true
    } catch (error) {
      if ((error as { code?: unknown }).code === 'EEXIST') return false
      throw error
    } finally {
      await rm(beside, { force: true })
    }
  }

  async #write(entry: Entry): Promise<void> {
    const beside = `${this.#path}.next`
    await writeFile(beside, JSON.stringify(entry), { mode: 0o600 })
    await rename(beside, this.#path)
  }
}

const fileName = (session: string, number: number): string => `${session}.${number}.lock`

async function numbersOf(folder: string, session: string): Promise<readonly number[]> {
  const pattern = /^(.+)\.(\d{1,12})\.lock$/u
  return (await readdir(folder)).flatMap((name) => {
    const found = pattern.exec(name)
    return found?.[1] === session ? [Number(found[2])] : []
  })
}

async function entryIn(path: string): Promise<Entry | 'gone'> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ENOENT') return null
    throw error
  })
  if (text === null) return 'gone'
  try {
    const read = JSON.parse(text) as Partial<Held> | null
    if (read?.state === 'held' && typeof read.gateway?.pid === 'number' && typeof read.mark === 'string') {
      return read as Held
    }
  } catch {
    // Files are moved in whole: one that cannot be read was cut by a fall of the system, and its holder fell with it.
  }
  return { state: 'free' }
}

async function isThere({ pid, started }: Seen): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM' && (await startOf(pid)) === started
  }
  return (await startOf(pid)) === started
}

/** The process's start time as the kernel counts it; null where there is no /proc, or no such process. */
async function startOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}
