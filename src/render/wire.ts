/** What Lark accepts in one message, and what a string costs on the way there. */

/** Changes whenever the same answer could come out as other bytes; stored with every planned part. */
export const RENDERER_VERSION = 'r2'

/** Bytes of a request body kept free for receive_id, msg_type, uuid and reply_in_thread. */
export const ENVELOPE_BYTES = 600

/** Card and post: the platform refuses at 30 KB (230025); the place where it counts is not documented, so 2 KB are left. */
export const CARD_MAX_BYTES = 28_000
/** Text: refused at 150 KB. */
export const TEXT_MAX_BYTES = 140_000
/** Documented as 5 per card, seen refused from the 4th on; one too many takes the whole card down (230099 / 11310). */
export const CARD_MAX_TABLES = 3
/** Documented as 200 (300305). */
export const CARD_MAX_ELEMENTS = 180
/** A table with more columns fails. */
export const TABLE_MAX_COLUMNS = 50

/** Bytes of the request body that carries this `content` string, other fields included. */
export function requestBytes(content: string): number {
  return Buffer.byteLength(JSON.stringify(content)) + ENVELOPE_BYTES
}

/**
 * Bytes one UTF-16 unit adds to the request body. `content` is JSON inside JSON, so an escape is escaped again:
 * a quote and a backslash become four bytes, a newline three. Both halves of a surrogate pair count two.
 */
export function unitBytes(unit: number): number {
  if (unit === 0x22 || unit === 0x5c) return 4
  if (unit >= 0x20 && unit < 0x80) return 1
  if (unit >= 0x08 && unit <= 0x0d && unit !== 0x0b) return 3
  if (unit < 0x20) return 7
  if (unit < 0x800) return 2
  // A half without its partner is written as \udXXX; two of them never cost more than the pair's four bytes do here.
  if (unit >= 0xd800 && unit <= 0xdfff) return 2
  return 3
}

/** Bytes a string adds to the request body when it stands inside `content`. */
export function wireBytes(text: string): number {
  let bytes = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0xd800 && unit <= 0xdfff) {
      const paired = unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00
      bytes += paired ? 4 : 7
      if (paired) at++
    } else bytes += unitBytes(unit)
  }
  return bytes
}
