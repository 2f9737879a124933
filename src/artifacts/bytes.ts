import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ArtifactBytes } from '../collab/ports.js'
import { safeFileName } from './file-name.js'
import { mediaTypeOf, sniffFile } from './media-type.js'

/** Where a file stands until it is complete. */
const INCOMING = 'incoming'

export interface ArtifactBytesOptions {
  /** Absolute path; made if it is missing. */
  readonly root: string
  readonly newId: () => string
}

/**
 * Bytes named by their SHA-256, as files `root/ab/abcd…`. A file is complete and on disk before it has its name, so
 * a crash leaves a temporary file at most, and equal bytes are one file. Files are 0600, folders 0700.
 */
export function createArtifactBytes({ root, newId }: ArtifactBytesOptions): ArtifactBytes {
  const pathOf = (digest: string): string => {
    // The digest becomes a path; anything else here is broken wiring.
    if (!/^[0-9a-f]{64}$/u.test(digest)) throw new Error('not a SHA-256 digest')
    return join(root, digest.slice(0, 2), digest)
  }

  return {
    pathOf,
    typeOf: mediaTypeOf,
    nameOf: safeFileName,
    read: (digest) => whole(createReadStream(pathOf(digest)), digest),
    async put(bytes, limit) {
      const incoming = join(root, INCOMING)
      await mkdir(incoming, { recursive: true, mode: 0o700 })
      const temporary = join(incoming, newId())
      try {
        const written = await writeCounted(temporary, bytes, limit)
        if (written === 'too-large') return { stored: false, because: 'too-large' }
        if (written.size === 0) return { stored: false, because: 'empty' }
        const mediaType = await sniffFile(temporary)
        await settle(temporary, pathOf(written.digest), written.size)
        return { stored: true, digest: written.digest, size: written.size, mediaType }
      } finally {
        await rm(temporary, { force: true })
      }
    },
  }
}

/**
 * Removes what processes that ended in the middle of a `put` have left. For a start, before anything is put.
 *
 * @param before in milliseconds since the epoch: what was written to since then may belong to a process that lives
 * @returns how many files went
 */
export async function sweepIncoming(root: string, before: number): Promise<number> {
  const folder = join(root, INCOMING)
  const names = await readdir(folder).catch(() => [])
  const swept = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      const found = await stat(path).catch(() => null)
      if (found?.isFile() !== true || found.mtimeMs >= before) return 0
      await rm(path, { force: true })
      return 1
    }),
  )
  return swept.reduce<number>((sum, one) => sum + one, 0)
}

/** What a disk has lost or changed is told before the last byte is given: nobody takes it for the file. */
async function* whole(bytes: AsyncIterable<Uint8Array>, digest: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let held: Uint8Array | null = null
  for await (const chunk of bytes) {
    hash.update(chunk)
    if (held !== null) yield held
    held = chunk
  }
  if (hash.digest('hex') !== digest) throw new Error('stored bytes are not what was put')
  if (held !== null) yield held
}

async function writeCounted(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<{ readonly digest: string; readonly size: number } | 'too-large'> {
  const hash = createHash('sha256')
  let size = 0
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of bytes) {
      size += chunk.byteLength
      if (size > limit) return 'too-large'
      hash.update(chunk)
      await file.writeFile(chunk)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { digest: hash.digest('hex'), size }
}

/** Gives the complete file its name, unless the same bytes have it already. */
async function settle(temporary: string, path: string, size: number): Promise<void> {
  const present = await stat(path).catch(() => null)
  if (present?.isFile() === true && present.size === size) return
  const folder = join(path, '..')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await rename(temporary, path)
  const directory = await open(folder, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
