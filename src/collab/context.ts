import { digestOf } from '../lib/digest.js'
import type { Revision, TextDigest } from './refs.js'

/**
 * What a receiver must know at one revision (RFC §5.4, §5.10). Immutable; larger material stands in the artifact
 * store and is listed under `omissions`, never truncated.
 */
export interface SemanticContext {
  readonly revision: Revision
  readonly brief: Brief
  /** Messages and artifacts it was made from. */
  readonly sourceRefs: readonly SourceRef[]
  /** Work objects at the revisions that were known; an unknown revision is `unknown`. */
  readonly workRevisionRefs: readonly { readonly ref: string; readonly revision: string | 'unknown' }[]
  /** Who may read it. */
  readonly accessScope: string
  readonly omissions: readonly Omission[]
}

/** Named parts. In the first revision of an owner's message only the original text exists. */
export interface Brief {
  readonly originalText: TextDigest
  readonly completionQuestion: string | null
  readonly corrections: readonly TextDigest[]
  /** What the agent that handed the work on wrote about it: evidence with an author, never an authority. */
  readonly summary?: { readonly textDigest: TextDigest; readonly writtenBy: string } | undefined
}

export interface SourceRef {
  /** A `command` was given at a door: it is no message of the provider. */
  readonly kind: 'message' | 'artifact' | 'command'
  readonly id: string
  readonly writtenBy: string
}

export interface Omission {
  readonly what: string
  readonly because: 'not-permitted' | 'unavailable' | 'too-large' | 'unsupported' | 'gone' | 'mismatch' | 'budget'
}

/** The digest under which a context is the same context. */
export function digestOfContext(context: SemanticContext): TextDigest {
  return digestOf(context) as TextDigest
}
