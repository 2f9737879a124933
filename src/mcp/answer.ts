import type { WorkAnswer } from '../collab/agent-tools.js'
import type { Receipt, Refusal, RefusalReason } from '../collab/decision.js'
import { unreachable } from '../lib/assert.js'

/** What the door or the work owner refuses, beside the ledger's own refusals. */
export type DoorRefusal =
  | { readonly reason: 'bad-arguments'; readonly where: readonly string[] }
  | { readonly reason: 'unknown-tool' }
  | { readonly reason: 'not-visible' }
  | { readonly reason: 'work-refused'; readonly because: string }
  | { readonly reason: 'work-unavailable'; readonly because: string }
  /** It may have been done. */
  | { readonly reason: 'work-ambiguous'; readonly because: string }
  | { readonly reason: 'unavailable' }
  /** Of a file inside one call or one answer, in bytes: it can still go as plain bytes. */
  | { readonly reason: 'artifact-too-large'; readonly limit: number; readonly size?: number }
  /** Of any file, in bytes. */
  | { readonly reason: 'file-too-large'; readonly limit: number }
  /** It is on record, and its bytes are gone or damaged. */
  | { readonly reason: 'artifact-unreadable' }

export type AnyRefusal = Refusal | DoorRefusal
export type AnyReason = RefusalReason | DoorRefusal['reason']

/** What a tool answers: what was shown, or the receipt of an act in the contract's four words. */
export type Answer =
  | { readonly outcome: 'shown'; readonly shown: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'accepted' | 'already-applied'; readonly [more: string]: unknown }
  | { readonly outcome: 'conflict'; readonly [more: string]: unknown }
  | { readonly outcome: 'rejected'; readonly refusal: AnyRefusal }

export const rejected = (refusal: AnyRefusal): Answer => ({ outcome: 'rejected', refusal })

/** A receipt of the ledger, with whatever else the act gave (a child, an effect, a verdict). */
export function answerOfReceipt(receipt: Receipt): Answer {
  return receipt.outcome === 'rejected' ? rejected(receipt.refusal) : { ...receipt }
}

/** The work owner's five outcomes in the contract's four words: what it could not say stays a refusal with its reason. */
export function answerOfWork(said: WorkAnswer): Answer {
  switch (said.outcome) {
    case 'committed':
      return { outcome: 'accepted', receipt: said.receipt }
    case 'already':
      return { outcome: 'already-applied', receipt: said.receipt }
    case 'conflict':
      return { outcome: 'conflict', because: said.because }
    case 'unavailable':
      return rejected({ reason: 'work-unavailable', because: said.because })
    case 'ambiguous':
      return rejected({ reason: 'work-ambiguous', because: said.because })
    case 'rejected':
      return rejected('refusal' in said ? said.refusal : { reason: 'work-refused', because: said.because })
    default:
      return unreachable(said)
  }
}

export function shown(value: Readonly<Record<string, unknown>> | null): Answer {
  return value === null ? rejected({ reason: 'not-visible' }) : { outcome: 'shown', shown: value }
}
