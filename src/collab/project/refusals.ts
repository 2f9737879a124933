import type { Refuser } from '../host-refusal.js'
import type { Observation } from '../observation.js'
import type { Instant, Seq, TextDigest, TurnId } from '../refs.js'

/** One thing that was not done, with whose refusal it was. */
export interface RefusalView {
  readonly seq: Seq
  readonly at: Instant
  readonly turn: TurnId
  readonly by: Refuser
  /**
   * In the word of whoever refused: the host's rule, the kind of the provider's failure, or for this application
   * `no-grant` (nobody could be asked) and `no-answer` (nobody answered in time).
   */
  readonly rule: string
  /** The tool as its host calls it; null where nobody says. */
  readonly tool: string | null
  /** As a person reads it; null when nobody says, or its text was erased. */
  readonly operation: string | null
}

/** A refusal of the provider, and no fault of a machine or a line. */
const ofProvider: ReadonlySet<string> = new Set(['rate-limit', 'signed-out', 'refused-by-provider'])

/** Everything of a request that was refused, in order. A person stands here only where a person said no. */
export function refusalsOf(
  facts: readonly Observation[],
  textOf: (digest: string) => string | null,
): readonly RefusalView[] {
  return facts.flatMap((fact): readonly RefusalView[] => {
    const { seq, at } = fact
    switch (fact.kind) {
      case 'refused-by-host': {
        const { turn, by, rule, tool, operation } = fact
        return [{ seq, at, turn, by, rule, tool, operation: operation === null ? null : textOf(operation) }]
      }
      case 'approval-refused':
        return [{ ...told(fact, textOf), by: 'application', rule: 'no-grant', tool: null }]
      case 'approval-settled':
        if (fact.as === 'allowed') return []
        return fact.as === 'refused'
          ? [{ ...told(fact, textOf), by: 'person', rule: 'refused', tool: null }]
          : [{ ...told(fact, textOf), by: 'application', rule: 'no-answer', tool: null }]
      case 'turn-ended': {
        const { turn, ending } = fact
        if (ending.ended !== 'failed' || !ofProvider.has(ending.because)) return []
        return [{ seq, at, turn, by: 'provider', rule: ending.because, tool: null, operation: null }]
      }
      default:
        return []
    }
  })
}

function told(
  fact: { readonly seq: Seq; readonly at: Instant; readonly turn: TurnId; readonly operation: TextDigest },
  textOf: (digest: string) => string | null,
): Pick<RefusalView, 'seq' | 'at' | 'turn' | 'operation'> {
  return { seq: fact.seq, at: fact.at, turn: fact.turn, operation: textOf(fact.operation) }
}

/** The digests of the operations and commands that a reader of these facts wants to see. */
export function operationsIn(fact: Observation): readonly TextDigest[] {
  if (fact.kind === 'approval-refused' || fact.kind === 'approval-settled') return [fact.operation]
  if (fact.kind === 'ended-with-turn') return [fact.command]
  return fact.kind === 'refused-by-host' && fact.operation !== null ? [fact.operation] : []
}
