import type { SessionProfile } from '../../collab/audience.js'
import type { Confinement } from '../../collab/ports.js'

/**
 * What is in force around a whole process of ours. Its network is never cut: it needs its model, and so do its commands
 * have it.
 */
export function confinementOf(profile: SessionProfile): Confinement {
  return profile.kind === 'owner'
    ? { profile: 'owner', reads: 'everything', writes: 'everything', paths: [], network: 'open', by: 'nobody' }
    : {
        profile: 'restricted',
        reads: 'workspace',
        writes: 'workspace',
        paths: profile.paths,
        network: 'open',
        by: 'namespace',
      }
}
