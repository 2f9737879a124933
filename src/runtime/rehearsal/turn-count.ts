import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** How many turns a rehearsal session has had: one small file in the lane's workspace, so that it outlives a restart. */
export class TurnCount {
  constructor(
    private readonly workspace: string,
    private readonly session: string,
  ) {}

  /** Null when this workspace knows no such session. */
  async read(): Promise<number | null> {
    // The id becomes a file name, and it comes back from a database row.
    if (!/^[\w-]{1,100}$/u.test(this.session)) return null
    try {
      const stored: unknown = JSON.parse(await readFile(this.#path(), 'utf8'))
      const turns = (stored as { turns?: unknown } | null)?.turns
      return typeof turns === 'number' && Number.isSafeInteger(turns) && turns >= 0 ? turns : null
    } catch {
      return null
    }
  }

  async write(turns: number): Promise<void> {
    await mkdir(join(this.workspace, '.rehearsal'), { recursive: true, mode: 0o700 })
    const next = `${this.#path()}.next`
    await writeFile(next, `${JSON.stringify({ turns })}\n`, { mode: 0o600 })
    await rename(next, this.#path())
  }

  #path(): string {
    return join(this.workspace, '.rehearsal', `${this.session}.json`)
  }
}
