import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TurnEvent } from '../../src/collab/ports.js'
import { must } from '../../src/lib/assert.js'
import { createCodexRuntime } from '../../src/runtime/codex/adapter.js'
import type { CodexOptions } from '../../src/runtime/codex/options.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { acceptance } from '../kit/acceptance.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { scriptedModel } from '../kit/codex-script.js'
import { collect, eventually, inputOf, never, opened, temporaryFolder } from '../kit/runtime-bench.js'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe.skipIf(!hasCodex)('a turn of the real codex', () => {
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
  const open = (more: Partial<CodexOptions> = {}) => opened(make(more), workspace.path)
  const asked = () => must(bench.mock.requests.at(-1), 'a request')
  const written = (name: string): boolean => existsSync(join(workspace.path, name))

  test('says what codex says is in force; the default is sent where nothing else is set', async () => {
    const session = await open({ model: '' })
    expect(session.effective).toMatchObject({ runtime: 'codex', model: 'gpt-6-astra', effort: 'high', realModel: true })
    expect(session.effective.version).toMatch(/^\d+\.\d+\.\d+$/)
    await collect(session.turn(inputOf('!reply hi'), never))
    expect(asked()).toMatchObject({ model: 'gpt-6-astra', effort: 'high' })
  })

  acceptance(
    'A12',
    'a change of the model resumes the same thread, and what is in force shows before and after',
    async () => {
      const first = await open({ model: 'other-model', effort: 'low' })
      await collect(first.turn(inputOf('!reply hi'), never))
      expect(asked()).toMatchObject({ model: 'other-model', effort: 'low' })
      await first.close()
      const again = await opened(make({ model: 'third-model', effort: 'medium' }), workspace.path, first.ref)
      expect(first.effective).toMatchObject({ model: 'other-model', effort: 'low' })
      expect(again).toMatchObject({
        opened: 'resumed',
        ref: first.ref,
        effective: { model: 'third-model', effort: 'medium' },
      })
      await collect(again.turn(inputOf('!reply hi'), never))
      expect(asked()).toMatchObject({ model: 'third-model', effort: 'medium' })
    },
  )

  test('the answer is the last message; what it said on the way is none', async () => {
    const own = await codexBench(() => [
      { say: 'looking', phase: 'commentary' },
      { say: 'the answer', phase: 'final_answer' },
    ])
    const runtime = createCodexRuntime(own.options())
    try {
      const session = await opened(runtime, workspace.path)
      expect((await collect(session.turn(inputOf('x'), never))).ended).toMatchObject({ final: 'the answer' })
    } finally {
      await runtime.end()
      await own.close()
    }
  })

  test('a picture is shown to the model, and any other file is only named', async () => {
    const [picture, notes] = [join(workspace.path, 'a.png'), join(workspace.path, 'b.txt')]
    await writeFile(picture, png)
    await writeFile(notes, 'x')
    const session = await open()
    const attachments = [
      { path: picture, fileName: 'a.png', mediaType: 'image/png' },
      { path: notes, fileName: 'b.txt', mediaType: 'text/plain' },
    ]
    await collect(session.turn(inputOf('!reply seen', attachments), never))
    const images = JSON.stringify(asked().body).match(/"type":"input_image"/gu)
    expect(images).toHaveLength(1)
  })

  acceptance('A1', 'commands of codex see no key and nothing of the gateway', async () => {
    const session = await open()
    const { ended } = await collect(session.turn(inputOf('!run env'), never))
    expect(ended).toMatchObject({ ended: 'completed', final: expect.stringContaining('PATH=') })
    expect(JSON.stringify(ended)).not.toMatch(/mock-key-canary|MOCK_KEY|VITEST|NODE_/)
    const others = await collect(session.turn(inputOf('!run grep -al canary /proc/[0-9]*/environ; echo looked'), never))
    expect(others.ended).toMatchObject({ final: expect.stringContaining('looked') })
    expect(JSON.stringify(others.ended)).not.toContain('/environ')
    expect(asked().headers.authorization).toBe('Bearer mock-key-canary')
    const pid = must(bench.pids().at(-1), 'codex')
    const names = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .map((line) => line.split('=')[0])
    expect(names.filter((name) => !['', 'PWD'].includes(name ?? '')).toSorted()).toEqual([
      'CODEX_HOME',
      'HOME',
      'MOCK_KEY',
      'PATH',
    ])
  })

  test.each([
    ['401', 'signed-out'],
    ['403', 'signed-out'],
    ['429', 'rate-limit'],
    ['500', 'unavailable'],
    ['400', 'unavailable'],
    ['drop', 'unavailable'],
    ['context_length_exceeded', 'context-full'],
    ['insufficient_quota', 'rate-limit'],
    ['rate_limit_exceeded', 'rate-limit'],
    ['cyber_policy', 'refused-by-provider'],
    ['misalignment_policy_violation', 'refused-by-provider'],
  ])(
    'a provider that answers %s ends the turn as %s, without its words, and the session goes on',
    async (how, because) => {
      const session = await open()
      const { ended } = await collect(session.turn(inputOf(`!fail ${how}`), never))
      expect(ended).toMatchObject({ ended: 'failed', because })
      expect(JSON.stringify(ended)).not.toContain('the mock')
      const next = await collect(session.turn(inputOf('!reply still here'), never))
      expect(next.ended).toMatchObject({ final: 'still here' })
    },
  )

  test('a command that prints shows that its turn lives, also when the clock is set back', async () => {
    let hours = 100
    const session = await open({ clock: { now: () => hours-- * 3_600_000 } })
    const { events } = await collect(session.turn(inputOf('!run for i in 1 2 3 4; do echo $i; sleep 0.1; done'), never))
    const beats = events.filter((event) => event.kind === 'activity' && event.activity === 'tool')
    expect(beats.length).toBeGreaterThan(2)
  })

  describe('a thread that is full', () => {
    const fullUntil = async (compacts: boolean) => {
      let full = true
      const script = scriptedModel({ kill() {}, garble() {} })
      const own = await codexBench((request) => {
        const compaction = request.tools.length === 0
        if (compaction && compacts) full = false
        if (compaction) return compacts ? [{ say: 'SUMMARY: the heron' }] : [{ failed: 'context_length_exceeded' }]
        const over = full && request.messages.length > 1
        return over ? [{ failed: 'context_length_exceeded' }] : script(request)
      })
      const runtime = createCodexRuntime(own.options())
      const session = await opened(runtime, workspace.path)
      await collect(session.turn(inputOf('!reply one'), never))
      return { own, runtime, session, ...(await collect(session.turn(inputOf('!reply two'), never))) }
    }

    test('is shortened once by codex, and the turn is answered in it', async () => {
      const { own, runtime, ended, events, session } = await fullUntil(true)
      try {
        expect(ended).toMatchObject({ ended: 'completed', final: 'two' })
        expect(events.filter(({ kind }) => kind === 'started')).toHaveLength(1)
        expect(JSON.stringify(own.mock.requests.at(-1)?.body)).toContain('SUMMARY: the heron')
        expect((await opened(runtime, workspace.path, session.ref)).opened).toBe('resumed')
      } finally {
        await runtime.end()
        await own.close()
      }
    })

    test('and cannot be shortened fails its turn as context-full, and the next one begins in a new thread', async () => {
      const { own, runtime, ended, session } = await fullUntil(false)
      try {
        expect(ended).toMatchObject({ ended: 'failed', because: 'context-full' })
        const next = await opened(runtime, workspace.path, session.ref)
        expect(next.opened).toBe('new')
        expect((await collect(next.turn(inputOf('!reply fresh'), never))).ended).toMatchObject({ final: 'fresh' })
        expect((await opened(runtime, workspace.path, session.ref)).opened).toBe('new')
      } finally {
        await runtime.end()
        await own.close()
      }
    })
  })

  describe('what it has of an input', () => {
    acceptance('A17', 'that was answered, cut off or never taken is told apart by our own id', async () => {
      const session = await open()
      const lookUp = (turn: ReturnType<typeof inputOf>['turn'], of = session) =>
        must(of.lookUp, 'a look').call(of, turn)
      const [answered, cut] = [inputOf('!reply the heron'), inputOf('!run touch begun; exec sleep 300')]
      await collect(session.turn(answered, never))
      expect(await lookUp(answered.turn)).toMatchObject({
        known: 'answered',
        events: [{ kind: 'started' }, { kind: 'ended', ended: 'completed', final: 'the heron' }],
      })
      const running = collect(session.turn(cut, never))
      await eventually(() => written('begun'))
      process.kill(must(bench.pids().at(-1), 'codex'), 'SIGKILL')
      expect((await running).ended).toMatchObject({ ended: 'failed', because: 'exited' })
      const again = await opened(make(), workspace.path, session.ref)
      expect(again.opened).toBe('resumed')
      expect(await lookUp(answered.turn, again)).toMatchObject({ known: 'answered' })
      expect(await lookUp(cut.turn, again)).toEqual({ known: 'unanswered' })
      expect(await lookUp(inputOf('x').turn, again)).toEqual({ known: 'absent' })
    })
  })

  describe('stopping', () => {
    acceptance('A23', 'stop ends the turn and its running command, in the process that goes on', async () => {
      const session = await open()
      const input = inputOf('!run touch begun; exec sleep 300')
      const before = bench.pids().length
      const turn = collect(session.turn(input, never))
      await eventually(() => written('begun'))
      const commands = commandsOf(must(bench.pids().at(-1), 'codex'))
      expect(commands.length).toBeGreaterThan(0)
      expect(await session.stop(input.turn)).toBe('stopped')
      expect((await turn).ended.ended).toBe('interrupted')
      expect(commands.filter(alive)).toEqual([])
      const next = await collect(session.turn(inputOf('!reply on'), never))
      expect(next.ended).toMatchObject({ final: 'on' })
      expect(bench.pids().length).toBe(before)
    })

    acceptance('A23', 'a stop never hits a later turn', async () => {
      const session = await open()
      const first = inputOf('!reply one')
      await collect(session.turn(first, never))
      const late = inputOf('!run sleep 0.3\n!reply two')
      let outcome: Promise<string> | undefined
      const { ended } = await collect(session.turn(late, never), (event) => {
        if (event.kind === 'activity') outcome ??= session.stop(first.turn)
      })
      expect(await outcome).toBe('already-ended')
      expect(ended).toMatchObject({ ended: 'completed', final: expect.stringContaining('two') })
    })

    test('what a turn leaves running ends with it', async () => {
      const session = await open()
      const { ended, events } = await collect(session.turn(inputOf('!leave sleep 300\n!reply done'), never))
      expect(ended).toMatchObject({ ended: 'completed' })
      const left = events.filter(({ kind }) => kind === 'ended-with-turn')
      expect(left).toEqual([{ kind: 'ended-with-turn', tool: 'exec_command', command: 'sleep 300' }])
      expect(commandsOf(must(bench.pids().at(-1), 'codex'))).toEqual([])
    })
  })

  describe('steering', () => {
    acceptance('A23', 'words reach the very turn that runs, and no other', async () => {
      const session = await open()
      const input = inputOf('!run sleep 0.5\n!reply first')
      const more = inputOf('!reply with the second')
      let taken: Promise<string> | undefined
      const { ended, events } = await collect(session.turn(input, never), (event) => {
        if (event.kind === 'activity') taken ??= session.steer(input.turn, more)
      })
      expect(await taken).toBe('taken')
      expect(ended).toMatchObject({ ended: 'completed', final: 'with the second' })
      expect(events.filter(({ kind }) => kind === 'started')).toHaveLength(1)
      expect(asked().messages.slice(-2)).toEqual([input.text, more.text])
      expect(await session.steer(input.turn, more)).toBe('too-late')
    })

    test('words for another turn are refused, and the turn that runs does not see them', async () => {
      const session = await open()
      const input = inputOf('!run sleep 0.3\n!reply mine')
      let taken: Promise<string> | undefined
      await collect(session.turn(input, never), (event) => {
        if (event.kind === 'activity') taken ??= session.steer(inputOf('x').turn, inputOf('!reply theirs'))
      })
      expect(await taken).toBe('too-late')
      expect(asked().messages.join()).not.toContain('theirs')
    })

    test('a second turn while one runs is a fault of the caller, and never a word into the first', async () => {
      const session = await open()
      const input = inputOf('!run sleep 0.3\n!reply one')
      const { ended } = await collect(session.turn(input, never), (event) => {
        if (event.kind === 'started') expect(() => session.turn(inputOf('!reply two'), never)).toThrow('one turn')
      })
      expect(ended).toMatchObject({ final: expect.stringContaining('one') })
      expect(asked().messages.at(-1)).toBe(input.text)
    })
  })

  describe('asking', () => {
    test('a patch outside of the workspace names its file; refused, nothing is written', async () => {
      const session = await open()
      const target = join(bench.root, 'outside.txt')
      const { operation, ended } = await refusing(session, `!patch ${target}`)
      expect(operation).toContain(target)
      expect(ended).toMatchObject({ ended: 'completed' })
      expect(() => readFileSync(target)).toThrow('ENOENT')
    })

    test('what cannot be seen in a command is spelled out', async () => {
      const session = await open()
      const { operation } = await refusing(session, '!ask echo safe\u202egnp.exe')
      expect(operation).toContain('\\u{202e}')
    })

    async function refusing(session: Awaited<ReturnType<typeof open>>, message: string) {
      const { events, ended } = await collect(session.turn(inputOf(message), never), async (event) => {
        if (event.kind === 'approval') await session.answer(event.approval, 'reject-once')
      })
      const ask = events.find((event): event is Extract<TurnEvent, { kind: 'approval' }> => event.kind === 'approval')
      return { operation: must(ask, 'an approval').operation, ended }
    }
  })
})

/** One that has ended and was not collected yet can not act. */
function alive(pid: number): boolean {
  try {
    return !/\) [ZX]/u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Every process below this one but the helper of the bench. */
function commandsOf(pid: number): readonly number[] {
  const rows = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/u))
  const below = (parent: number): readonly number[] =>
    rows.flatMap(([id, of, name]) =>
      Number(of) === parent && name !== 'cat' && name !== 'ps' ? [Number(id), ...below(Number(id))] : [],
    )
  return below(pid)
}
