import type { AgentId, AttemptId, RequestId, Revision } from './refs.js'
import type { Intent } from './request.js'

/** An assignment of one revision to a receiver; it is not a turn and spans many of them (RFC §5.10). */
export interface DispatchAttempt {
  readonly id: AttemptId
  readonly request: RequestId
  readonly revision: Revision
  readonly target: AgentId
  readonly intent: Intent
  /** May change something outside: then it holds the request's fence. */
  readonly effectful: boolean
  readonly supersedes: AttemptId | null
}

/** What proves that an attempt can no longer act. A correction or a reassignment alone never does. */
export type FenceRelease = 'terminal-result' | 'cancel-acknowledged' | 'quiescent' | 'executor-gone' | 'request-closed'
