/** Bytes of a file inside one call or one answer: it goes through a model. A larger one goes as plain bytes. */
export const INLINE_BYTES = 512 * 1024

export type Inline = { readonly text: string } | { readonly base64: string }

/** Text as text: UTF-8 that holds no control characters but line ends and tabs. Everything else as base64. */
export function inlineOf(bytes: Uint8Array): Inline {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    // eslint-disable-next-line no-control-regex
    if (!/[\u0000-\u0008\u000b\u000e-\u001f\u007f]/.test(text)) return { text }
  } catch {
    // Not UTF-8.
  }
  return { base64: Buffer.from(bytes).toString('base64') }
}

/** The bytes that a call carries; null when it does not say exactly one form, or it is no base64. */
export function bytesOf(said: {
  readonly text?: string | undefined
  readonly base64?: string | undefined
}): Buffer | null {
  const { text, base64 } = said
  if ((text === undefined) === (base64 === undefined)) return null
  if (text !== undefined) return Buffer.from(text, 'utf8')
  const sound = base64 !== undefined && base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64)
  return sound ? Buffer.from(base64, 'base64') : null
}

export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export async function collected(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks)
}
