import { lstat, mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mount } from './mounts.js'

/** A home that one session alone has, with what all of its kind share. */
export interface PrivateHome {
  readonly path: string
  readonly shared: readonly Mount[]
}

const MOST_FILES = 200
const DEEPEST = 6

/**
 * The home of one confined session. What the operator put into the folder beside the homes (a sign-in, settings of the
 * agent) is there in each of them, and none of them can change it.
 *
 * @throws when the folders cannot be made
 */
export async function ensurePrivateHome(folder: string, session: string): Promise<PrivateHome> {
  const path = join(folder, 'homes', session)
  const common = join(folder, 'restricted')
  await mkdir(path, { recursive: true, mode: 0o700 })
  await mkdir(common, { recursive: true, mode: 0o700 })
  const shared: Mount[] = []
  for (const name of await filesIn(common, '', 0)) {
    if (shared.length < MOST_FILES && (await placeFor(path, name))) {
      shared.push({ kind: 'read', from: join(common, name), at: join(path, name) })
    }
  }
  return { path, shared }
}

/** Plain files, by their names below the folder. */
async function filesIn(folder: string, below: string, depth: number): Promise<readonly string[]> {
  if (depth > DEEPEST) return []
  const entries = await readdir(join(folder, below), { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry) => {
      const name = join(below, entry.name)
      return entry.isDirectory() ? await filesIn(folder, name, depth + 1) : entry.isFile() ? [name] : []
    }),
  )
  return found.flat()
}

/** Makes the place of a shared file, unless the agent has put a link in the way: nothing is written through one. */
async function placeFor(home: string, name: string): Promise<boolean> {
  const parts = name.split('/')
  for (const [n] of parts.slice(0, -1).entries()) {
    const folder = join(home, ...parts.slice(0, n + 1))
    await mkdir(folder, { mode: 0o700 }).catch(ignoreThere)
    if (!(await lstat(folder)).isDirectory()) return false
  }
  const file = join(home, name)
  await open(file, 'wx', 0o600).then((made) => made.close(), ignoreThere)
  return (await lstat(file)).isFile()
}

function ignoreThere(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'EEXIST') throw error
}
