import { SECOND, MINUTE } from '../../lib/time.js'
import { confinementCheck, readiness } from '../confine/confiner.js'
import type { HostedRuntime } from '../hosted.js'
import { createLanes } from '../lanes.js'
import { markOf } from '../marked.js'
import { findCommand } from './command-line.js'
import { connect } from './connect.js'
import type { AcpOptions, AcpSettings } from './options.js'
import { AcpLane } from './session.js'

/**
 * Any agent that speaks the Agent Client Protocol (stable v1) on its standard input and output.
 *
 * One process per session, kept between turns; opening a session that is still here gives the same process, so one
 * session never has two writers in this process. Whether an agent can resume is its own; `opened` says what happened.
 */
export function createAcpRuntime(options: AcpOptions): HostedRuntime {
  const settings: AcpSettings = {
    ...options,
    commandName: options.commandName ?? 'MANAGER_COMMAND',
    // Together with the end of input they leave room in the 3 s within which a stop ends a turn.
    killAfterMs: options.killAfterMs ?? SECOND,
    cancelMs: options.cancelMs ?? SECOND,
    openMs: options.openMs ?? MINUTE,
    idleMs: options.idleMs ?? 10 * MINUTE,
    bridge: options.bridge ?? null,
    confiner: options.confiner ?? null,
  }
  const find = (): ReturnType<typeof findCommand> =>
    findCommand(settings.command, settings.env['PATH'], settings.commandName)

  const sessions = createLanes<AcpLane>('acp', async (spec, resume, signal, closed) => {
    const command = find()
    if (!command.found) return { because: 'unavailable', detail: command.detail }
    const { workspace, profile } = spec
    if (profile.kind !== 'owner') {
      const can = await readiness(settings.confiner)
      if (!can.ready) return { notConfined: `${can.detail}; ${can.mend}` }
    }
    const mark = markOf('acp', workspace, spec.lane)
    const place = { workspace, profile, mark, tools: spec.tools ?? null }
    const link = await connect(command, place, resume, signal, settings)
    if ('because' in link) return link
    const lane: AcpLane = new AcpLane(link, command, place, settings, () => closed(lane))
    return { lane, resumed: link.resumed }
  })

  return {
    name: 'acp',
    abilities: new Set(['resume', 'activity']),
    available: async () => {
      const command = find()
      return command.found ? { available: true } : { available: false, detail: command.detail }
    },
    confines: async () => (await readiness(settings.confiner)).ready,
    checks: async () => [await confinementCheck('acp restricted sessions', settings.confiner)],
    ...sessions,
  }
}
