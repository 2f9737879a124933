import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { OWNER_PROFILE } from '../../src/collab/audience.js'
import type { Logger } from '../../src/lib/log.js'
import type { LaneId } from '../../src/collab/refs.js'
import { must } from '../../src/lib/assert.js'
import { createAcpRuntime } from '../../src/runtime/acp/adapter.js'
import type { AcpOptions } from '../../src/runtime/acp/options.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { MARK, markOf } from '../../src/runtime/marked.js'
import { groupIsGone } from '../../src/runtime/process-group.js'
import { runtimeContract } from '../contracts/runtime.js'
import {
  acpOptions,
  collect,
  eventually,
  inputOf,
  never,
  opened,
  OWNER_UNCONFINED,
  temporaryFolder,
} from '../kit/runtime-bench.js'
import { scriptedAgent } from '../kit/scripted-command.js'

const scriptedCommand = await scriptedAgent()

runtimeContract('acp, an agent that resumes', () => createAcpRuntime(acpOptions(scriptedCommand())))

describe('acp', () => {
  let workspace: Awaited<ReturnType<typeof temporaryFolder>>
  const runtimes: HostedRuntime[] = []
  beforeEach(async () => {
    workspace = await temporaryFolder()
  })
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) expect(await runtime.end()).toEqual({ executor: 'gone' })
    await workspace.remove()
  })

  const make = (flags: readonly string[] = [], more: Partial<AcpOptions> = {}): HostedRuntime => {
    const runtime = createAcpRuntime(acpOptions(scriptedCommand(...flags), more))
    runtimes.push(runtime)
    return runtime
  }
  const open = (runtime: HostedRuntime) =>
    runtime.open({ lane: 'lane-1' as LaneId, profile: OWNER_PROFILE, workspace: workspace.path, resume: null }, never)
  const final = async (message: string, flags: readonly string[] = [], more: Partial<AcpOptions> = {}) => {
    const session = await opened(make(flags, more), workspace.path)
    const { ended } = await collect(session.turn(inputOf(message), never))
    return ended.ended === 'completed'
      ? ended.final
      : `${ended.ended}${ended.ended === 'failed' ? ` ${ended.because}` : ''}`
  }
  /** The process id that the hanging agent's own command has. */
  const agentOf = (hostTurn: string): number =>
    Number(must(/^s(\d+)-/u.exec(hostTurn)?.[1], 'the pid in the session id'))

  test('says what the agent says of itself', async () => {
    const session = await opened(make(), workspace.path)
    expect(session.effective).toEqual({
      runtime: 'acp',
      version: 'scripted-agent 1.0.0',
      model: 'script-1',
      effort: null,
      realModel: true,
      confinement: OWNER_UNCONFINED,
    })
  })

  test('A1 the agent sees only the environment that was built for it', async () => {
    vi.stubEnv('LARK_APP_SECRET', 'gateway-secret')
    vi.stubEnv('DATABASE_URL', 'postgres://gateway')
    try {
      const names = (await final('!env')).split(' ')
      expect(names).toEqual(expect.arrayContaining(['HOME', 'PATH']))
      for (const name of ['LARK_APP_SECRET', 'DATABASE_URL', 'VITEST']) expect(names).not.toContain(name)
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('a hanging agent and the command it started are gone after stop, both deaf to SIGTERM', async () => {
    const session = await opened(make(), workspace.path)
    const input = inputOf('!fail hang')
    const started = performance.now()
    const { ended } = await collect(session.turn(input, never), (event) => {
      if (event.kind === 'activity') void session.stop(input.turn)
    })
    expect(ended.ended).toBe('interrupted')
    expect(performance.now() - started).toBeLessThan(8000)
    const pid = agentOf(session.ref.id)
    // One that has ended and was not collected yet still has its number.
    expect(await groupIsGone(pid)).toBe(true)
  })

  test('A18 what a killed gateway left of a session is gone before another process of it begins; others stay', async () => {
    const left = (lane: string) =>
      spawn('sleep', ['600'], {
        detached: true,
        stdio: 'ignore',
        env: { PATH: process.env['PATH'], [MARK]: markOf('acp', workspace.path, lane) },
      })
    const [ours, others] = [left('lane-1'), left('lane-2')]
    const ended = once(ours, 'exit')
    try {
      expect((await open(make())).outcome).toBe('opened')
      expect(await ended).toEqual([null, 'SIGTERM'])
      expect(others.exitCode ?? others.signalCode).toBeNull()
    } finally {
      others.kill('SIGKILL')
      ours.kill('SIGKILL')
    }
  })

  test('after SIGKILL in mid-turn the turn fails as exited, and the session goes on in a new process', async () => {
    const runtime = make()
    const session = await opened(runtime, workspace.path)
    const { ended } = await collect(session.turn(inputOf('!think\n!delay 60s'), never), (event) => {
      if (event.kind === 'activity') process.kill(agentOf(session.ref.id), 'SIGKILL')
    })
    expect(ended).toEqual({ kind: 'ended', ended: 'failed', because: 'exited', detail: 'the agent ended by SIGKILL' })
    const again = await opened(runtime, workspace.path, session.ref)
    expect(again.opened).toBe('resumed')
    const next = await collect(again.turn(inputOf('!turn'), never))
    expect(next.ended).toMatchObject({ final: 'This is turn 2 of this session.' })
  })

  test('an open session starts its process again by itself when that died between turns', async () => {
    const session = await opened(make(), workspace.path)
    await collect(session.turn(inputOf('!turn'), never))
    const pid = agentOf(session.ref.id)
    process.kill(pid, 'SIGKILL')
    await eventually(() => groupIsGone(pid))
    const { ended } = await collect(session.turn(inputOf('!turn'), never))
    expect(ended).toMatchObject({ ended: 'completed', final: 'This is turn 2 of this session.' })
  })

  test('an agent that cannot resume: a new session says that it is new, an old one never pretends', async () => {
    const runtime = make(['--no-resume'])
    const session = await opened(runtime, workspace.path)
    const pid = agentOf(session.ref.id)
    process.kill(pid, 'SIGKILL')
    await eventually(() => groupIsGone(pid))
    const { ended } = await collect(session.turn(inputOf('!turn'), never))
    expect(ended).toMatchObject({ ended: 'failed', because: 'exited' })
    expect((await opened(runtime, workspace.path, session.ref)).opened).toBe('new')
  })

  test('session/load continues too, and the history it repeats is not an answer', async () => {
    const runtime = make(['--load'])
    const session = await opened(runtime, workspace.path)
    await collect(session.turn(inputOf('!turn'), never))
    await session.close()
    const again = await opened(runtime, workspace.path, session.ref)
    expect(again.opened).toBe('resumed')
    const { ended } = await collect(again.turn(inputOf('!turn'), never))
    expect(ended).toMatchObject({ final: 'This is turn 2 of this session.' })
  })

  test('opening a session that is still here gives the same process', async () => {
    const runtime = make(['--no-resume'])
    const session = await opened(runtime, workspace.path)
    await collect(session.turn(inputOf('!turn'), never))
    const again = await opened(runtime, workspace.path, session.ref)
    expect(again.opened).toBe('resumed')
    const { ended } = await collect(again.turn(inputOf('!turn'), never))
    expect(ended).toMatchObject({ final: 'This is turn 2 of this session.' })
  })

  test('two openings of one session at the same time are one process', async () => {
    const runtime = make()
    const first = await opened(runtime, workspace.path)
    await first.close()
    const both = await Promise.all([0, 1].map(() => opened(runtime, workspace.path, first.ref)))
    await collect(must(both[0], 'first').turn(inputOf('!reply hi'), never))
    await must(both[1], 'second').close()
    const { ended } = await collect(must(both[0], 'first').turn(inputOf('!reply hi'), never))
    expect(ended).toMatchObject({ ended: 'failed', because: 'exited' })
  })

  test('ending the runtime ends sessions that are just being opened', async () => {
    const runtime = make(['--mute'])
    const opening = open(runtime)
    expect(await runtime.end()).toEqual({ executor: 'gone' })
    expect(await opening).toMatchObject({ outcome: 'unavailable' })
    expect(await open(runtime)).toMatchObject({ outcome: 'unavailable' })
  })

  test('an idle process is ended', async () => {
    const session = await opened(make([], { idleMs: 50 }), workspace.path)
    await collect(session.turn(inputOf('!reply hi'), never))
    const pid = agentOf(session.ref.id)
    await eventually(() => groupIsGone(pid))
    const { ended } = await collect(session.turn(inputOf('!turn'), never))
    expect(ended).toMatchObject({ final: 'This is turn 2 of this session.' })
  })

  test('words before and after a tool call are messages of their own', async () => {
    expect(await final('!reply I will look.\n!tool\n!reply It works.')).toBe('I will look.\n\nIt works.')
  })

  test('updates of a kind that nobody knows yet are ignored', async () => {
    expect(await final('!unknown-update\n!reply fine')).toBe('fine')
  })

  test('a tool shows as activity and its output stays inside', async () => {
    const session = await opened(make(), workspace.path)
    const { events } = await collect(session.turn(inputOf('!tool\n!reply ok'), never))
    expect(events).toContainEqual({ kind: 'activity', activity: 'tool' })
    expect(JSON.stringify(events)).not.toContain('TOOL-OUTPUT')
  })

  test('a refusal without a reject option is a cancel, never a wider permission', async () => {
    const session = await opened(make(), workspace.path)
    const { ended } = await collect(session.turn(inputOf('!ask-without-reject git push'), never), async (event) => {
      if (event.kind === 'approval') await session.answer(event.approval, 'reject-once')
    })
    expect(ended).toMatchObject({ final: 'Cancelled: git push' })
  })

  test('an agent that ends its turn when refused ends it as interrupted', async () => {
    const session = await opened(make(['--steps-aside']), workspace.path)
    const { events, ended } = await collect(session.turn(inputOf('!ask git push'), never), async (event) => {
      if (event.kind === 'approval') await session.answer(event.approval, 'reject-once')
    })
    expect(events).toContainEqual(expect.objectContaining({ operation: 'Run a command (execute)\ngit push' }))
    expect(ended.ended).toBe('interrupted')
  })

  test('a link that leads out of the workspace gives no file; the answer still comes', async () => {
    const warnings: unknown[] = []
    const logger: Logger = { debug() {}, info() {}, error() {}, warn: (_, fields) => warnings.push(fields?.reason) }
    const session = await opened(make([], { logger }), workspace.path)
    const { events, ended } = await collect(
      session.turn(inputOf('!attach outside.txt\n!attach inside.txt\n!attach picture.png\n!reply done'), never),
    )
    const files = events.filter((event) => event.kind === 'file')
    expect(files.map(({ fileName, mediaType }) => [fileName, mediaType])).toEqual([
      ['inside.txt', 'text/plain'],
      ['image.png', 'image/png'],
    ])
    expect(warnings).toEqual(['outside-workspace'])
    expect(events.filter((event) => event.kind === 'file-left-out')).toEqual([
      { kind: 'file-left-out', fileName: 'outside.txt', because: 'outside-workspace' },
    ])
    expect(ended).toMatchObject({ final: 'done' })
  })

  test('attachments go as links, and pictures are shown too', async () => {
    const path = join(workspace.path, 'a b.png')
    await writeFile(path, 'x')
    const session = await opened(make(), workspace.path)
    const input = inputOf('!blocks', [{ path, fileName: 'a b.png', mediaType: 'image/png' }])
    const { ended } = await collect(session.turn(input, never))
    expect(ended).toMatchObject({ final: 'text,resource_link,image' })
  })

  test('a banner before the protocol is tolerated', async () => {
    expect(await final('!reply fine', ['--banner'])).toBe('fine')
  })

  test.each([
    ['--garbage-at-start', 'garbage'],
    ['--exit-at-start', 'exited'],
    ['--auth', 'unavailable'],
    ['--mute', 'hung'],
  ])('an agent started with %s cannot be opened: %s', async (flag, because) => {
    const opening = await open(make([flag], { openMs: flag === '--mute' ? 300 : 15_000 }))
    expect(opening).toMatchObject({ outcome: 'unavailable', because })
  })

  test('why an agent ended at its start is told without its key and its paths', async () => {
    const env = { PATH: process.env['PATH'] ?? '', AGENT_API_KEY: 'secret-canary-1' }
    const opening = await open(make(['--exit-at-start'], { env }))
    expect(opening).toMatchObject({ detail: 'the agent ended with code 3: not signed in: *** in …' })
  })

  test('what an agent answers as an error is told, shortened', async () => {
    const session = await opened(make(), workspace.path)
    const { ended } = await collect(session.turn(inputOf('!fail unavailable'), never))
    expect(ended).toMatchObject({
      detail: expect.stringMatching(/^the agent answered with error -32603: .*usage limit reached/u),
    })
  })

  test('opening can be stopped', async () => {
    const abort = new AbortController()
    const opening = make(['--mute']).open(
      { lane: 'l' as LaneId, profile: OWNER_PROFILE, workspace: workspace.path, resume: null },
      abort.signal,
    )
    abort.abort()
    expect(await opening).toMatchObject({ outcome: 'unavailable', because: 'unavailable' })
  })

  test('a program that is not there makes the runtime unavailable, by its base name only', async () => {
    const runtime = createAcpRuntime(acpOptions('/opt/private/place/no-such-agent --acp'))
    const found = await runtime.available()
    expect(found).toMatchObject({ available: false, detail: expect.stringContaining('(no-such-agent)') })
    expect(JSON.stringify(found)).not.toContain('private')
    expect(await open(runtime)).toMatchObject({ outcome: 'unavailable', because: 'unavailable' })
  })
})
