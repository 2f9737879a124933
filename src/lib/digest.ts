import { createHash } from 'node:crypto'

/** JSON with sorted keys and without undefined members, so that equal values are equal bytes. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  // Every command is digested: one pass, and no list of pairs.
  let members = ''
  for (const key of Object.keys(value).sort()) {
    const member = (value as Readonly<Record<string, unknown>>)[key]
    if (member === undefined) continue
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`
  }
  return `{${members}}`
}

/** SHA-256 in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** The digest by which two values are the same value. */
export function digestOf(value: unknown): string {
  return sha256(canonicalJson(value))
}

/** A UUID (version 8) that follows from its parts alone: the same command retried makes the same ids. */
export function uuidFrom(...parts: readonly (string | number)[]): string {
  const hex = sha256(parts.join('\u0000'))
  return shape(hex.slice(0, 12), hex.slice(12), '8')
}

/** A UUIDv7 whose time is given and whose random bits follow from the parts. `atMs` is milliseconds since the epoch. */
export function uuidV7From(atMs: number, ...parts: readonly (string | number)[]): string {
  return shape(atMs.toString(16).padStart(12, '0'), sha256(parts.join('\u0000')), '7')
}

function shape(first12: string, hex: string, version: string): string {
  const variant = ((parseInt(hex.slice(3, 4), 16) & 0x3) | 0x8).toString(16)
  return [
    first12.slice(0, 8),
    first12.slice(8, 12),
    version + hex.slice(0, 3),
    variant + hex.slice(4, 7),
    hex.slice(7, 19),
  ].join('-')
}
