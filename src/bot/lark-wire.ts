import type { ApiSilence } from './lark-api.js'

/** The request surely never reached the other side: the connection was not made. */
const notSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** What a failed `fetch` proves. Everything that is not surely "not sent" may have taken effect. */
export function silenceOf(error: unknown, aborted: boolean): ApiSilence {
  if (aborted) return { got: 'nothing', because: 'timeout', code: null }
  const sent = !codesOf(error).some((code) => notSent.has(code))
  return { got: 'nothing', because: sent ? 'connection-lost' : 'not-sent', code: null }
}

/** The codes of an error and of all its causes; several addresses tried make an error of errors. */
function codesOf(error: unknown, depth = 0): readonly string[] {
  if (depth > 8 || error === null || typeof error !== 'object') return []
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown }
  const own = typeof code === 'string' ? [code] : []
  const below = Array.isArray(errors) ? errors.flatMap((one) => codesOf(one, depth + 1)) : []
  return [...own, ...codesOf(cause, depth + 1), ...below]
}

/** The name in a `content-disposition`, with its non-ASCII form where there is one (RFC 6266). */
export function fileNameOf(disposition: string | null): string | null {
  if (disposition === null) return null
  const extended = /filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(disposition)?.[1]
  if (extended !== undefined) return decoded(extended) ?? extended
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition)
  const name = plain?.[1]?.replace(/\\(.)/g, '$1') ?? plain?.[2]
  if (name === undefined || name === '') return null
  // Header bytes are read as Latin-1; the platform writes UTF-8.
  const utf8 = Buffer.from(name, 'latin1').toString('utf8')
  return decoded(utf8.includes('\ufffd') ? name : utf8) ?? name
}

function decoded(name: string): string | null {
  try {
    return decodeURIComponent(name)
  } catch {
    return null
  }
}
