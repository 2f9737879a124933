import { RequestError, type NewSessionRequest, type SessionConfigOption } from '@agentclientprotocol/sdk'
import type { SessionProfile } from '../../collab/audience.js'
import type { SessionSpec } from '../../collab/ports.js'
import { must } from '../../lib/assert.js'
import { errorLabel } from '../../lib/log.js'
import { confinedEnv } from '../confine/confiner.js'
import { within } from '../wait.js'
import type { FoundCommand } from './command-line.js'
import type { AcpSettings } from './options.js'
import { endMarked } from '../marked.js'
import { AcpPeer, type Start } from './peer.js'
import { scrub } from '../scrub.js'
import { toolServers } from './tools.js'
import type { Trouble } from '../trouble.js'

/** ACP: authentication required. */
const AUTH_REQUIRED = -32000

/** What a session is opened with, each time a process begins. */
export interface Place {
  readonly workspace: string
  readonly profile: SessionProfile
  /** What every process of this session carries (`markOf`). */
  readonly mark: string
  readonly tools: NonNullable<SessionSpec['tools']> | null
}

export interface Connected {
  readonly peer: AcpPeer
  readonly sessionId: string
  readonly resumed: boolean
  readonly model: string | null
}

/**
 * Starts an agent and opens one session in it: the given one if the agent can and still has it, else a new one.
 * On trouble the process is ended before this returns.
 */
export async function connect(
  command: Extract<FoundCommand, { found: true }>,
  place: Place,
  resume: string | null,
  signal: AbortSignal,
  settings: AcpSettings,
): Promise<Connected | Trouble> {
  if (signal.aborted) return { because: 'unavailable', detail: 'opening the session was stopped' }
  const startedAt = settings.clock.now()
  // What a gateway that was killed left behind still acts for this session: it is gone before another one begins.
  const left = await endMarked(place.mark, null, settings.killAfterMs)
  if (left.count > 0) settings.logger.warn('processes of an earlier gateway were ended', { count: left.count })
  if (!left.gone) {
    return { because: 'unavailable', detail: 'a process of an earlier run of this session could not be ended' }
  }
  let peer: AcpPeer
  try {
    peer = new AcpPeer(await startOf(command, place, settings), place.workspace, place.mark, settings)
  } catch (error) {
    settings.logger.error('a private home for an agent could not be made', { error: errorLabel(error) })
    return { because: 'unavailable', detail: 'the private home of the agent below DATA_DIR cannot be written' }
  }
  let onAbort = (): void => {}
  const stopped = new Promise<Trouble>((resolve) => {
    onAbort = () => resolve({ because: 'unavailable', detail: 'opening the session was stopped' })
    signal.addEventListener('abort', onAbort, { once: true })
  })
  const late: Trouble = {
    because: 'hung',
    detail: `the agent did not open a session within ${settings.openMs / 1000} s`,
  }
  const opening = openSession(peer, place, resume, settings).catch((error: unknown) => troubleOf(error, peer, settings))
  const outcome = await within(settings.openMs, Promise.race([opening, peer.ended, stopped]), late)
  signal.removeEventListener('abort', onAbort)
  const ms = settings.clock.now() - startedAt
  if ('because' in outcome) {
    settings.logger.warn('an agent session could not be opened', { ms, reason: outcome.because })
    await peer.end()
  } else settings.logger.info(outcome.resumed ? 'an agent session goes on' : 'an agent session is new', { ms })
  return outcome
}

/** How the agent is started: as it is, or confined in a home of its own. */
async function startOf(
  command: Extract<FoundCommand, { found: true }>,
  { workspace, profile, mark }: Place,
  { confiner, env, bridge }: AcpSettings,
): Promise<Start> {
  if (profile.kind === 'owner') return { ...command, env }
  const confined = must(confiner, 'what confines')
  const home = await confined.homeOf('acp', mark)
  const programs = bridge === null ? [] : [{ file: bridge.command, args: bridge.args }]
  const program = confined.wrap(command, { workspace, home, paths: profile.paths, programs })
  return { ...program, env: confinedEnv(env, home.path) }
}

async function openSession(
  peer: AcpPeer,
  place: Place,
  resume: string | null,
  settings: AcpSettings,
): Promise<Connected | Trouble> {
  const refused = await peer.initialize()
  if (refused !== null) return refused
  const mcpServers = await toolServers(peer, place.tools, settings)
  if ('because' in mcpServers) return mcpServers
  const params: NewSessionRequest = { cwd: place.workspace, mcpServers }
  if (resume !== null) {
    const resumed = await takeUp(peer, params, resume, settings)
    if (resumed !== null) return resumed
  }
  const { sessionId, configOptions } = await peer.agent.request('session/new', params)
  return { peer, sessionId, resumed: false, model: modelOf(configOptions) }
}

/** Null when the agent cannot resume, or no longer has the session. */
async function takeUp(
  peer: AcpPeer,
  fresh: NewSessionRequest,
  sessionId: string,
  settings: AcpSettings,
): Promise<Connected | null> {
  const { sessionCapabilities, loadSession } = peer.capabilities
  const params = { ...fresh, sessionId }
  const canResume = sessionCapabilities?.resume !== undefined && sessionCapabilities.resume !== null
  if (!canResume && loadSession !== true) return null
  try {
    const response: { readonly configOptions?: SessionConfigOption[] | null } = canResume
      ? await peer.agent.request('session/resume', params)
      : // The history that the agent repeats now has no listener and is dropped.
        await peer.agent.request('session/load', params)
    return { peer, sessionId, resumed: true, model: modelOf(response?.configOptions) }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    settings.logger.info('an agent session could not be continued', { code: error.code })
    return null
  }
}

/** What a failed request means. A connection that broke says nothing itself: the end of the process does. */
export async function troubleOf(error: unknown, peer: AcpPeer, settings: AcpSettings): Promise<Trouble> {
  if (error instanceof RequestError) {
    if (error.code === AUTH_REQUIRED) {
      return { because: 'unavailable', detail: 'the agent asks for a sign-in; sign in with its own program first' }
    }
    const words = scrub(error.message, settings.env)
    return { because: 'unavailable', detail: `the agent answered with error ${error.code}: ${words}` }
  }
  void peer.end()
  return peer.ended
}

function modelOf(options: readonly SessionConfigOption[] | null | undefined): string | null {
  const model = options?.find((option) => option.category === 'model')
  return model?.type === 'select' ? model.currentValue : null
}
