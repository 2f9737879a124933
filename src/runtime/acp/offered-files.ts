import { realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { extension, lookup } from 'mime-types'
import type { TurnEvent } from '../../collab/ports.js'
import { liesIn, openAsItself } from '../own-file.js'
import { isObject } from './updates.js'

/** Bytes of one file; the most that the channel takes (Lark: file upload, 30 MB). */
const LARGEST_FILE = 30 * 1000 * 1000

export type OfferedFile =
  | { readonly offered: true; readonly event: Extract<TurnEvent, { kind: 'file' }> }
  | {
      readonly offered: false
      readonly because: 'not-a-file' | 'outside-workspace' | 'unreadable' | 'too-large' | 'empty'
    }

/**
 * The file in one content block of an answer (ACP: ContentBlock). A link counts only when its real path, after all
 * links in it, is inside the workspace; any other link is ignored.
 */
export async function offeredFile(block: Readonly<Record<string, unknown>>, workspace: string): Promise<OfferedFile> {
  switch (block['type']) {
    case 'image':
    case 'audio':
      return embedded(text(block['data']), 'base64', text(block['mimeType']), text(block['uri']))
    case 'resource': {
      const resource = isObject(block['resource']) ? block['resource'] : {}
      const blob = text(resource['blob'])
      const body = blob ?? text(resource['text'])
      return embedded(body, blob === null ? 'utf8' : 'base64', text(resource['mimeType']), text(resource['uri']))
    }
    case 'resource_link':
      return linked(text(block['uri']) ?? '', text(block['name']), text(block['mimeType']), workspace)
    default:
      return { offered: false, because: 'not-a-file' }
  }
}

/** What a block calls its file, without where it lies. */
export function nameOffered(block: Readonly<Record<string, unknown>>): string {
  const resource = isObject(block['resource']) ? block['resource'] : {}
  return baseName(text(block['uri']) ?? text(resource['uri']) ?? text(block['name']) ?? '', 'file')
}

function embedded(body: string | null, form: 'base64' | 'utf8', type: string | null, uri: string | null): OfferedFile {
  if (body === null) return { offered: false, because: 'not-a-file' }
  if (body.length > LARGEST_FILE * 1.4) return { offered: false, because: 'too-large' }
  const mediaType = mediaTypeOf(type, uri ?? '', form === 'utf8' ? 'text/plain' : 'application/octet-stream')
  const fallback = `${mediaType.split('/')[0] ?? 'file'}.${extension(mediaType) || 'bin'}`
  return offer(uri === null ? fallback : baseName(uri, fallback), mediaType, Buffer.from(body, form))
}

async function linked(uri: string, name: string | null, type: string | null, workspace: string): Promise<OfferedFile> {
  let path: string
  try {
    path = await realpath(fileURLToPath(uri))
    if (!path.startsWith(join(await realpath(workspace), sep))) return { offered: false, because: 'outside-workspace' }
  } catch {
    return { offered: false, because: uri.startsWith('file:') ? 'unreadable' : 'not-a-file' }
  }
  try {
    const file = await openAsItself(path)
    try {
      const stat = await file.stat()
      if (!stat.isFile()) return { offered: false, because: 'not-a-file' }
      if (!(await liesIn(file, path, workspace))) return { offered: false, because: 'outside-workspace' }
      if (stat.size > LARGEST_FILE) return { offered: false, because: 'too-large' }
      const onDisk = baseName(path, 'file')
      const shown = name === null ? onDisk : baseName(name, onDisk)
      return offer(shown, mediaTypeOf(type, onDisk, 'application/octet-stream'), await file.readFile())
    } finally {
      await file.close()
    }
  } catch {
    return { offered: false, because: 'unreadable' }
  }
}

function offer(fileName: string, mediaType: string, bytes: Uint8Array): OfferedFile {
  if (bytes.byteLength === 0) return { offered: false, because: 'empty' }
  if (bytes.byteLength > LARGEST_FILE) return { offered: false, because: 'too-large' }
  return { offered: true, event: { kind: 'file', fileName, mediaType, bytes } }
}

function baseName(path: string, fallback: string): string {
  const last = path.split(/[?#]/u)[0]?.split(/[/\\]/u).at(-1) ?? ''
  let decoded = last
  try {
    if (path.includes('://')) decoded = decodeURIComponent(last)
  } catch {
    // Not percent-encoded after all: the name as it stands.
  }
  const plain = decoded.replace(/[\p{Cc}/\\]/gu, '').trim()
  return plain === '' || plain === '.' || plain === '..' ? fallback : plain.slice(0, 200)
}

function mediaTypeOf(given: string | null, name: string, fallback: string): string {
  if (given !== null && /^[\w.+-]+\/[\w.+-]+$/u.test(given)) return given.toLowerCase()
  return lookup(baseName(name, '')) || fallback
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
