import type { AgentId, ConversationId, Instant, RequestId } from './refs.js'

/** One bounded question about what was before, for one named gap. */
export interface RecallQuery {
  readonly agent: AgentId
  /** Where the gap is; what belongs to another conversation is never searched. */
  readonly conversation: ConversationId
  /** The request that has the gap: it is not its own past. */
  readonly request: RequestId
  readonly gap: string
  /** Hits at most. */
  readonly most: number
}

/** What an earlier request of the same agent says about it: evidence of then, to be checked against what is now. */
export interface RecallHit {
  readonly request: RequestId
  readonly source: 'result' | 'brief'
  readonly at: Instant
  readonly text: string
}

/** How much was looked at, and up to when; what was left out is counted. */
export interface RecallCoverage {
  readonly searched: number
  readonly omitted: number
  readonly until: Instant
}

/** Nothing found is not proof that there is nothing. */
export type RecallAnswer =
  | { readonly answer: 'found'; readonly hits: readonly RecallHit[]; readonly coverage: RecallCoverage }
  | { readonly answer: 'nothing-found'; readonly coverage: RecallCoverage }
  | { readonly answer: 'not-available'; readonly because: 'disabled' | 'timeout' | 'stale' | 'failed' }

/**
 * Searches what was before. Off by default; nothing else depends on one, and whoever continues goes on without.
 *
 * @source RFC §5.7.4 (typed result with coverage; the same agent and project only)
 */
export interface RecallProvider {
  readonly name: string
  recall(query: RecallQuery, signal: AbortSignal): Promise<RecallAnswer>
}

/** What is used when nothing else was chosen. */
export const noRecall: RecallProvider = {
  name: 'off',
  recall: async () => ({ answer: 'not-available', because: 'disabled' }),
}
