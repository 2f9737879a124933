import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { OWNER_PROFILE } from '../../src/collab/audience.js'
import type { RuntimeSession, SessionRef, SessionSpec } from '../../src/collab/ports.js'
import type { LaneId } from '../../src/collab/refs.js'
import { must } from '../../src/lib/assert.js'
import { createCodexRuntime } from '../../src/runtime/codex/adapter.js'
import type { CodexOptions } from '../../src/runtime/codex/options.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { groupIsGone } from '../../src/runtime/process-group.js'
import { acceptance } from '../kit/acceptance.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { testTools, type TestTools } from '../kit/mcp-server.js'
import { collect, eventually, inputOf, never, opened, temporaryFolder } from '../kit/runtime-bench.js'

describe.skipIf(!hasCodex)('the process of the real codex', () => {
  let bench: CodexBench
  let workspace: Awaited<ReturnType<typeof temporaryFolder>>
  const runtimes: HostedRuntime[] = []
  beforeAll(async () => {
    bench = await codexBench()
  })
  afterAll(() => bench.close())
  beforeEach(async () => {
    workspace = await temporaryFolder()
  })
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) expect(await runtime.end()).toEqual({ executor: 'gone' })
    await workspace.remove()
  })

  const make = (more: Partial<CodexOptions> = {}): HostedRuntime => {
    const runtime = createCodexRuntime(bench.options(more))
    runtimes.push(runtime)
    return runtime
  }
  const pid = (): number => must(bench.pids().at(-1), 'a codex')
  const say = async (session: RuntimeSession, message: string) =>
    (await collect(session.turn(inputOf(message), never))).ended
  const openWith = (runtime: HostedRuntime, more: Partial<SessionSpec>) =>
    runtime.open(
      { lane: 'lane-1' as LaneId, profile: OWNER_PROFILE, workspace: workspace.path, resume: null, ...more },
      never,
    )

  describe('lives and dies', () => {
    acceptance(
      'A12',
      'killed in mid-turn it is told as exited, and the same thread goes on knowing what was said',
      async () => {
        const runtime = make()
        const session = await opened(runtime, workspace.path)
        await say(session, '!reply remember the heron')
        const { ended } = await collect(session.turn(inputOf('!think\n!delay 60s'), never), (event) => {
          if (event.kind === 'activity') process.kill(pid(), 'SIGKILL')
        })
        expect(ended).toMatchObject({ ended: 'failed', because: 'exited', detail: 'codex ended by SIGKILL' })
        const again = await opened(runtime, workspace.path, session.ref)
        expect(again).toMatchObject({ opened: 'resumed', ref: session.ref })
        expect(await say(again, '!turn')).toMatchObject({ final: 'This is turn 3 of this session.' })
        expect(bench.mock.requests.at(-1)?.messages.join()).toContain('remember the heron')
      },
    )

    test('an open session starts it again by itself when it died between turns', async () => {
      const session = await opened(make(), workspace.path)
      await say(session, '!reply one')
      const first = pid()
      process.kill(first, 'SIGKILL')
      await eventually(() => groupIsGone(first))
      expect(await say(session, '!turn')).toMatchObject({ final: 'This is turn 2 of this session.' })
    })

    test('idle sessions hold no processes, and each goes on where it was', async () => {
      const runtime = make({ idleMs: 50 })
      const before = bench.pids().length
      const sessions: RuntimeSession[] = []
      for (const _ of [0, 1, 2]) {
        const session = await opened(runtime, workspace.path)
        sessions.push(session)
        await say(session, '!reply one')
      }
      for (const one of bench.pids().slice(before)) await eventually(() => groupIsGone(one))
      expect(await say(must(sessions[1], 'a session'), '!turn')).toMatchObject({
        final: 'This is turn 2 of this session.',
      })
    })

    acceptance(
      'A18',
      'closed in mid-turn it is gone with its command, also one that runs outside the sandbox',
      async () => {
        const session = await opened(make({ sandbox: 'danger-full-access' }), workspace.path)
        const begun = join(workspace.path, 'begun')
        const turn = collect(
          session.turn(inputOf(`!run trap '' TERM HUP; echo $$ > ${begun}; while :; do sleep 1; done`), never),
        )
        const command = () => readFile(begun, 'utf8').then(Number, () => 0)
        await eventually(async () => (await command()) > 0)
        expect(await session.close()).toEqual({ executor: 'gone' })
        expect((await turn).ended.ended).toBe('interrupted')
        const stat = await readFile(`/proc/${await command()}/stat`, 'utf8').catch(() => ') Z')
        expect(stat).toMatch(/\) [ZX]/u)
      },
    )

    acceptance(
      'A18',
      'quiesced, its process is gone and nothing else can be reached; another gateway may go on',
      async () => {
        const runtime = make()
        const session = await opened(runtime, workspace.path)
        await say(session, '!reply one')
        const first = pid()
        expect(await runtime.quiesce?.(session.ref, 'lane-1' as LaneId)).toEqual({ executor: 'gone' })
        expect(await groupIsGone(first)).toBe(true)
        expect(await say(session, '!reply again')).toMatchObject({ ended: 'failed', because: 'exited' })
        expect(await runtime.quiesce?.(session.ref, 'lane-1' as LaneId)).toEqual({ executor: 'gone' })
        expect((await opened(make(), workspace.path, session.ref)).opened).toBe('resumed')
      },
    )

    test('a thread that never had a turn cannot be continued, and its session says that it is new', async () => {
      const runtime = make()
      const session = await opened(runtime, workspace.path)
      await session.close()
      const again = await opened(runtime, workspace.path, session.ref)
      expect(again.opened).toBe('new')
      expect(again.ref.id).not.toBe(session.ref.id)
    })

    test('two openings of one session at the same time are one process', async () => {
      const runtime = make()
      const first = await opened(runtime, workspace.path)
      await say(first, '!reply one')
      await first.close()
      const before = bench.pids().length
      await Promise.all([0, 1].map(() => opened(runtime, workspace.path, first.ref)))
      expect(bench.pids().length).toBe(before + 1)
    })

    test('a thread that another gateway writes is not written twice: waited for, then told', async () => {
      const session = await opened(make(), workspace.path)
      await say(session, '!reply one')
      const other = make({ writerWaitMs: 300 })
      expect(await openWith(other, { resume: session.ref })).toEqual({
        outcome: 'unavailable',
        because: 'unavailable',
        detail: 'another process still writes this codex thread',
      })
      await session.close()
      expect((await opened(other, workspace.path, session.ref)).opened).toBe('resumed')
    })

    test('a workspace that disappeared is told, and its session goes on when it is back', async () => {
      const session = await opened(make(), workspace.path)
      await say(session, '!reply one')
      await session.close()
      rmSync(workspace.path, { recursive: true })
      const runtime = make()
      expect(await openWith(runtime, { resume: session.ref })).toMatchObject({ outcome: 'unavailable' })
      mkdirSync(workspace.path)
      expect((await opened(runtime, workspace.path, session.ref)).opened).toBe('resumed')
    })
  })

  describe('says what it should not', () => {
    /** The turn waits until `act` is over; then it would be answered. */
    const during = async (act: () => Promise<void>) => {
      const session = await opened(make(), workspace.path)
      const go = join(workspace.path, 'go')
      const waiting = inputOf(`!run until [ -e ${go} ]; do sleep 0.02; done\n!reply fine`)
      return collect(session.turn(waiting, never), async (event) => {
        if (event.kind !== 'started') return
        await act()
        writeFileSync(go, '')
      })
    }
    /** Nothing but a failure ends the turn. */
    const failing = async (line: string) => {
      const session = await opened(make(), workspace.path)
      return collect(session.turn(inputOf('!think\n!delay 60s'), never), (event) => {
        if (event.kind === 'activity') void bench.inject(line)
      })
    }

    test('reports of kinds that nobody knows, and answers that nobody waits for, change nothing', async () => {
      const { ended } = await during(() =>
        bench.inject(
          '{"method":"of/next/year","params":{"threadId":7}}\n{"method":"warning"}\n{"id":4711,"result":null}\n\n',
        ),
      )
      expect(ended).toMatchObject({ ended: 'completed', final: expect.stringContaining('fine') })
    })

    test.each([
      { what: 'half a message', because: 'garbage', line: () => '{"method":"turn/start\n' },
      { what: 'a list', because: 'garbage', line: () => '[1,2,3]\n' },
      {
        what: 'an answer of 10 MB',
        because: 'too-large',
        line: () => `{"id":4711,"result":"${'x'.repeat(10_000_000)}"}\n`,
      },
    ])('$what fails the turn as $because, and nothing of it is left', async ({ line, because }) => {
      const { ended } = await failing(line())
      expect(ended).toMatchObject({ ended: 'failed', because })
      await eventually(() => groupIsGone(pid()))
    })

    test('a report of 10 MB about a command is left out, and the turn goes on', async () => {
      const report = {
        method: 'item/completed',
        params: { item: { type: 'commandExecution', out: 'x'.repeat(10_000_000) } },
      }
      const { ended } = await during(() => bench.inject(`${JSON.stringify(report)}\n`))
      expect(ended).toMatchObject({ ended: 'completed' })
    })

    test('what it asks and nobody knows is refused, and the turn goes on', async () => {
      const { ended } = await during(() => bench.inject('{"method":"item/tool/call","id":99,"params":{}}\n'))
      expect(ended).toMatchObject({ ended: 'completed' })
    })
  })

  describe('tools of the gateway', () => {
    let tools: TestTools
    let epoch = 0
    beforeAll(async () => {
      tools = await testTools((bearer) => bearer.startsWith('epoch-'))
    })
    afterAll(() => tools.close())
    const access = async () => ({ url: tools.url, token: `epoch-${++epoch}` })

    acceptance('A18', 'are called with the token of this process, and a new process gets a new one', async () => {
      epoch = 0
      const runtime = make()
      const first = await openWith(runtime, { tools: access })
      if (first.outcome !== 'opened') throw new Error(first.detail)
      const { session } = first
      expect(await say(session, '!tool note')).toMatchObject({ final: expect.stringContaining('noted for epoch-1') })
      expect(await say(session, '!tool note')).toMatchObject({ final: expect.stringContaining('noted for epoch-1') })
      process.kill(pid(), 'SIGKILL')
      await eventually(() => groupIsGone(pid()))
      expect(await say(session, '!tool note')).toMatchObject({ final: expect.stringContaining('noted for epoch-2') })
      expect(tools.bearers.slice(-3)).toEqual(['epoch-1', 'epoch-1', 'epoch-2'])
      expect(bench.mock.requests.at(-1)?.tools).toContain('mcp__lark_manager.note')
    })

    test('without them no session is opened', async () => {
      const runtime = make()
      const closed = async () => ({ url: 'http://127.0.0.1:9/mcp', token: 'x' })
      expect(await openWith(runtime, { tools: closed })).toMatchObject({
        outcome: 'unavailable',
        because: 'unavailable',
      })
      const failing = () => Promise.reject(new Error('no store'))
      expect(await openWith(runtime, { tools: failing })).toMatchObject({
        outcome: 'unavailable',
        detail: 'the tools of the agent could not be prepared',
      })
    })
  })

  describe('settings that an agent writes into its own workspace', () => {
    test.each(['workspace-write', 'danger-full-access'] as const)(
      'start nothing at the next start (%s)',
      async (sandbox) => {
        const ran = join(bench.root, `ran-${sandbox}`)
        const settings = `[mcp_servers.own]\ncommand = "/usr/bin/touch"\nargs = ["${ran}"]\n`
        const write = `mkdir -p .codex; echo ${Buffer.from(settings).toString('base64')} | base64 -d > .codex/config.toml; cat .codex/config.toml`
        const first = await opened(make({ sandbox }), workspace.path)
        const { ended } = await collect(first.turn(inputOf(`!run ${write}`), never))
        expect(ended.ended).toBe('completed')
        if (sandbox === 'danger-full-access') expect(JSON.stringify(ended)).toContain('mcp_servers.own')
        await first.close()
        // A new thread: there codex was seen to read them.
        const next = await opened(make({ sandbox }), workspace.path)
        await say(next, '!run sleep 0.3')
        expect(await lstat(ran).catch(() => null)).toBeNull()
      },
    )
  })

  describe('the private home', () => {
    const isLink = async (path: string) => (await lstat(path).catch(() => null))?.isSymbolicLink() ?? false

    test('holds the owner’s sign-in by reference, never a copy', async () => {
      const owners = join(bench.root, 'owner', '.codex')
      mkdirSync(owners, { recursive: true })
      writeFileSync(join(owners, 'auth.json'), '{"canary":"owners-sign-in"}')
      const homes = join(bench.root, 'homes-2')
      const runtime = make({ homes, env: { PATH: process.env['PATH'] ?? '', HOME: join(bench.root, 'owner') } })
      expect(await runtime.available()).toEqual({ available: true })
      await opened(runtime, workspace.path)
      const link = join(homes, 'owner', 'auth.json')
      expect(await isLink(link)).toBe(true)
      expect(await readlink(link)).toBe(join(owners, 'auth.json'))
      expect(((await lstat(join(homes, 'owner'))).mode & 0o777).toString(8)).toBe('700')
      // A sign-in that moved is followed.
      const moved = make({ homes, env: { PATH: process.env['PATH'] ?? '', CODEX_HOME: join(bench.root, 'moved') } })
      mkdirSync(join(bench.root, 'moved'))
      writeFileSync(join(bench.root, 'moved', 'auth.json'), '{}')
      await opened(moved, workspace.path)
      expect(await readlink(link)).toBe(join(bench.root, 'moved', 'auth.json'))
      expect(await readFile(join(owners, 'auth.json'), 'utf8')).toBe('{"canary":"owners-sign-in"}')
    })

    test('without a sign-in codex cannot be used, and the mend is named', async () => {
      const runtime = make({ homes: join(bench.root, 'homes-3') })
      expect(await runtime.available()).toMatchObject({
        available: false,
        detail: expect.stringMatching(/^codex is not signed in; run `codex login`/),
      })
      expect(await runtime.checks?.()).toMatchObject([
        { name: 'codex', state: 'ok' },
        { name: 'codex version', state: 'ok' },
        { name: 'codex sandbox', state: 'ok' },
        { name: 'codex restricted sessions', state: 'warning' },
        { name: 'codex sign-in', state: 'failed' },
      ])
    })

    test('says on whose account and with which model it answers, and names a key without its value', async () => {
      expect(await make({ model: '', effort: '' }).binding?.()).toEqual({
        executorKind: 'managed',
        model: 'gpt-6-astra',
        effort: 'high',
        credential: 'MOCK_KEY',
      })
      const homes = join(bench.root, 'homes-2')
      const signedIn = make({ homes, env: { PATH: '', HOME: join(bench.root, 'owner') } })
      expect(await signedIn.binding?.()).toMatchObject({ executorKind: 'individual', credential: null })
      expect(await make({ homes: join(bench.root, 'homes-3') }).binding?.()).toMatchObject({ executorKind: null })
    })

    test('is the only home that codex uses', async () => {
      const runtime = make()
      const session: { ref: SessionRef } = await opened(runtime, workspace.path)
      expect(session.ref.runtime).toBe('codex')
      expect(await lstat(join(bench.root, '.codex')).catch(() => null)).toBeNull()
    })
  })
})
