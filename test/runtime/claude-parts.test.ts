import { hostname } from 'node:os'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { TurnEvent } from '../../src/collab/ports.js'
import type { TurnId } from '../../src/collab/refs.js'
import { silentLogger } from '../../src/lib/log.js'
import { interrupted } from '../../src/runtime/event-queue.js'
import type { ClaudeDeps } from '../../src/runtime/claude/options.js'
import { ClaudeTurn } from '../../src/runtime/claude/turn.js'
import { troubleOf } from '../../src/runtime/claude/failure.js'
import { isUuid, messageIdOf } from '../../src/runtime/claude/input.js'
import { watchedLines } from '../../src/runtime/claude/lines.js'
import { readMessage } from '../../src/runtime/claude/messages.js'
import { WriterLock } from '../../src/runtime/claude/writer-lock.js'
import { until } from '../kit/until.js'
import { endMarked, MARK, markedProcesses } from '../../src/runtime/marked.js'
import { eventually, temporaryFolder } from '../kit/runtime-bench.js'

const SERVER = 'lark-manager'

describe('what the program says', () => {
  test.each([
    [{ type: 'of_next_year' }, 'other'],
    [{ type: 'system', subtype: 'of_next_year' }, 'other'],
    [{ type: 'stream_event', event: { type: 'content_block_start', content_block: { type: 'thinking' } } }, 'thinking'],
    [{ type: 'stream_event', event: { type: 'content_block_start', content_block: { type: 'tool_use' } } }, 'tool'],
    [{ type: 'stream_event', event: { type: 'content_block_start', content_block: { type: 'new' } } }, 'other'],
    [{ type: 'stream_event', event: 7 }, 'other'],
    [{ type: 'assistant', message: { content: 'not a list' }, parent_tool_use_id: null }, 'other'],
    [
      { type: 'assistant', message: { content: [{ type: 'text', text: 'of a helper' }] }, parent_tool_use_id: 't' },
      'tool',
    ],
    [{ type: 'user', message: {}, uuid: 'u' }, 'other'],
    [null, 'other'],
    ['text', 'other'],
    [[], 'other'],
  ])('%j is %s', (message, kind) => {
    expect(readMessage(message, SERVER).kind).toBe(kind)
  })

  test('a message of ours was taken up when it is repeated, or said to have begun', () => {
    expect(readMessage({ type: 'user', isReplay: true, uuid: 'u-1' }, SERVER)).toEqual({
      kind: 'taken',
      message: 'u-1',
    })
    const began = { type: 'command_lifecycle', command_uuid: 'u-1', state: 'started' }
    expect(readMessage(began, SERVER)).toEqual({ kind: 'taken', message: 'u-1' })
    expect(readMessage({ ...began, state: 'queued' }, SERVER).kind).toBe('other')
  })

  test('whether our tools were reached is told for our server alone', () => {
    const init = (mcp_servers: unknown) => readMessage({ type: 'system', subtype: 'init', mcp_servers }, SERVER)
    expect(init([{ name: SERVER, status: 'failed' }])).toMatchObject({ toolsReached: false })
    expect(init([{ name: SERVER, status: 'connected' }])).toMatchObject({ toolsReached: true })
    expect(init([{ name: 'other', status: 'failed' }])).toMatchObject({ toolsReached: null })
    expect(init('none')).toMatchObject({ toolsReached: null, model: null, version: null })
  })

  test('is_error decides, whatever the subtype says', () => {
    const said = readMessage(
      { type: 'result', subtype: 'success', is_error: true, api_error_status: 401, result: 'x' },
      SERVER,
    )
    expect(said).toEqual({
      kind: 'result',
      result: { isError: true, text: 'x', terminal: 'success', status: 401, tokens: null },
    })
  })
})

describe('a failure', () => {
  const result = { isError: true, text: '', terminal: 'api_error', status: null, tokens: null }

  test.each([
    [{ ...result, status: 401 }, null, 'signed-out'],
    [result, 'authentication_failed', 'signed-out'],
    [{ ...result, status: 429 }, null, 'rate-limit'],
    [result, 'rate_limit', 'rate-limit'],
    [result, 'billing_error', 'rate-limit'],
    [{ ...result, status: 400, text: 'Prompt is too long' }, 'invalid_request', 'context-full'],
    [{ ...result, terminal: 'max_turns' }, null, 'unavailable'],
    [{ ...result, status: 500 }, 'server_error', 'unavailable'],
  ] as const)('%j after %s is %s', (of, fault, because) => {
    expect(troubleOf(of, fault).because).toBe(because)
  })

  test('its detail holds none of the provider’s words', () => {
    const { detail } = troubleOf({ ...result, status: 400, text: 'BODY-CANARY was refused' }, 'invalid_request')
    expect(detail).toBe('the model provider failed (400)')
  })
})

describe('a turn', () => {
  const begun = () => {
    let now = 0
    const deps = { logger: silentLogger, newId: () => 'approval-1', clock: { now: () => now } } as unknown as ClaudeDeps
    const input = { turn: 'turn-1' as TurnId, text: 'x', attachments: [] }
    const turn = new ClaudeTurn(input, 'message-1', '/work', deps, () => {})
    const events: TurnEvent[] = []
    const read = (async () => {
      for await (const event of turn.events) events.push(event)
    })()
    return { turn, events, read, pass: (ms: number) => void (now += ms) }
  }
  const of = (events: readonly TurnEvent[]) => events.map((one) => (one.kind === 'activity' ? one.activity : one.kind))

  test('shows what it does once, and again when that goes on for long', async () => {
    const { turn, events, read, pass } = begun()
    turn.said({ kind: 'tool', quiet: false })
    turn.said({ kind: 'tool', quiet: false })
    pass(10_000)
    turn.said({ kind: 'other' })
    pass(20_000)
    turn.said({ kind: 'other' })
    turn.said({ kind: 'other' })
    turn.end(interrupted)
    await read
    expect(of(events)).toEqual(['started', 'tool', 'tool', 'ended'])
  })

  test('a question that the program takes back can not be answered any more', async () => {
    const { turn, events, read } = begun()
    const abort = new AbortController()
    const answer = turn.permission('Bash', { command: 'rm -r x' }, abort.signal)
    await until(() => events.some((one) => one.kind === 'approval'), 'the question')
    abort.abort()
    expect(await answer).toMatchObject({ behavior: 'deny', interrupt: true })
    turn.answer('approval-1', 'allow-once')
    turn.end(interrupted)
    await read
    // Its shell does not say in which folder it is: no permission for a folder covers it.
    const use = [{ effect: 'execute', resource: { kind: 'path', host: hostname(), path: null } }]
    expect(events).toContainEqual({ kind: 'approval', approval: 'approval-1', operation: 'Bash\nrm -r x', use })
  })

  test('goes on after its result while words wait, and takes no more after its end', async () => {
    const { turn, read } = begun()
    const said = (text: string) =>
      turn.said({ kind: 'result', result: { isError: false, text, terminal: 'completed', status: null, tokens: 7 } })
    expect(turn.expect('message-2')).toBe(true)
    said('one')
    turn.said({ kind: 'taken', message: 'message-2' })
    said('two')
    expect(await turn.concluded).toMatchObject({ final: 'one\n\ntwo' })
    expect(turn.expect('message-3')).toBe(false)
    turn.end(await turn.concluded)
    await read
  })
})

describe('the output of the program', () => {
  const heard = async (...chunks: readonly string[]) => {
    const output = new PassThrough()
    const troubles: string[] = []
    let passed = ''
    const watched = watchedLines(output, ({ because }) => void troubles.push(because))
    watched.on('data', (chunk: Buffer) => (passed += chunk.toString()))
    const ended = new Promise((resolve) => watched.once('end', resolve))
    for (const chunk of chunks) output.write(chunk)
    output.end()
    await ended
    return { troubles, passed }
  }

  test('passes as it is, in whatever pieces it comes', async () => {
    const lines = '{"type":"a"}\n  {"type":"b"}\n\n{"type":"c"}\n'
    expect(await heard(...lines)).toEqual({ troubles: [], passed: lines })
  })

  test('may begin with a banner, and must not go on with one', async () => {
    expect((await heard('hello\n{"a":1}\n')).troubles).toEqual([])
    expect((await heard('{"a":1}\nSegmentation fault\n{"b":2}\n')).troubles).toEqual(['garbage'])
  })

  test('that never speaks the protocol is garbage after some lines', async () => {
    expect((await heard('no\n'.repeat(50))).troubles).toEqual([])
    expect((await heard('no\n'.repeat(51))).troubles).toEqual(['garbage'])
  })

  test('with a line over the limit is too large, told once', async () => {
    const chunk = 'x'.repeat(1024 * 1024)
    expect((await heard('{', ...Array<string>(50).fill(chunk))).troubles).toEqual(['too-large'])
  })
})

describe('the id of a message', () => {
  test('is the turn’s own, or follows from it', () => {
    const turn = randomUUID()
    expect(messageIdOf(turn)).toBe(turn)
    expect(isUuid(messageIdOf('turn-1'))).toBe(true)
    expect(messageIdOf('turn-1')).toBe(messageIdOf('turn-1'))
  })
})

describe('the lock of a session', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => folder.remove())

  const nothingLeft = async (): Promise<boolean> => true
  const take = (session = 's', endLeftover: (mark: string) => Promise<boolean> = nothingLeft) =>
    WriterLock.take(folder.path, session, randomUUID(), endLeftover)
  const lockOf = async (session = 's'): Promise<WriterLock> => {
    const taken = await take(session)
    return must(taken.taken ? taken.lock : undefined, 'the lock')
  }
  /** As a gateway leaves it that is killed. */
  const leave = (session: string, number: number, entry: unknown) =>
    writeFile(join(folder.path, `${session}.${number}.lock`), JSON.stringify(entry))
  const dead = { state: 'held', gateway: { pid: 2 ** 22 - 1, started: '1' }, mark: 'mark-of-the-dead' }

  test('is held by one, and free when given back', async () => {
    const lock = await lockOf()
    expect(await take()).toEqual({ taken: false, because: 'held' })
    await lock.release()
    expect((await take()).taken).toBe(true)
  })

  test('of another session is another lock', async () => {
    await lockOf('s')
    expect((await take('s.1')).taken).toBe(true)
    expect((await take('t')).taken).toBe(true)
  })

  test('of a gateway that died passes on when what it left is gone, and only then', async () => {
    await leave('s', 3, dead)
    const asked: string[] = []
    const stays = async (mark: string): Promise<boolean> => asked.push(mark) < 0
    expect(await take('s', stays)).toEqual({ taken: false, because: 'leftover' })
    expect(asked).toEqual(['mark-of-the-dead'])
    expect((await take('s')).taken).toBe(true)
    expect(await readdir(folder.path)).toEqual(['s.4.lock'])
  })

  test('of a process whose number another one has now is not held', async () => {
    await leave('s', 1, { ...dead, gateway: { pid: process.pid, started: '1' } })
    expect((await take()).taken).toBe(true)
  })

  test.each(['', '{"state":"held"', 'null', '[]'])('whose file was cut (%j) is free', async (text) => {
    await writeFile(join(folder.path, 's.7.lock'), text)
    expect((await take()).taken).toBe(true)
  })

  test('goes to exactly one of many who take it at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const session = `s${round}`
      if (round % 2 === 1) await leave(session, 1, dead)
      const outcomes = await Promise.all(Array.from({ length: 12 }, () => take(session)))
      expect(outcomes.filter(({ taken }) => taken)).toHaveLength(1)
    }
  })
})

describe('the mark of an executor', () => {
  test('finds and ends what left its process group, deaf or not, and nothing else', async () => {
    const mark = randomUUID()
    const begin = (script: string, value: string) =>
      spawn('/bin/sh', ['-c', script], {
        env: { PATH: '/usr/bin:/bin', [MARK]: value },
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    const deaf = begin('trap "" TERM; echo ready; while :; do sleep 600; done', mark)
    const other = begin('echo ready; exec tail -f /dev/null', `${mark}-other`)
    for (const child of [deaf, other]) await new Promise((resolve) => child.stdout.once('data', resolve))
    expect(await markedProcesses(mark, null)).toContain(deaf.pid)
    expect(await markedProcesses(mark, must(deaf.pid, 'pid'))).toEqual([])
    const { gone, count } = await endMarked(mark, null, 100)
    expect(gone).toBe(true)
    expect(count).toBeGreaterThanOrEqual(1)
    await eventually(() => deaf.signalCode === 'SIGKILL')
    expect(other.exitCode).toBeNull()
    expect(await endMarked(`${mark}-other`, null, 1000)).toEqual({ gone: true, count: 1 })
  })

  test('of nobody is gone at once', async () => {
    expect(await endMarked(randomUUID(), null, 1000)).toEqual({ gone: true, count: 0 })
  })
})
