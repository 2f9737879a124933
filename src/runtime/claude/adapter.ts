import { MINUTE, SECOND } from '../../lib/time.js'
import type { HostedRuntime } from '../hosted.js'
import { createLanes } from '../lanes.js'
import { connect } from './connect.js'
import type { ClaudeOptions, ClaudeDeps } from './options.js'
import { ClaudeLane } from './session.js'
import { createStanding } from './standing.js'

/**
 * Claude Code by its agent SDK, which is loaded when this runtime is first used and at no other time.
 *
 * One process per session, kept between turns; opening a session that is still here gives the same process. Across
 * processes and gateways one session has one writer by a lock of ours.
 */
export function createClaudeRuntime(options: ClaudeOptions): HostedRuntime {
  const settings: ClaudeDeps = {
    ...options,
    killAfterMs: options.killAfterMs ?? SECOND,
    cancelMs: options.cancelMs ?? SECOND,
    openMs: options.openMs ?? MINUTE,
    idleMs: options.idleMs ?? 10 * MINUTE,
    confiner: options.confiner ?? null,
  }
  const standing = createStanding(settings)

  const sessions = createLanes<ClaudeLane>('claude', async (spec, resume, signal, closed) => {
    const found = await standing.sdk()
    if ('detail' in found) return { because: 'unavailable', detail: `${found.detail}; ${found.mend}` }
    const { workspace, lane: name, profile } = spec
    const unconfined = profile.kind === 'owner' ? null : await standing.unconfined()
    if (unconfined !== null) return { notConfined: `${unconfined.detail}; ${unconfined.mend}` }
    const place = { workspace, lane: name, profile, tools: spec.tools ?? null }
    const link = await connect(found.sdk, place, resume, signal, settings)
    if ('because' in link) return link
    const lane: ClaudeLane = new ClaudeLane(link, found.sdk, place, settings, () => closed(lane))
    return { lane, resumed: link.resumed }
  })

  return {
    name: 'claude',
    abilities: new Set(['resume', 'steer', 'durable-message-id', 'single-writer', 'policy-refusals', 'activity']),
    available: standing.available,
    confines: async () => (await standing.unconfined()) === null,
    checks: standing.checks,
    binding: standing.binding,
    ...sessions,
  }
}
