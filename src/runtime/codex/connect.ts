import type { SessionProfile } from '../../collab/audience.js'
import type { Confinement, SessionSpec } from '../../collab/ports.js'
import { errorLabel } from '../../lib/log.js'
import { wait, within } from '../wait.js'
import { scrub } from '../scrub.js'
import { descendantsOf } from './descendants.js'
import { ensureHome } from './home.js'
import type { CodexDeps } from './options.js'
import { CodexPeer, PeerGone, RpcError } from './peer.js'
import { confinementOf, differences, mustConfine, profileParams } from './profile.js'
import { fields, text, type Fields } from './read.js'
import type { Trouble } from '../trouble.js'

/** How our tools are called in codex's list of tool servers; the model sees `mcp__lark_manager`. */
const TOOLS = 'lark_manager'
/** A killed gateway's codex ends in 50 ms; until then it still writes its thread. */
const WRITER_LOOK_MS = 100

/** What a thread is opened with, each time a process begins. */
export interface Place {
  readonly workspace: string
  readonly profile: SessionProfile
  readonly tools: NonNullable<SessionSpec['tools']> | null
}

export interface Connected {
  readonly peer: CodexPeer
  readonly threadId: string
  readonly resumed: boolean
  /** Processes that codex keeps beside its turns: tool servers of the operator's own. */
  readonly standing: readonly number[]
  /** Where codex writes this thread down; null where it does not say. */
  readonly path: string | null
  /** As codex gives them back. */
  readonly model: string | null
  readonly effort: string | null
  readonly confinement: Confinement
  readonly differs: readonly string[]
}

/** Reports that this client has no use for; some of them are long. What a command prints is none: it shows progress. */
const unwanted = [
  'turn/diff/updated',
  'item/fileChange/outputDelta',
  'item/fileChange/patchUpdated',
  'command/exec/outputDelta',
  'account/rateLimits/updated',
  'thread/readState/changed',
]

/**
 * Starts `codex app-server` and opens one thread in it: the given one if codex still has it, else a new one. On trouble
 * the process is ended before this returns.
 */
export async function connect(
  file: string,
  place: Place,
  resume: string | null,
  signal: AbortSignal,
  deps: CodexDeps,
): Promise<Connected | Trouble> {
  if (signal.aborted) return stopped
  const startedAt = deps.clock.now()
  let peer: CodexPeer
  try {
    peer = start(file, place, await ensureHome(deps, place.profile.kind), deps)
  } catch (error) {
    deps.logger.error('a private home for codex could not be made', { error: errorLabel(error) })
    return { because: 'unavailable', detail: 'the private CODEX_HOME below DATA_DIR cannot be written' }
  }
  let onAbort = (): void => {}
  const aborted = new Promise<Trouble>((resolve) => {
    onAbort = () => resolve(stopped)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  const late: Trouble = { because: 'hung', detail: `codex did not open a thread within ${deps.openMs / 1000} s` }
  const opening = openThread(peer, place, resume, signal, deps).catch((error: unknown) => troubleOf(error, peer, deps))
  const outcome = await within(deps.openMs, Promise.race([opening, peer.ended, aborted]), late)
  signal.removeEventListener('abort', onAbort)
  const ms = deps.clock.now() - startedAt
  if ('because' in outcome) {
    deps.logger.warn('a codex thread could not be opened', { ms, reason: outcome.because })
    await peer.end()
  } else deps.logger.info(outcome.resumed ? 'a codex thread goes on' : 'a codex thread is new', { ms })
  return outcome
}

const stopped: Trouble = { because: 'unavailable', detail: 'opening the session was stopped' }

function start(file: string, place: Place, home: string, deps: CodexDeps): CodexPeer {
  const { CLAUDE_CONFIG_DIR: _, ...env } = deps.env
  return new CodexPeer(
    {
      file,
      // What must hold whatever the operator's config.toml in the private home says.
      args: ['app-server', ...overrides.flatMap((line) => ['-c', line])],
      cwd: place.workspace,
      env: { ...env, ...deps.credential, CODEX_HOME: home },
    },
    deps,
  )
}

const overrides = [
  'check_for_update_on_startup=false',
  'analytics.enabled=false',
  'features.plugins=false',
  'features.apps=false',
  'features.remote_plugin=false',
  // A goal would go on by itself after the turn, and the next message would be a word into that.
  'features.goals=false',
  // The queue tries again; codex by itself would do so without an end.
  'features.unbounded_connection_retries=false',
  'features.daemon_auto_start=false',
  'features.skill_mcp_dependency_install=false',
  // The shell of the model sees no variable that may hold a key.
  'shell_environment_policy.inherit="core"',
]

async function openThread(
  peer: CodexPeer,
  place: Place,
  resume: string | null,
  signal: AbortSignal,
  deps: CodexDeps,
): Promise<Connected | Trouble> {
  await peer.request('initialize', {
    clientInfo: { name: 'lark-manager', title: 'lark-manager', version: '0.1.0' },
    capabilities: { experimentalApi: true, requestAttestation: false, optOutNotificationMethods: unwanted },
  })
  peer.notify('initialized')
  const tools = await toolConfig(place, deps)
  if (tools === null) return { because: 'unavailable', detail: 'the tools of the agent could not be prepared' }
  const profile = await profileParams(place.workspace, place.profile, peer.pid, deps)
  const params = { ...profile, config: { ...fields(profile['config']), ...tools } }
  if (resume !== null) {
    const resumed = await takeUp(peer, place, params, resume, signal, deps)
    if (resumed !== null) return resumed
  }
  const response = fields(await peer.request('thread/start', params))
  const id = text(fields(response['thread'])['id'])
  if (id === null) return { because: 'garbage', detail: 'codex gave a thread without an id' }
  return connected(peer, id, false, response, place, deps)
}

async function connected(
  peer: CodexPeer,
  threadId: string,
  resumed: boolean,
  response: Fields,
  { profile }: Place,
  deps: CodexDeps,
): Promise<Connected | Trouble> {
  const other = differences(response, profile, deps)
  if (other.length > 0) deps.logger.warn('codex runs otherwise than it was asked to', { reason: other.join(', ') })
  if (other.includes('sandbox') && mustConfine(profile, deps)) {
    return { because: 'unavailable', detail: 'codex does not confine its commands to the workspace as it was asked to' }
  }
  const standing = await descendantsOf(peer.pid ?? 0)
  return {
    peer,
    threadId,
    resumed,
    standing,
    path: text(fields(response['thread'])['path']),
    model: text(response['model']),
    effort: text(response['reasoningEffort']),
    confinement: confinementOf(response, profile, deps),
    differs: other,
  }
}

/** Our tool server with the token of this one process. Null: there is none now. */
async function toolConfig(place: Place, deps: CodexDeps): Promise<Fields | null> {
  if (place.tools === null) return {}
  try {
    const { url, token } = await place.tools()
    const server = {
      url,
      http_headers: { Authorization: `Bearer ${token}` },
      // Without its tools an agent could not answer for its work; without this each call would ask the owner.
      required: true,
      default_tools_approval_mode: 'approve',
    }
    return { mcp_servers: { [TOOLS]: server } }
  } catch (error) {
    deps.logger.error('no token for an agent', { error: errorLabel(error) })
    return null
  }
}

/** Null when codex no longer has the thread. One that another process still writes is waited for. */
async function takeUp(
  peer: CodexPeer,
  place: Place,
  params: Fields,
  threadId: string,
  signal: AbortSignal,
  deps: CodexDeps,
): Promise<Connected | Trouble | null> {
  for (let waited = 0; ; waited += WRITER_LOOK_MS) {
    try {
      const response = fields(await peer.request('thread/resume', { ...params, threadId, excludeTurns: true }))
      const id = text(fields(response['thread'])['id'])
      // Another thread is no continuation.
      return id === threadId ? await connected(peer, id, true, response, place, deps) : null
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (!/active writer/u.test(error.message)) {
        deps.logger.info('a codex thread could not be continued', { code: error.code })
        return null
      }
      const more = waited < deps.writerWaitMs && (await wait(WRITER_LOOK_MS, signal))
      if (!more) return { because: 'unavailable', detail: 'another process still writes this codex thread' }
    }
  }
}

/** What a failed request means. A connection that broke says nothing itself: the end of the process does. */
export async function troubleOf(error: unknown, peer: CodexPeer, deps: CodexDeps): Promise<Trouble> {
  if (error instanceof RpcError) {
    const words = scrub(error.message, { ...deps.env, ...deps.credential })
    return { because: 'unavailable', detail: `codex answered with error ${error.code}: ${words}` }
  }
  if (!(error instanceof PeerGone)) deps.logger.error('codex could not be asked', { error: errorLabel(error) })
  void peer.end()
  return peer.ended
}
