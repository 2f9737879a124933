import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OutgoingFile } from '../collab/channel.js'
import type { ArtifactBytes, Workspaces } from '../collab/ports.js'
import type { LaneId } from '../collab/refs.js'
import { sha256 } from '../lib/digest.js'
import { isManaged, managedAgentsMd } from './agents-md.js'
import { numbered, safeFileName } from './file-name.js'

export interface WorkspacesOptions {
  /** Absolute path; made if it is missing. One folder per lane stands in it. */
  readonly root: string
  readonly artifacts: ArtifactBytes
}

/**
 * The private folders that agents work in. An agent may put anything into its own folder, links too, so nothing here
 * writes through a link that it finds there.
 */
export function createWorkspaces({ root, artifacts }: WorkspacesOptions): Workspaces {
  const ensure = async (lane: LaneId): Promise<string> => {
    const folder = join(root, folderName(lane))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await ensureAgentsMd(root, folder)
    return folder
  }
  return {
    ensure,
    async place(lane, file) {
      const inbox = join(await ensure(lane), 'inbox')
      await ensureRealFolder(inbox)
      const name = await held(inbox, (at) => copyInto(at, file, artifacts.pathOf(file.digest)))
      return join(inbox, name)
    },
  }
}

/** Lane ids name folders as they are where they can; another id is named by its digest. */
function folderName(lane: LaneId): string {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,119}$/u.test(lane) ? lane : `lane-${sha256(lane).slice(0, 40)}`
}

async function ensureAgentsMd(root: string, folder: string): Promise<void> {
  const path = join(folder, 'AGENTS.md')
  const current = managedAgentsMd()
  const present = await lstat(path).catch(() => null)
  if (present !== null) {
    // A link or a folder of that name was not made by us: it is the owner's.
    if (!present.isFile()) return
    const content = await readFile(path, 'utf8')
    if (content === current || !isManaged(content)) return
  }
  // Written beside the folders, where no agent can have put a link, then moved in whole.
  const next = join(root, `.agents-md-${sha256(folder).slice(0, 20)}`)
  await writeFile(next, current, { mode: 0o600 })
  await rename(next, path)
}

async function ensureRealFolder(path: string): Promise<void> {
  const present = await lstat(path).catch(() => null)
  if (present?.isDirectory() === true) return
  if (present !== null) await rename(path, `${path}.aside`)
  await mkdir(path, { recursive: true, mode: 0o700 })
}

/**
 * Holds a folder while something is put into it: an agent that runs may put a link in its place meanwhile, and would be
 * given a file wherever that leads. Where the system has no name for an open folder it goes by its path.
 */
async function held<T>(folder: string, act: (at: string) => Promise<T>): Promise<T> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const at = `/proc/self/fd/${handle.fd}`
    return await act((await lstat(at).catch(() => null)) === null ? folder : at)
  } finally {
    await handle.close()
  }
}

/** Copies under the first free name, which it gives; the same bytes under the same name are not copied twice. */
async function copyInto(folder: string, file: OutgoingFile, source: string): Promise<string> {
  const name = safeFileName(file.fileName)
  for (let count = 1; ; count++) {
    const free = numbered(name, count)
    const path = join(folder, free)
    try {
      await copyFile(source, path, constants.COPYFILE_EXCL)
      return free
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EEXIST') throw error
      if (await holds(path, file)) return free
    }
  }
}

async function holds(path: string, file: OutgoingFile): Promise<boolean> {
  const present = await lstat(path).catch(() => null)
  if (present?.isFile() !== true || present.size !== file.size) return false
  return sha256(await readFile(path)) === file.digest
}
