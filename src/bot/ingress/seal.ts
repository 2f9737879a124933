import { createDecipheriv, createHash, timingSafeEqual } from 'node:crypto'

/**
 * Checks and opens what the platform sealed with the Encrypt Key.
 *
 * Own code on the raw bytes: the SDK signs a re-serialised body, so it refuses good requests with other spacing, and
 * answers 200 to bad ones. (Lark: encrypt-key-encryption-configuration-case)
 */

/** Hex SHA-256 of timestamp, nonce, Encrypt Key and the raw body, compared in constant time. */
export function signatureHolds(
  given: { readonly signature: string; readonly timestamp: string; readonly nonce: string },
  encryptKey: string,
  body: Uint8Array,
): boolean {
  const expected = createHash('sha256')
    .update(given.timestamp + given.nonce + encryptKey)
    .update(body)
    .digest()
  return sameBytes(expected, Buffer.from(given.signature, 'hex'))
}

/** A secret to compare with. Over digests, so that neither content nor length shows in the time it takes. */
export function secret(expected: string): (given: string) => boolean {
  const digest = digestOf(expected)
  return (given) => sameBytes(digestOf(given), digest)
}

function digestOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/** SHA-256 of the Encrypt Key; the same for every event, so it is made once. */
export function aesKeyOf(encryptKey: string): Uint8Array {
  return digestOf(encryptKey)
}

/**
 * Opens `base64(16-byte IV + ciphertext)`: AES-256-CBC, PKCS#7. Null when it was not sealed with this key.
 */
export function open(sealed: string, key: Uint8Array): Uint8Array | null {
  const bytes = Buffer.from(sealed, 'base64')
  // What is not base64 is skipped by the decoder and then missing.
  const padding = sealed.endsWith('==') ? 2 : sealed.endsWith('=') ? 1 : 0
  if (bytes.length !== Math.floor(((sealed.length - padding) * 3) / 4)) return null
  if (bytes.length < 32 || bytes.length % 16 !== 0) return null
  try {
    const decipher = createDecipheriv('aes-256-cbc', key, bytes.subarray(0, 16))
    return Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()])
  } catch {
    return null
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** JSON from bytes that must be valid UTF-8; undefined when they are not. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    return undefined
  }
}
