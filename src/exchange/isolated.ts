import type { AgentRuntime } from '../collab/ports.js'
import type { AuthorityRef } from '../collab/request.js'
import type { Exchange } from './deps.js'

/** Whether this runtime holds a restricted profile by itself; an attached agent has none here and runs as it likes. */
export function isolates(runtime: AgentRuntime | null): boolean {
  return runtime?.abilities.has('sandbox') === true
}

/**
 * Whether what a member starts runs apart from the owners' own work: in the restricted profile, in a session and a
 * workspace of its own. Where it cannot nobody but an owner starts anything, whatever a policy says.
 *
 * @source RFC §7 (filtering the output of a broad process is no isolation)
 */
export function isIsolated(x: Pick<Exchange, 'runtime'>): boolean {
  return isolates(x.runtime)
}

/** May this runtime work on it? A member's request runs apart or not at all, whoever handed it on. */
export function mayRunOn(authority: AuthorityRef, runtime: AgentRuntime | null): boolean {
  return authority.principal === 'owner' || isolates(runtime)
}
