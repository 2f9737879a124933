import { randomUUID } from 'node:crypto'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OWNER_PROFILE } from '../../src/collab/audience.js'
import { MESSAGE_CLOSE, MESSAGE_OPEN } from '../../src/collab/project/prompt.js'
import type {
  AgentRuntime,
  Confinement,
  RuntimeSession,
  SessionRef,
  TurnEnded,
  TurnEvent,
  TurnInput,
} from '../../src/collab/ports.js'
import type { LaneId, TurnId } from '../../src/collab/refs.js'
import { must } from '../../src/lib/assert.js'
import { silentLogger } from '../../src/lib/log.js'
import type { AcpOptions } from '../../src/runtime/acp/options.js'
import type { ClaudeSettings } from '../../src/runtime/claude/options.js'
import type { CodexSettings } from '../../src/runtime/codex/options.js'

export const never = new AbortController().signal

/** A composed prompt as the gateway hands it over: the message stands between the marker lines. */
export function composed(message: string): string {
  return ['# Context', '!fail exit', MESSAGE_OPEN, message, MESSAGE_CLOSE, '# After', '!fail exit'].join('\n')
}

export function inputOf(message: string, attachments: TurnInput['attachments'] = []): TurnInput {
  return { turn: randomUUID() as TurnId, text: composed(message), attachments }
}

export async function temporaryFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'runtime-')))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

export async function opened(
  runtime: AgentRuntime,
  workspace: string,
  resume: SessionRef | null = null,
): Promise<RuntimeSession> {
  const opening = await runtime.open({ lane: 'lane-1' as LaneId, profile: OWNER_PROFILE, workspace, resume }, never)
  if (opening.outcome !== 'opened') throw new Error(`not opened: ${opening.outcome}: ${opening.detail}`)
  return opening.session
}

/** Every event of a turn; `onEvent` may act while it runs. */
export async function collect(
  stream: AsyncIterable<TurnEvent>,
  onEvent: (event: TurnEvent) => void | Promise<void> = () => {},
): Promise<{ readonly events: readonly TurnEvent[]; readonly ended: TurnEnded }> {
  const events: TurnEvent[] = []
  for await (const event of stream) {
    events.push(event)
    await onEvent(event)
  }
  const ended = events.filter((event) => event.kind === 'ended')
  return { events, ended: must(ended[0], 'the end of the turn') }
}

export function acpOptions(command: string, more: Partial<AcpOptions> = {}): AcpOptions {
  return {
    command,
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' },
    logger: silentLogger,
    newId: () => randomUUID(),
    clock: { now: () => Date.now() },
    cancelMs: 300,
    killAfterMs: 300,
    ...more,
  }
}

/** A codex that is nowhere. */
export const noClaude: ClaudeSettings = {
  bin: '',
  sdk: 'file:///nonexistent/sdk.mjs',
  homes: '/nonexistent/homes',
  model: '',
  effort: '',
  permissionMode: 'acceptEdits',
  credential: {},
}

export const noCodex: CodexSettings = {
  bin: '/nonexistent/codex',
  homes: '/nonexistent/homes',
  model: '',
  effort: '',
  sandbox: 'workspace-write',
  network: false,
  credential: {},
}

/** Waits until `condition` holds; fails after `ms`. */
/** What is in force around an owner's own session where the runtime is not confined by anybody. */
export const OWNER_UNCONFINED: Confinement = {
  profile: 'owner',
  reads: 'everything',
  writes: 'everything',
  paths: [],
  network: 'open',
  by: 'nobody',
}

export async function eventually(condition: () => boolean | Promise<boolean>, ms = 15_000): Promise<void> {
  const deadline = Date.now() + ms
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the condition did not come true in time')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
