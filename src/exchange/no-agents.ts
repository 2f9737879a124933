import type { AgentDirectory, WorkAuthority } from '../collab/ports.js'

/** A gateway at which nobody is registered: the manager works alone. */
export const noAgents: AgentDirectory = { find: async () => null, list: async () => [] }

export const noWork: WorkAuthority = {
  apply: async () => ({ outcome: 'unavailable', because: 'no work owner is configured' }),
  todos: async () => [],
  vision: async () => null,
}
