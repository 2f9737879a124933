import { join } from 'node:path'
import type { SessionProfile } from '../../collab/audience.js'
import type { SessionSpec } from '../../collab/ports.js'
import { errorLabel } from '../../lib/log.js'
import { HOW_TO_GIVE_FILES } from '../answer-files.js'
import type { PrivateHome } from '../confine/home.js'
import { must } from '../../lib/assert.js'
import { endMarked, markOf } from '../marked.js'
import type { Program } from '../confine/confiner.js'
import { within } from '../wait.js'
import { environmentOf, instructionsIn, ownersSignIn, prepareConfinedHome, prepareHome } from './environment.js'
import { isUuid, messageIdOf } from './input.js'
import type { ClaudeDeps } from './options.js'
import { ClaudeProcess, SERVER } from './process.js'
import type { ClaudeSdk, QueryOptions } from './sdk.js'
import { WriterLock } from './writer-lock.js'
import type { Trouble } from '../trouble.js'

/** What a session is opened with, each time a process begins. */
export interface Place {
  readonly workspace: string
  readonly lane: string
  readonly profile: SessionProfile
  readonly tools: NonNullable<SessionSpec['tools']> | null
}

export interface Connected {
  readonly process: ClaudeProcess
  readonly sessionId: string
  readonly resumed: boolean
  /** To be given back when the process group is gone. */
  readonly lock: WriterLock
}

const interruptedOpening: Trouble = { because: 'unavailable', detail: 'opening the session was stopped' }

/**
 * Starts a process with one session in it: the given one if it is still there, else a new one. On trouble the process
 * is ended and the right to write is given back before this returns.
 */
export async function connect(
  sdk: ClaudeSdk,
  place: Place,
  resume: string | null,
  signal: AbortSignal,
  settings: ClaudeDeps,
): Promise<Connected | Trouble> {
  if (resume !== null && isUuid(resume)) {
    const resumed = await start(sdk, place, resume, true, signal, settings)
    if (resumed !== 'no-session') return resumed
    settings.logger.info('an agent session could not be continued', { reason: 'no-session' })
  }
  const fresh = await start(sdk, place, messageIdOf(settings.newId()), false, signal, settings)
  return fresh === 'no-session' ? { because: 'unavailable', detail: 'the agent opened no session' } : fresh
}

const unusable: Trouble = {
  because: 'unavailable',
  detail: 'the private home of Claude Code below DATA_DIR cannot be used',
}

const withoutProgram: Trouble = {
  because: 'unavailable',
  detail: 'the agent SDK came without its program: install it with its optional parts, or set CLAUDE_BIN',
}

async function start(
  sdk: ClaudeSdk,
  place: Place,
  sessionId: string,
  resumed: boolean,
  signal: AbortSignal,
  settings: ClaudeDeps,
): Promise<Connected | Trouble | 'no-session'> {
  if (signal.aborted) return interruptedOpening
  const startedAt = settings.clock.now()
  const leftover = async (mark: string): Promise<boolean> => (await endMarked(mark, null, settings.killAfterMs)).gone
  const taken = await WriterLock.take(join(settings.homes, 'writers'), sessionId, settings.newId(), leftover).catch(
    (error: unknown) => {
      settings.logger.error('a session could not be locked', { error: errorLabel(error) })
      return null
    },
  )
  if (taken === null) return unusable
  if (!taken.taken) {
    const detail =
      taken.because === 'held'
        ? 'another process writes in this session; it can be opened when that one has ended'
        : 'what an earlier gateway left running in this session could not be ended'
    return { because: 'unavailable', detail }
  }
  const { lock } = taken
  const outcome = await launch(sdk, place, sessionId, resumed, signal, settings, lock).catch((error: unknown) => {
    settings.logger.error('an agent could not be started', { error: errorLabel(error) })
    // The SDK looks for the program before it starts anything.
    const missing = error instanceof Error && /native (?:cli )?binary|not found at/iu.test(error.message)
    return { trouble: missing ? withoutProgram : unusable, proof: 'gone' as const }
  })
  const ms = settings.clock.now() - startedAt
  if ('process' in outcome) {
    settings.logger.info(resumed ? 'an agent session goes on' : 'an agent session is new', { ms })
    return { ...outcome, sessionId, resumed, lock }
  }
  if (outcome.proof === 'gone') await lock.release()
  if (outcome.trouble !== 'no-session') {
    settings.logger.warn('an agent session could not be opened', { ms, reason: outcome.trouble.because })
  }
  return outcome.trouble
}

async function launch(
  sdk: ClaudeSdk,
  place: Place,
  sessionId: string,
  resumed: boolean,
  signal: AbortSignal,
  settings: ClaudeDeps,
  lock: WriterLock,
): Promise<
  { readonly process: ClaudeProcess } | { readonly trouble: Trouble | 'no-session'; readonly proof: 'gone' | 'unknown' }
> {
  const { workspace, profile, tools } = place
  const { servers, lacking } = await toolServers(tools, settings)
  if (lacking !== null) return { trouble: lacking, proof: 'gone' }
  const home = await homeOf(place, settings)
  const instructions = await instructionsIn(workspace)
  const append = instructions === '' ? HOW_TO_GIVE_FILES : `${instructions}\n\n${HOW_TO_GIVE_FILES}`
  const { env, secret } = environmentOf(settings, lock.mark, home?.path ?? null)
  const process = new ClaudeProcess(
    sdk,
    {
      cwd: workspace,
      env,
      ...(resumed ? { resume: sessionId } : { sessionId }),
      ...(settings.model === '' ? {} : { model: settings.model }),
      ...(settings.effort === '' ? {} : { effort: settings.effort }),
      ...(settings.bin === '' ? {} : { pathToClaudeCodeExecutable: settings.bin }),
      permissionMode: settings.permissionMode,
      settingSources: [],
      settings: ownSettings(settings),
      strictMcpConfig: true,
      mcpServers: servers,
      // Not in the command line, which every user of the machine can read: there is a token in it.
      mcpServersDelivery: 'initialize',
      disallowedTools: profile.kind === 'owner' ? withoutAnybody : [...withoutAnybody, ...intoTheNet],
      systemPrompt: { type: 'preset', preset: 'claude_code', append },
      includePartialMessages: true,
      extraArgs: { 'replay-user-messages': null },
    },
    settings,
    { mark: lock.mark, secret, confine: home === null ? null : confined(place, home, settings) },
  )
  const late: Trouble = {
    because: 'hung',
    detail: `the agent did not open a session within ${settings.openMs / 1000} s`,
  }
  let onAbort = (): void => {}
  const stopped = new Promise<Trouble>((resolve) => {
    onAbort = () => resolve(interruptedOpening)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  const started = process.started().then(
    () => null,
    () => process.ended,
  )
  const trouble = await within(settings.openMs, Promise.race([started, process.ended, stopped]), late)
  signal.removeEventListener('abort', onAbort)
  if (trouble === null) return { process }
  const { executor } = await process.end()
  const noSession = resumed && trouble.because === 'exited' && /no conversation found/iu.test(trouble.detail)
  return { trouble: noSession ? 'no-session' : trouble, proof: executor }
}

/** Of a confined session; null: the owner's home is used. */
async function homeOf({ workspace, lane, profile }: Place, settings: ClaudeDeps): Promise<PrivateHome | null> {
  if (profile.kind === 'owner') {
    await prepareHome(settings)
    return null
  }
  const home = await must(settings.confiner, 'what confines').homeOf('claude', markOf('claude', workspace, lane))
  await prepareConfinedHome(home.path)
  return home
}

const confined =
  ({ workspace, profile }: Place, home: PrivateHome, { confiner }: ClaudeDeps) =>
  (program: Program): Program =>
    must(confiner, 'what confines').wrap(program, {
      workspace,
      home,
      paths: profile.kind === 'owner' ? [] : profile.paths,
    })

/** Tools of the program that fetch from the network by themselves. */
const intoTheNet = ['WebFetch', 'WebSearch'] as const

/** Days after which the program forgets a session by itself; work may rest longer than its usual 30. */
const KEPT_DAYS = 36_500

/**
 * Reading needs no question, as with other runtimes: repositories of the owner are what a manager works with. Sign-ins
 * and what was said in other conversations are not read at all.
 */
function ownSettings({ permissionMode, homes, env }: ClaudeDeps): QueryOptions['settings'] {
  const allow = permissionMode === 'default' ? [] : ['Read', 'Glob', 'Grep']
  const secret = [join(homes, '**', '*.jsonl'), join(homes, '**', '.credentials.json'), ownersSignIn(env)]
  // Two slashes stand for the root of the file system.
  const deny = secret.flatMap((path) => (path === null ? [] : [`Read(/${path})`]))
  return { cleanupPeriodDays: KEPT_DAYS, permissions: { allow, deny } }
}

/** Tools of the program that ask a person at a terminal, begin something after the turn, or reach other conversations. */
const withoutAnybody = [
  'AskUserQuestion',
  'EnterPlanMode',
  'ExitPlanMode',
  'ScheduleWakeup',
  'CronCreate',
  'CronDelete',
  'CronList',
  'Monitor',
  'ListAgents',
  'SendMessage',
] as const

async function toolServers(
  tools: Place['tools'],
  settings: ClaudeDeps,
): Promise<{ readonly servers: Readonly<Record<string, unknown>>; readonly lacking: Trouble | null }> {
  if (tools === null) return { servers: {}, lacking: null }
  try {
    const { url, token } = await tools()
    const server = { type: 'http', url, headers: { Authorization: `Bearer ${token}` } }
    return { servers: { [SERVER]: server }, lacking: null }
  } catch (error) {
    settings.logger.error('no token for an agent', { error: errorLabel(error) })
    return { servers: {}, lacking: { because: 'unavailable', detail: 'the tools of the agent could not be prepared' } }
  }
}
