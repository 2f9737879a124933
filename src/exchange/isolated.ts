import type { AgentRuntime } from '../collab/ports.js'
import type { AuthorityRef } from '../collab/request.js'
import type { Exchange } from './deps.js'

/** Whether this host can hold a restricted session of a runtime now; an attached agent has none here. */
export async function isolates(runtime: AgentRuntime | null): Promise<boolean> {
  return (await runtime?.confines?.()) ?? false
}

/**
 * Whether what a member starts runs apart from the owners' own work: in the restricted profile, in a session and a
 * workspace of its own. Where it cannot nobody but an owner starts anything, whatever a policy says.
 *
 * @source RFC §7 (filtering the output of a broad process is no isolation)
 */
export async function isIsolated(x: Pick<Exchange, 'runtime'>): Promise<boolean> {
  return await isolates(x.runtime)
}

/**
 * May this runtime work on it at all? A member's request runs apart, whoever handed it on: an attached agent runs as it
 * likes. A hosted one that cannot be confined at this moment refuses to open, and the request waits.
 */
export function mayRunOn(authority: AuthorityRef, runtime: AgentRuntime | null): boolean {
  return authority.principal === 'owner' || runtime !== null
}
