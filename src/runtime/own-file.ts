import { constants } from 'node:fs'
import { open, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** A file is opened as itself: no link in its own place is followed, and nothing is waited for. */
const AS_ITSELF = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export const openAsItself = (path: string): Promise<FileHandle> => open(path, AS_ITSELF)

/**
 * Whether what was opened lies in a folder, by the name that the system gives it: an agent may have put a link in the
 * place of a folder on the way since the path was looked at, and the gateway reads with more rights than the agent.
 *
 * @source proc(5), /proc/self/fd; where there is none the path is looked at once more
 */
export async function liesIn(file: FileHandle, path: string, folder: string): Promise<boolean> {
  const at = await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(path))
  return at.startsWith(join(await realpath(folder), sep))
}

/** A plain file of an agent's workspace; null when it is not there, lies elsewhere by now, or is larger than the limit in bytes. */
export async function readOwn(path: string, workspace: string, limit: number): Promise<Buffer | null> {
  try {
    const file = await openAsItself(path)
    try {
      const stat = await file.stat()
      if (!stat.isFile() || stat.size > limit || !(await liesIn(file, path, workspace))) return null
      return await file.readFile()
    } finally {
      await file.close()
    }
  } catch {
    return null
  }
}
