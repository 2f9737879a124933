import { sha256 } from '../lib/digest.js'

/**
 * Identifiers in the platform's spelling, all grown from one injected id source.
 * The source's value is hashed first, so a test may hand in a plain counter and still get well-formed ids.
 */
export interface Ids {
  message(): string
  chat(): string
  thread(): string
  openId(): string
  event(): string
  reaction(): string
  imageKey(): string
  fileKey(): string
  cardId(): string
  cardToken(): string
  logId(): string
  accessToken(): string
  ticket(): string
  /** Hex digits, at most 64. */
  hex(length: number): string
  /** A whole number from 0 up to, not including, `below`. */
  pick(below: number): number
}

export function createIds(newId: () => string): Ids {
  const hex = (length: number): string => sha256(newId()).slice(0, length)
  const key = (prefix: string): string => {
    const h = hex(32)
    return `${prefix}${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-8${h.slice(17, 20)}-${h.slice(20, 31)}g`
  }
  return {
    message: () => `om_x100b${hex(27)}`,
    chat: () => `oc_${hex(32)}`,
    thread: () => `omt_${hex(16)}`,
    openId: () => `ou_${hex(32)}`,
    event: () => hex(32),
    reaction: () => `ZC${hex(40)}`,
    imageKey: () => key('img_v3_0300_'),
    fileKey: () => key('file_v3_0300_'),
    cardId: () => String(7_000_000_000_000_000_000n + BigInt(`0x${hex(14)}`)),
    cardToken: () => `c-${hex(40)}`,
    logId: () => `20261130${hex(26).toUpperCase()}`,
    accessToken: () => `t-${hex(40)}`,
    ticket: () => hex(40),
    hex,
    pick: (below) => parseInt(hex(12), 16) % below,
  }
}
