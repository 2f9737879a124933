import type { Mark, Run } from './leaf.js'

/** `[@Name](mention:ou_…)` names a person by the id of the platform. */
export const MENTION = 'mention:'

/**
 * The address of a link the platform accepts: http or https, parsable, without characters that would end the
 * Markdown around it. Anything else (file, javascript, mailto, a path) is refused there with 230001.
 */
export function webAddress(target: string): string | null {
  const trimmed = target.trim()
  const lower = trimmed.slice(0, 8).toLowerCase()
  if (!lower.startsWith('http://') && !lower.startsWith('https://')) return null
  if (!URL.canParse(trimmed)) return null
  let address = ''
  for (const char of trimmed) {
    const code = char.codePointAt(0) ?? 0
    const plain = code > 0x20 && code < 0x7f && !'()<>"\\`*~|[]{}^'.includes(char)
    address += plain ? char : encode(char)
  }
  return address
}

/** UTF-8, percent-encoded; a lone half of a surrogate pair becomes U+FFFD, as in a browser. */
function encode(char: string): string {
  return [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/**
 * What stands behind the text of a link, so that the address can be read without clicking and a refused link
 * loses nothing. Nothing when the text already is the address.
 */
export function spelledOut(target: string, label: string, marks: readonly Mark[]): readonly Run[] {
  const said = label.trim()
  const known = [said, `mailto:${said}`, `https://${said}`, `https://${said}/`, `http://${said}`, `http://${said}/`]
  if (target === '' || target.startsWith(MENTION) || known.includes(target)) return []
  return [{ kind: 'text', text: ` (${target})`, marks, added: true }]
}
