import { sha256 } from '../lib/digest.js'

/** Characters of an operation that are handed on: more than any card shows, so that one that is cut is never asked about. */
const LONGEST = 8_000

/**
 * An operation as a person reads it, and by whose exact words it is allowed. Characters that cannot be seen, or that
 * turn the reading direction, are spelled out. One that is too long says how much is missing and names the whole by its
 * digest: two that differ only at their ends are two operations.
 *
 * @source RFC §5.3 (an approval presents the exact operation)
 */
export function readableOperation(lines: readonly string[]): string {
  const whole = lines
    .join('\n')
    .replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16) ?? ''}}`)
  const characters = [...whole]
  if (characters.length <= LONGEST) return whole
  const more = characters.length - LONGEST
  return `${characters.slice(0, LONGEST).join('')}… (${more} more characters are not shown; SHA-256 ${sha256(whole)})`
}
