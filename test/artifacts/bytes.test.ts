import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createArtifactBytes, sweepIncoming } from '../../src/artifacts/bytes.js'
import { mediaTypeOf, UNKNOWN_MEDIA_TYPE } from '../../src/artifacts/media-type.js'
import type { ArtifactBytes } from '../../src/collab/ports.js'
import { sha256 } from '../../src/lib/digest.js'
import { fileNamed } from '../../src/runtime/rehearsal/files.js'
import { temporaryFolder } from '../kit/runtime-bench.js'

async function* stream(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
}

async function text(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('artifact bytes', () => {
  let root: string
  let remove: () => Promise<void>
  let bytes: ArtifactBytes
  beforeEach(async () => {
    const folder = await temporaryFolder()
    root = join(folder.path, 'artifacts')
    remove = folder.remove
    bytes = createArtifactBytes({ root, newId: () => randomUUID() })
  })
  afterEach(() => remove())

  test('come back as they were put, under their digest', async () => {
    const put = await bytes.put(stream('hello ', '世界'), 100)
    expect(put).toEqual({ stored: true, digest: sha256('hello 世界'), size: 12, mediaType: UNKNOWN_MEDIA_TYPE })
    expect(await text(bytes.read(sha256('hello 世界')))).toBe('hello 世界')
    expect(bytes.pathOf(sha256('hello 世界'))).toBe(join(root, sha256('hello 世界').slice(0, 2), sha256('hello 世界')))
  })

  test('that are equal are one file', async () => {
    await bytes.put(stream('same'), 100)
    const before = await stat(bytes.pathOf(sha256('same')))
    expect(await bytes.put(stream('sa', 'me'), 100)).toMatchObject({ stored: true, digest: sha256('same') })
    expect((await stat(bytes.pathOf(sha256('same')))).ino).toBe(before.ino)
  })

  test('put twice at the same time are stored once', async () => {
    const puts = await Promise.all(Array.from({ length: 8 }, () => bytes.put(stream('at once'), 100)))
    expect(new Set(puts.map((put) => put.stored && put.digest))).toEqual(new Set([sha256('at once')]))
    expect(await text(bytes.read(sha256('at once')))).toBe('at once')
  })

  test('at the limit are stored; one more byte is refused and nothing is left', async () => {
    expect(await bytes.put(stream('12345'), 5)).toMatchObject({ stored: true, size: 5 })
    expect(await bytes.put(stream('123', '456'), 5)).toEqual({ stored: false, because: 'too-large' })
    expect(await readdir(join(root, 'incoming'))).toEqual([])
  })

  test('refusing what is too large does not read on', async () => {
    let read = 0
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        read++
        yield new Uint8Array(1000)
      }
    }
    expect(await bytes.put(endless(), 2500)).toEqual({ stored: false, because: 'too-large' })
    expect(read).toBe(3)
  })

  test('that are none are refused', async () => {
    expect(await bytes.put(stream(), 5)).toEqual({ stored: false, because: 'empty' })
    expect(await bytes.put(stream(''), 5)).toEqual({ stored: false, because: 'empty' })
  })

  test('whose source breaks leave nothing behind', async () => {
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10)
      throw new Error('connection lost')
    }
    await expect(bytes.put(breaking(), 100)).rejects.toThrow('connection lost')
    expect(await readdir(join(root, 'incoming'))).toEqual([])
    expect(await readdir(root)).toEqual(['incoming'])
  })

  test('that the disk has changed are not read as the file, not even to their last piece', async () => {
    const large = 'x'.repeat(200_000)
    await bytes.put(stream(large), 1e6)
    const path = bytes.pathOf(sha256(large))
    for (const wrong of [large.slice(1), `${large.slice(1)}y`, '']) {
      await writeFile(path, wrong)
      let read = 0
      const reading = async () => {
        for await (const chunk of bytes.read(sha256(large))) read += chunk.byteLength
      }
      await expect(reading()).rejects.toThrow('stored bytes are not what was put')
      expect(read).toBeLessThan(Math.max(1, wrong.length))
    }
  })

  test('that a crash left half written under their name are put whole again', async () => {
    await bytes.put(stream('whole'), 100)
    const path = bytes.pathOf(sha256('whole'))
    await writeFile(path, 'wh')
    await bytes.put(stream('whole'), 100)
    expect(await readFile(path, 'utf8')).toBe('whole')
  })

  test('can be read by nobody else', async () => {
    await bytes.put(stream('private'), 100)
    const path = bytes.pathOf(sha256('private'))
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    for (const folder of [root, join(path, '..'), join(root, 'incoming')]) {
      expect((await stat(folder)).mode & 0o777).toBe(0o700)
    }
  })

  test('have the type that they prove, whatever they are called', async () => {
    expect(await bytes.put(stream(fileNamed('chart.png').bytes), 1e6)).toMatchObject({ mediaType: 'image/png' })
    expect(await bytes.put(stream('%PDF-1.7\n%âãÏÓ\n'), 1e6)).toMatchObject({ mediaType: 'application/pdf' })
    expect(await bytes.put(stream('<svg xmlns="x"/>'), 1e6)).toMatchObject({ stored: true })
  })

  test('are only found by a digest, never by a path', () => {
    for (const digest of ['../../etc/passwd', '', 'A'.repeat(64), 'a'.repeat(63), `${'a'.repeat(64)}/..`]) {
      expect(() => bytes.pathOf(digest)).toThrow('not a SHA-256 digest')
    }
  })
})

describe('what ended processes left half written', () => {
  let root: string
  let remove: () => Promise<void>
  beforeEach(async () => {
    const folder = await temporaryFolder()
    root = join(folder.path, 'artifacts')
    remove = folder.remove
  })
  afterEach(() => remove())

  test('goes at the next start, with nothing else', async () => {
    const store = createArtifactBytes({ root, newId: () => randomUUID() })
    const kept = await store.put(stream('kept'), 100)
    await mkdir(join(root, 'incoming', 'a-folder'))
    await writeFile(join(root, 'incoming', 'orphan-1'), 'ha')
    await writeFile(join(root, 'incoming', 'orphan-2'), '')
    expect(await sweepIncoming(root, Date.now() + 1_000)).toBe(2)
    expect(await readdir(join(root, 'incoming'))).toEqual(['a-folder'])
    expect(kept.stored && (await text(store.read(kept.digest)))).toBe('kept')
    expect(await sweepIncoming(root, Date.now() + 1_000)).toBe(0)
  })

  test('stays while another process may still write to it', async () => {
    await mkdir(join(root, 'incoming'), { recursive: true })
    await writeFile(join(root, 'incoming', 'old'), 'ha')
    await writeFile(join(root, 'incoming', 'young'), 'ha')
    await utimes(join(root, 'incoming', 'old'), 1, 1)
    expect(await sweepIncoming(root, Date.now() - 60_000)).toBe(1)
    expect(await readdir(join(root, 'incoming'))).toEqual(['young'])
  })

  test('and nothing, where nothing was ever put', async () => {
    expect(await sweepIncoming(root, Date.now())).toBe(0)
  })
})

test('a name decides the media type only where the bytes prove nothing', () => {
  expect(mediaTypeOf('image/png', 'notes.txt')).toBe('image/png')
  expect(mediaTypeOf(UNKNOWN_MEDIA_TYPE, '报告.csv')).toBe('text/csv')
  expect(mediaTypeOf(UNKNOWN_MEDIA_TYPE, 'no-extension')).toBe(UNKNOWN_MEDIA_TYPE)
})
