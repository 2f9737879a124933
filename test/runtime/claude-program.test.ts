import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { OWNER_PROFILE } from '../../src/collab/audience.js'
import type { RuntimeSession, ToolAccess, TurnEvent } from '../../src/collab/ports.js'
import type { LaneId, TurnId } from '../../src/collab/refs.js'
import { must } from '../../src/lib/assert.js'
import { createClaudeRuntime } from '../../src/runtime/claude/adapter.js'
import type { ClaudeOptions } from '../../src/runtime/claude/options.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { type ClaudeBench, claudeBench, hasClaude } from '../kit/claude-bench.js'
import { mcpEcho } from '../kit/mcp-echo.js'
import { collect, eventually, inputOf, never, opened, OWNER_UNCONFINED, temporaryFolder } from '../kit/runtime-bench.js'

/** A file that its program renames meanwhile is looked at under its new name. */
function holds(path: string, text: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes(text)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** The real program, its model replaced by one that follows scripts. */
describe.skipIf(!hasClaude)('claude', { timeout: 60_000 }, () => {
  let bench: ClaudeBench
  let workspace: Awaited<ReturnType<typeof temporaryFolder>>
  const runtimes: HostedRuntime[] = []
  beforeEach(async () => {
    bench = await claudeBench()
    workspace = await temporaryFolder()
  })
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) expect(await runtime.end()).toEqual({ executor: 'gone' })
    expect(bench.processes()).toEqual([])
    await bench.close()
    await workspace.remove()
  })

  const make = (more: Partial<ClaudeOptions> = {}): HostedRuntime => {
    const runtime = createClaudeRuntime(bench.options(more))
    runtimes.push(runtime)
    return runtime
  }
  /** Runs a turn in which everything that is asked for is allowed. */
  const allowing = (session: RuntimeSession, message: string, onEvent: (event: TurnEvent) => void = () => {}) => {
    const input = inputOf(message)
    const ran = collect(session.turn(input, never), async (event) => {
      if (event.kind === 'approval') await session.answer(event.approval, 'allow-once')
      onEvent(event)
    })
    return { input, ran }
  }
  const final = async (session: RuntimeSession, message: string): Promise<string> => {
    const { ended } = await allowing(session, message).ran
    return ended.ended === 'completed' ? ended.final : JSON.stringify(ended)
  }
  const there = (name: string) => eventually(() => existsSync(join(workspace.path, name)), 15_000)
  const pidIn = (name: string): number => Number(readFileSync(join(workspace.path, name), 'utf8'))
  /** A command that says that it runs, and does so until it is ended. */
  const endless = '!run echo $$ > running.next && mv running.next running && tail -f /dev/null'
  /** One that has ended but that nobody has collected cannot act any more. */
  const isGone = (pid: number): boolean => {
    try {
      return / [ZX] /u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    } catch {
      return true
    }
  }

  test('says which version of which model it is, as the program itself says it', async () => {
    const session = await opened(make({ model: 'claude-mock-1', effort: 'high' }), workspace.path)
    await final(session, '!reply hi')
    expect(session.effective).toEqual({
      runtime: 'claude',
      version: 'claude 2.1.332',
      model: 'claude-mock-1',
      // It is sent, and the program does not say what came of it.
      effort: null,
      realModel: true,
      confinement: OWNER_UNCONFINED,
    })
    expect(bench.mock.requests.at(-1)?.effort).toBe('high')
    expect(bench.mock.requests.at(-1)?.model).toBe('claude-mock-1')
  })

  test('A1 its commands see neither the key nor anything of the gateway', async () => {
    vi.stubEnv('LARK_APP_SECRET', 'gateway-canary')
    vi.stubEnv('DATABASE_URL', 'postgres://gateway-canary')
    try {
      const session = await opened(make(), workspace.path)
      const seen = await final(session, '!run env; cat /proc/$PPID/environ | tr "\\0" "\\n"')
      expect(seen).toContain('CLAUDE_CONFIG_DIR=')
      for (const word of ['gateway-canary', 'VITEST', 'sk-ant-canary-key']) expect(seen).not.toContain(word)
      expect(bench.mock.requests.at(-1)?.headers['x-api-key']).toBe('sk-ant-canary-key')
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('says on whose account it works, and names the credential only where that signs in', async () => {
    const standing = { model: 'opus', effort: null }
    const managed = { ...standing, executorKind: 'managed', credential: 'ANTHROPIC_API_KEY' }
    expect(await make({ model: 'opus' }).binding?.()).toEqual(managed)
    const own = make({ model: 'opus', credential: { ANTHROPIC_BASE_URL: bench.mock.url } })
    expect(await own.binding?.()).toEqual({ ...standing, executorKind: null, credential: null })
    mkdirSync(join(bench.home, '.claude'))
    writeFileSync(join(bench.home, '.claude', '.credentials.json'), '{}')
    expect(await own.binding?.()).toEqual({ ...standing, executorKind: 'individual', credential: null })
  })

  test("the owner's sign-in is used where it lies, and no copy is made", async () => {
    const own = join(bench.home, '.claude')
    mkdirSync(own)
    const oauth = { accessToken: 'sk-ant-oat-canary', refreshToken: 'r', expiresAt: Date.now() + 3_600_000 }
    const scopes = ['user:inference']
    writeFileSync(join(own, '.credentials.json'), JSON.stringify({ claudeAiOauth: { ...oauth, scopes } }))
    const runtime = make({ credential: { ANTHROPIC_BASE_URL: bench.mock.url } })
    expect(await runtime.available()).toEqual({ available: true })
    expect(await final(await opened(runtime, workspace.path), '!reply hi')).toBe('hi')
    expect(bench.mock.requests.at(-1)?.headers['authorization']).toBe('Bearer sk-ant-oat-canary')
    const copies = readdirSync(join(bench.home, 'owner'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .filter((entry) => holds(join(entry.parentPath, entry.name), 'sk-ant-oat-canary'))
    expect(copies).toEqual([])
  })

  test('without a sign-in it is not available, and says what to do', async () => {
    const runtime = make({ credential: {} })
    expect(await runtime.available()).toMatchObject({
      available: false,
      detail: expect.stringMatching(/^Claude Code is not signed in; sign in with `claude`/u),
    })
    expect(await runtime.checks?.()).toMatchObject([
      { name: 'claude', state: 'ok' },
      { name: 'claude version', state: 'ok' },
      // What stands in its way may be said too, and is not what is missing here.
      { name: 'claude restricted sessions' },
      { name: 'claude sign-in', state: 'failed' },
    ])
  })

  test("AGENTS.md of the workspace reaches the model; a link in its place, and the folder's own settings, do not", async () => {
    writeFileSync(join(workspace.path, 'AGENTS.md'), 'INSTRUCTIONS-CANARY')
    mkdirSync(join(workspace.path, '.claude'))
    const settings = { permissions: { allow: ['Bash'] }, env: { INJECTED: 'injected-canary' } }
    writeFileSync(join(workspace.path, '.claude', 'settings.json'), JSON.stringify(settings))
    const session = await opened(make(), workspace.path)
    expect(await final(session, '!prompt INSTRUCTIONS-CANARY')).toBe('it is there')
    const { ran } = allowing(session, '!run sh -c env')
    const { events, ended } = await ran
    expect(events.filter(({ kind }) => kind === 'approval')).toHaveLength(1)
    expect(ended).toMatchObject({ final: expect.not.stringContaining('injected-canary') })

    const other = await temporaryFolder()
    writeFileSync(join(other.path, 'secret'), 'LINKED-CANARY')
    symlinkSync(join(other.path, 'secret'), join(other.path, 'AGENTS.md'))
    expect(await final(await opened(make(), other.path), '!prompt LINKED-CANARY')).toBe('it is not there')
    await other.remove()
  })

  test('stop ends the running command and leaves the program, which goes on with the session', async () => {
    const session = await opened(make(), workspace.path)
    const { input, ran } = allowing(session, endless)
    await there('running')
    const [before] = bench.processes()
    const began = performance.now()
    expect(await session.stop(input.turn)).toBe('stopped')
    expect(performance.now() - began).toBeLessThan(3000)
    expect((await ran).ended.ended).toBe('interrupted')
    expect(isGone(pidIn('running'))).toBe(true)
    expect(bench.processes()).toEqual([before])
    expect(await final(session, '!turn')).toBe('This is turn 2 of this session.')
  })

  test('a command that is deaf to signals ends with a stop, too', async () => {
    const session = await opened(make(), workspace.path)
    const deaf = `trap "" TERM INT HUP; echo $$ > running.next; mv running.next running; while :; do read -t 1 x <> <(:); done`
    const { input } = allowing(session, `!run ${deaf}`)
    await there('running')
    expect(await session.stop(input.turn)).toBe('stopped')
    expect(isGone(pidIn('running'))).toBe(true)
  })

  test('a command that was left to run ends with its turn, and is named', async () => {
    const session = await opened(make(), workspace.path)
    const leaving = '!run nohup tail -f /dev/null > /dev/null 2>&1 & echo $! > running; echo left'
    const { events, ended } = await allowing(session, leaving).ran
    expect(ended).toMatchObject({ ended: 'completed', final: 'ran: left' })
    expect(events.filter(({ kind }) => kind === 'ended-with-turn')).toEqual([
      { kind: 'ended-with-turn', tool: 'Bash', command: 'tail -f /dev/null' },
    ])
    expect(isGone(pidIn('running'))).toBe(true)
  })

  test('after SIGKILL of the program its command ends, and the session goes on in another process', async () => {
    const session = await opened(make(), workspace.path)
    await final(session, '!reply first')
    const { ran } = allowing(session, endless)
    await there('running')
    const [program] = bench.processes()
    process.kill(must(program, 'the program'), 'SIGKILL')
    const { ended } = await ran
    expect(ended).toEqual({ kind: 'ended', ended: 'failed', because: 'exited', detail: 'the agent ended by SIGKILL' })
    expect(await final(session, '!turn')).toBe('This is turn 3 of this session.')
    expect(isGone(pidIn('running'))).toBe(true)
  })

  test('killed before anything was written down, the session is a new one and says so', async () => {
    const runtime = make()
    const session = await opened(runtime, workspace.path)
    for (const pid of bench.processes()) process.kill(pid, 'SIGKILL')
    await eventually(() => bench.processes().length === 0)
    const { ended } = await collect(session.turn(inputOf('!turn'), never))
    expect(ended).toMatchObject({ ended: 'failed', because: 'exited' })
    expect((await opened(runtime, workspace.path, session.ref)).opened).toBe('new')
  })

  test('an idle program is ended, and the next turn starts it again in the same session', async () => {
    const session = await opened(make({ idleMs: 50 }), workspace.path)
    await final(session, '!turn')
    await eventually(() => bench.processes().length === 0)
    expect(await final(session, '!turn')).toBe('This is turn 2 of this session.')
  })

  test('A23 words reach the very turn that runs, and no other', async () => {
    const session = await opened(make(), workspace.path)
    const { input, ran } = allowing(
      session,
      '!run touch running; until [ -e go ]; do read -t 0.1 x <> <(:); done\n!heard PS',
    )
    await there('running')
    const words = { turn: randomUUID() as TurnId, text: 'PS', attachments: [] }
    expect(await session.steer(randomUUID() as TurnId, words)).toBe('too-late')
    expect(await session.steer(input.turn, words)).toBe('taken')
    writeFileSync(join(workspace.path, 'go'), '')
    expect((await ran).ended).toMatchObject({ ended: 'completed', final: expect.stringMatching(/\n\nheard$/u) })
    expect(await session.steer(input.turn, words)).toBe('too-late')
    // What was said belongs to the turn that was running, so the next one is the second.
    expect(await final(session, '!turn')).toBe('This is turn 2 of this session.')
  })

  test('words that come while the answer is written are answered in the same turn', async () => {
    const session = await opened(make(), workspace.path)
    const input = inputOf('!reply first answer')
    const steered: Promise<string>[] = []
    const { ended } = await collect(session.turn(input, never), (event) => {
      if (event.kind !== 'activity' || event.activity !== 'answering' || steered.length > 0) return
      steered.push(session.steer(input.turn, { ...inputOf('!reply second answer') }))
    })
    expect(await Promise.all(steered)).toEqual(['taken'])
    expect(ended).toMatchObject({ ended: 'completed', final: 'first answer\n\nsecond answer' })
    expect(await final(session, '!reply third')).toBe('third')
  })

  test('A23 a stop never hits a later turn', async () => {
    const session = await opened(make(), workspace.path)
    const first = inputOf('!reply one')
    await collect(session.turn(first, never))
    const second = inputOf('!reply two')
    const { ended } = await collect(session.turn(second, never), (event) => {
      if (event.kind === 'started') void session.stop(first.turn)
    })
    expect(ended).toMatchObject({ final: 'two' })
  })

  test('a picture is shown to the model, another file and a large picture are not', async () => {
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const files = [
      ['small.png', 'image/png', Buffer.from(pixel, 'base64')],
      ['large.png', 'image/png', Buffer.alloc(6 * 1024 * 1024, 'p')],
      ['notes.txt', 'text/plain', Buffer.from('notes')],
    ] as const
    const attachments = files.map(([fileName, mediaType, bytes]) => {
      const path = join(workspace.path, fileName)
      writeFileSync(path, bytes)
      return { path, fileName, mediaType }
    })
    const session = await opened(make(), workspace.path)
    await collect(session.turn(inputOf('!reply seen', attachments), never))
    const blocks = bench.mock.requests
      .at(-1)
      ?.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
    const shown = blocks?.filter((block: { type?: string }) => block.type === 'image')
    expect(shown).toHaveLength(1)
    expect(shown).toMatchObject([{ source: { type: 'base64', media_type: 'image/png' } }])
  })

  test('our id of a message stands in the history of the session', async () => {
    const session = await opened(make(), workspace.path)
    const input = inputOf('!reply noted')
    await collect(session.turn(input, never))
    await session.close()
    const folder = join(bench.home, 'owner', 'projects')
    const name = must(
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((file) =>
        file.endsWith(`${session.ref.id}.jsonl`),
      ),
      'the history',
    )
    const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n')
    const ids = lines.map((line) => (JSON.parse(line) as { uuid?: string }).uuid)
    expect(ids.filter((id) => id === input.turn)).toHaveLength(1)
  })

  test('what the endpoint answers says how the turn failed, without its words, and the session goes on', async () => {
    const session = await opened(make(), workspace.path)
    const because = async (error: string): Promise<string> => {
      const { ended } = await collect(session.turn(inputOf(`!error ${error}`), never))
      expect(JSON.stringify(ended)).not.toContain('SECRET-BODY')
      return ended.ended === 'failed' ? ended.because : ended.ended
    }
    expect(await because('401 authentication_error bad key')).toBe('signed-out')
    expect(await because('429 rate_limit_error slow down')).toBe('rate-limit')
    expect(await because('402 billing_error credit is used up')).toBe('rate-limit')
    expect(await because('400 invalid_request_error prompt is too long: 210000 tokens > 200000')).toBe('context-full')
    expect(await because('400 invalid_request_error SECRET-BODY is not allowed')).toBe('unavailable')
    expect(await because('404 not_found_error model: nothing')).toBe('unavailable')
    expect(await because('529 overloaded_error overloaded')).toBe('unavailable')
    expect(await final(session, '!reply calm')).toBe('calm')
  })

  test('a sign-in that the endpoint refuses again is told, and not tried for minutes', async () => {
    const { CLAUDE_CODE_MAX_RETRIES: _, ...env } = bench.options().env
    const session = await opened(make({ env }), workspace.path)
    const { ended } = await collect(session.turn(inputOf('!error 401 authentication_error bad key'), never))
    expect(ended).toMatchObject({ ended: 'failed', because: 'signed-out' })
    expect(bench.mock.requests).toHaveLength(2)
    expect(await final(session, '!reply calm')).toBe('calm')
  })

  test('reads where its owner can without a question, but not what is private; what writes or runs elsewhere is asked for', async () => {
    const other = await temporaryFolder()
    writeFileSync(join(other.path, 'readme'), 'OUTSIDE-CANARY')
    const said = join(bench.home, 'owner', 'projects', 'other', 'conversation.jsonl')
    const signIn = join(bench.home, '.claude', '.credentials.json')
    for (const path of [said, signIn]) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, 'PRIVATE-CANARY')
    }
    const session = await opened(make(), workspace.path)
    const asked = async (message: string) => {
      const { events, ended } = await collect(session.turn(inputOf(message), never), async (event) => {
        if (event.kind === 'approval') await session.answer(event.approval, 'reject-once')
      })
      const operations = events.flatMap((event) => (event.kind === 'approval' ? [event.operation] : []))
      return { operations, final: ended.ended === 'completed' ? ended.final : '' }
    }
    const read = (path: string) => asked(`!use Read ${JSON.stringify({ file_path: path })}`)
    const outside = await read(join(other.path, 'readme'))
    expect(outside.final).toContain('OUTSIDE-CANARY')
    expect(outside.operations).toEqual([])
    for (const path of [said, signIn]) {
      expect((await read(path)).final).toMatch(/denied/u)
      expect((await asked(`!run cat ${path}`)).final).not.toContain('PRIVATE-CANARY')
    }
    const write = JSON.stringify({ file_path: join(other.path, 'new'), content: 'x' })
    expect((await asked(`!use Write ${write}`)).operations).toHaveLength(1)
    expect((await asked('!run npm --version')).operations).toEqual(['Bash\nnpm --version'])
    await other.remove()
  })

  test('what a rule refuses is noted apart from what was asked and refused', async () => {
    const session = await opened(make({ permissionMode: 'dontAsk' }), workspace.path)
    const { events } = await collect(session.turn(inputOf('!run sh -c "touch done"'), never))
    expect(events.filter(({ kind }) => kind === 'approval')).toEqual([])
    expect(events).toContainEqual({
      kind: 'refused-by-host',
      by: 'policy',
      rule: 'mode',
      tool: 'Bash',
      operation: 'Bash\nsh -c "touch done"',
    })
    expect(existsSync(join(workspace.path, 'done'))).toBe(false)
  })

  test('each command begins in the workspace, wherever the last one went', async () => {
    const session = await opened(make(), workspace.path)
    mkdirSync(join(workspace.path, 'below'))
    expect(await final(session, '!run cd below && pwd')).toBe(`ran: ${join(workspace.path, 'below')}`)
    expect(await final(session, '!run sh -c pwd')).toBe(`ran: ${workspace.path}`)
  })

  test('a refused operation is not carried out, and an allowed one is, once', async () => {
    const session = await opened(make(), workspace.path)
    const { events } = await collect(session.turn(inputOf('!ask touch refused'), never), async (event) => {
      if (event.kind === 'approval') await session.answer(event.approval, 'reject-once')
    })
    expect(events).toContainEqual(expect.objectContaining({ operation: "Bash\nsh -c 'touch refused'" }))
    expect(existsSync(join(workspace.path, 'refused'))).toBe(false)
    expect(await final(session, '!ask touch allowed')).toBe('Allowed: touch allowed')
    expect(existsSync(join(workspace.path, 'allowed'))).toBe(true)
    const again = await collect(session.turn(inputOf('!ask touch allowed'), never), async (event) => {
      if (event.kind === 'approval') await session.answer(event.approval, 'reject-once')
    })
    expect(again.events.filter(({ kind }) => kind === 'approval')).toHaveLength(1)
  })

  test('our tools are called without a question, with a token of this one process that its command line does not hold', async () => {
    const echo = await mcpEcho()
    let epoch = 0
    const tools = async (): Promise<ToolAccess> => ({ url: echo.url, token: `token-canary-${++epoch}` })
    const runtime = make()
    const open = async (resume: RuntimeSession['ref'] | null) => {
      const spec = { lane: 'lane-1' as LaneId, profile: OWNER_PROFILE, workspace: workspace.path, resume, tools }
      const opening = await runtime.open(spec, never)
      if (opening.outcome !== 'opened') throw new Error(opening.detail)
      return opening.session
    }
    const session = await open(null)
    const { events, ended } = await collect(session.turn(inputOf('!call echo {"word":"hello"}'), never))
    expect(events.filter(({ kind }) => kind === 'approval')).toEqual([])
    expect(ended).toMatchObject({ final: 'called: ECHO {"word":"hello"}' })
    const commandLines = bench.processes().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    expect(commandLines.join(' ')).toContain('--session-id')
    expect(commandLines.join(' ')).not.toContain('token-canary')
    await session.close()
    await collect((await open(session.ref)).turn(inputOf('!call echo {"word":"again"}'), never))
    expect(echo.calls.map(({ bearer }) => bearer)).toEqual(['token-canary-1', 'token-canary-2'])
    await echo.close()
  })

  test('one session has one writer, over all gateways on one folder', async () => {
    const [one, other] = [make(), make()]
    const session = await opened(one, workspace.path)
    expect(await final(session, '!turn')).toBe('This is turn 1 of this session.')
    const spec = { lane: 'lane-1' as LaneId, profile: OWNER_PROFILE, workspace: workspace.path, resume: session.ref }
    expect(await other.open(spec, never)).toMatchObject({
      outcome: 'unavailable',
      detail: 'another process writes in this session; it can be opened when that one has ended',
    })
    await session.close()
    const next = await opened(other, workspace.path, session.ref)
    expect(next.opened).toBe('resumed')
    expect(await final(next, '!turn')).toBe('This is turn 2 of this session.')
  })

  test('A18 what a killed gateway left running is ended before its session goes on, and a held one is not touched', async () => {
    const { logger: _, newId: __, clock: ___, ...options } = bench.options()
    const given = JSON.stringify({ options, workspace: workspace.path, messages: ['!reply kept', endless] })
    const program = fileURLToPath(new URL('../kit/claude-gateway-child.ts', import.meta.url))
    const gateway = spawn(process.execPath, ['--import', 'tsx', program, given], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [id] = (await once(gateway.stdout.setEncoding('utf8'), 'data')) as [string]
    await eventually(() => existsSync(join(workspace.path, 'running')), 20_000)
    const ref = { runtime: 'claude', id: id.trim() }
    const spec = { lane: 'lane-1' as LaneId, profile: OWNER_PROFILE, workspace: workspace.path, resume: ref }
    const runtime = make()
    expect(await runtime.open(spec, never)).toMatchObject({ outcome: 'unavailable' })
    expect(isGone(pidIn('running'))).toBe(false)
    gateway.kill('SIGKILL')
    await once(gateway, 'exit')
    const session = await opened(runtime, workspace.path, ref)
    expect(isGone(pidIn('running'))).toBe(true)
    expect(session.opened).toBe('resumed')
    expect(bench.processes()).toHaveLength(1)
    expect(await final(session, '!turn')).toBe('This is turn 3 of this session.')
  })

  test('a session that is full is left for a new one', async () => {
    const runtime = make()
    const session = await opened(runtime, workspace.path)
    await collect(session.turn(inputOf('!error 400 invalid_request_error prompt is too long'), never))
    const next = await opened(runtime, workspace.path, session.ref)
    expect(next.opened).toBe('new')
    expect(await final(next, '!turn')).toBe('This is turn 1 of this session.')
  })

  test('a session whose executor was asked to be quiet has no process; one that is not here is gone', async () => {
    const runtime = make()
    const session = await opened(runtime, workspace.path)
    await final(session, '!turn')
    expect(await runtime.quiesce?.(session.ref, 'lane-1' as LaneId)).toEqual({ executor: 'gone' })
    expect(bench.processes()).toEqual([])
    expect(await runtime.quiesce?.({ runtime: 'claude', id: 'of another' }, 'lane-1' as LaneId)).toEqual({
      executor: 'gone',
    })
  })

  test('ending the runtime ends sessions that are just being opened', async () => {
    const runtime = make()
    const opening = runtime.open(
      { lane: 'lane-1' as LaneId, profile: OWNER_PROFILE, workspace: workspace.path, resume: null },
      never,
    )
    expect(await runtime.end()).toEqual({ executor: 'gone' })
    expect(await opening).toMatchObject({ outcome: 'unavailable' })
    expect(bench.processes()).toEqual([])
  })
})
