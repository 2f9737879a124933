import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'

/**
 * The Encrypt Key's two uses on a webhook.
 *
 * Body: AES-256-CBC, PKCS#7, key = SHA-256(Encrypt Key), base64(IV + ciphertext).
 * Signature: hex SHA-256(timestamp + nonce + Encrypt Key + raw body), so it must be made over the exact bytes sent.
 * Source: event-subscription-guide, encrypt-key-encryption-configuration-case.
 */
export function encrypt(encryptKey: string, plain: string, iv: Uint8Array): string {
  const cipher = createCipheriv('aes-256-cbc', aesKey(encryptKey), iv)
  return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final()]).toString('base64')
}

export function decrypt(encryptKey: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv('aes-256-cbc', aesKey(encryptKey), bytes.subarray(0, 16))
  return Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]).toString('utf8')
}

export function sign(encryptKey: string, timestamp: string, nonce: string, rawBody: string): string {
  return createHash('sha256')
    .update(timestamp + nonce + encryptKey + rawBody, 'utf8')
    .digest('hex')
}

const aesKey = (encryptKey: string): Buffer => createHash('sha256').update(encryptKey, 'utf8').digest()
