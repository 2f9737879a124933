import { MINUTE, SECOND } from '../../lib/time.js'
import { RESTRICTED_PROFILE } from '../../collab/audience.js'
import type { HostedRuntime } from '../hosted.js'
import { createLanes } from '../lanes.js'
import { connect } from './connect.js'
import { CodexLane } from './lane.js'
import type { CodexDeps, CodexOptions } from './options.js'
import { createStanding } from './standing.js'

/**
 * Codex by its app-server: one process for each session that is in use, kept for a while between turns, with tools,
 * thread and sandbox of codex itself. Opening a session that is still here gives the same process.
 *
 * @source docs/runtimes.md — RFC §5.1, §5.7
 */
export function createCodexRuntime(options: CodexOptions): HostedRuntime {
  const deps: CodexDeps = {
    ...options,
    // Together they leave room in the 3 s within which a stop ends a turn.
    killAfterMs: options.killAfterMs ?? SECOND,
    interruptMs: options.interruptMs ?? SECOND,
    openMs: options.openMs ?? MINUTE,
    writerWaitMs: options.writerWaitMs ?? 5 * SECOND,
    idleMs: options.idleMs ?? 10 * MINUTE,
  }
  const standing = createStanding(deps)
  const sessions = createLanes<CodexLane>('codex', async (spec, resume, signal, closed) => {
    const program = await standing.program()
    if ('detail' in program) return { because: 'unavailable', detail: program.detail }
    const { workspace, profile } = spec
    const lacking = await standing.lacking(program.file, profile)
    if (lacking !== null) return lacking
    const place = { workspace, profile, tools: spec.tools ?? null }
    const link = await connect(program.file, place, resume, signal, deps)
    if ('because' in link) return link
    const lane: CodexLane = new CodexLane(link, program, place, deps, () => closed(lane))
    return { lane, resumed: link.resumed }
  })

  return {
    name: 'codex',
    abilities: new Set([
      'resume',
      'steer',
      'durable-message-id',
      'single-writer',
      'policy-refusals',
      'sandbox',
      'activity',
    ]),
    available: standing.available,
    confines: async () => {
      const program = await standing.program()
      return 'file' in program && (await standing.lacking(program.file, RESTRICTED_PROFILE)) === null
    },
    checks: standing.checks,
    binding: standing.binding,
    ...sessions,
  }
}
