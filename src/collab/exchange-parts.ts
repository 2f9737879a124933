import type { AskJudgment, Verdict } from './observation.js'
import type { AgentId, AskId, Instant, RequestId, Revision, Seq, TextDigest } from './refs.js'

/** One saved brief, by the digest of its words. */
export interface SavedRef {
  readonly agent: AgentId
  readonly brief: TextDigest
  readonly revision: Revision
  readonly at: Instant
  readonly seq: Seq
}

/** The last assessment of the request, with the revision that it judged. */
export interface AssessmentState {
  readonly agent: AgentId
  readonly revision: Revision
  readonly verdict: Verdict
  readonly asks: ReadonlyMap<AskId, AskJudgment>
}

/** A judgment with the revision that was judged. */
export interface JudgedAsk {
  readonly judgment: AskJudgment['judgment']
  readonly revision: Revision
}

/** The words of a waiting request, put into a turn that ran for another one. */
export interface SteerState {
  readonly into: RequestId
  /** `intended`: nobody has said what became of it, so it is not known whether they arrived. */
  readonly became: 'intended' | 'taken' | 'too-late' | 'unsupported' | 'unknown'
}
