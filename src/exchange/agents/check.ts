import type { Refusal } from '../../collab/decision.js'
import { utf8Bytes } from '../../collab/project/brief.js'

/** References of one request, and characters of one. */
const REFS = 32
const REF_CHARACTERS = 500

/** Reasons and evidence are sentences, not documents; in UTF-8 bytes. */
export const SENTENCE_BYTES = 4_000

/** The first of several checks that failed, or null. */
export function firstOf(...checks: readonly (Refusal | null)[]): Refusal | null {
  return checks.find((check) => check !== null) ?? null
}

/** A text that somebody will read: bounded, storable and without control characters other than line ends and tabs. */
export function checkText(
  field: string,
  text: string,
  limit: number,
  may: 'be-empty' | 'not-be-empty' = 'not-be-empty',
): Refusal | null {
  if (may === 'not-be-empty' && text.trim() === '') return { reason: 'text-empty' }
  if (isUnsafe(text)) return { reason: 'bad-reference', field }
  return utf8Bytes(text) > limit ? { reason: 'too-large', limit } : null
}

/** A short name that somebody else made: a goal, an agent, an operation. */
export function checkName(field: string, name: string): Refusal | null {
  return name === '' || name.length > 200 || isUnsafe(name) || /[\n\r\t]/.test(name)
    ? { reason: 'bad-reference', field }
    : null
}

/**
 * Names of work objects, commits or pages; never a way into somebody's files: no absolute path, no way up, no `file:`.
 *
 * @source RFC §5.6 (a bare local path is not a reference)
 */
export function checkRefs(refs: readonly string[]): Refusal | null {
  if (refs.length > REFS) return { reason: 'too-large', limit: REFS }
  return refs.every(isReference) ? null : { reason: 'bad-reference', field: 'refs' }
}

function isReference(ref: string): boolean {
  if (ref.trim() === '' || ref.length > REF_CHARACTERS || isUnsafe(ref) || /[\n\r\t]/.test(ref)) return false
  if (/^([/\\~]|[a-z]:[/\\]|file:)/i.test(ref.trim())) return false
  return !ref.split(/[/\\]/).some((step) => step === '..' || /^(%2e|\.){2}$/i.test(step))
}

/** Control characters, and halves of a character that no store can hold. */
function isUnsafe(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\p{Surrogate}/u.test(text)
}
