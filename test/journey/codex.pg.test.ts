import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'

describe.skipIf(!hasCodex)('the manager on the real codex', () => {
  let bench: CodexBench
  let p: Platform
  let gateway: GatewayProcess
  beforeAll(async () => {
    bench = await codexBench()
    p = await openPlatform({
      env: { ...bench.gatewayEnv, TURN_TRIES: '1', PROGRESS_AFTER_MS: '0', HOLD_MS: '4000', APPROVAL_WAIT_MS: '0' },
    })
    gateway = await startProcess(p)
  })
  afterAll(async () => {
    await gateway?.stop()
    await p?.close()
    await bench?.close()
  })

  const say = (text: string) => p.served.sandbox.world.say({ chatId: p.ids.dm, from: p.ids.alice, text })
  const answersTo = (id: string) => p.answers(p.ids.dm).filter((message) => message.parentId === id)
  const answer = async (text: string, marks: readonly string[] = []): Promise<string> => {
    const { id } = say(text)
    const first = await until(() => answersTo(id)[0], `an answer to ${text}`)
    await until(() => p.receipts(p.ids.dm, id).join() === marks.join(), 'the end of the receipt')
    return first.content
  }
  const threads = async (): Promise<readonly string[]> =>
    (await p.db.sql<{ id: string }[]>`select distinct session as id from collab.session_bindings`).map(({ id }) => id)

  test('is ready, and says which codex it is', async () => {
    const ready = await (await fetch(`${gateway.url}/readyz`)).text()
    expect(ready).toMatch(/runtime.*codex; found: CODEX_BIN; \d+\.\d+\.\d+ \(tested: /u)
    expect(ready).not.toContain(bench.root)
    const headers = { authorization: `Bearer ${p.token}` }
    const doctor = (await (await fetch(`${gateway.url}/api/v1/doctor`, { headers })).json()) as { manager: unknown }
    expect(doctor.manager).toEqual({
      endpoint: 'codex',
      endpointSource: 'environment',
      executorKind: 'managed',
      model: 'mock-model',
      modelSource: 'environment',
      effort: 'high',
      credential: 'MOCK_KEY',
      available: true,
      unavailableReason: null,
    })
    expect(JSON.stringify(doctor)).not.toContain('mock-key-canary')
  })

  acceptance('A1', 'a question about a repository is answered with the revision that its own shell read', async () => {
    const [first, ahead] = [join(bench.root, 'repo'), join(bench.root, 'clone')]
    const git = (folder: string, ...args: string[]): string =>
      execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    const commit = (folder: string, words: string): void => {
      writeFileSync(join(folder, 'state.txt'), words)
      git(folder, 'add', '.')
      git(folder, '-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-q', '-m', words)
    }
    execFileSync('git', ['init', '-q', first])
    commit(first, 'old')
    execFileSync('git', ['clone', '-q', first, ahead], { stdio: 'ignore' })
    commit(ahead, 'new')
    const [behind, newest] = [git(first, 'rev-parse', 'HEAD'), git(ahead, 'rev-parse', 'HEAD')]
    expect(newest).not.toBe(behind)
    const told = await answer(
      `!run for r in ${first} ${ahead}; do git -C $r rev-parse HEAD; git -C $r log -1 --format=%s; done`,
    )
    expect(told).toContain(newest)
    expect(told).toContain(behind)
    const { tools } = must(bench.mock.requests.at(-1), 'a request')
    expect(tools).toContain('exec_command')
    expect(tools.filter((name) => /lark_manager\.\w*(?:file|git|shell|grep|search)/u.test(name))).toEqual([])
  })

  acceptance('A2', 'with its first source gone it goes on to the second, and the answer is whole', async () => {
    const kept = join(bench.root, 'kept.md')
    writeFileSync(kept, 'The release is on Thursday.')
    expect(await answer(`!read ${join(bench.root, 'cache', 'gone.md')} ${kept}`)).toContain(
      'The release is on Thursday.',
    )
  })

  acceptance(
    'A2',
    'what the sandbox denies is not said to be refused by the owner, and is not tried around',
    async () => {
      const before = bench.mock.requests.length
      const target = join(bench.root, 'not-here.txt')
      const told = await answer(`!run touch ${target}`)
      expect(told).toContain('Read-only file system')
      expect(told).not.toMatch(/refused|rejected by user/iu)
      expect(existsSync(target)).toBe(false)
      expect(bench.mock.requests.length - before).toBe(2)
    },
  )

  test('what it asks for is refused once, and the answer names the operation', async () => {
    const target = join(bench.root, 'asked.txt')
    const told = await answer(`!ask touch ${target}`)
    expect(told).toContain('Refused')
    expect(told).toContain('asked.txt')
    expect(existsSync(target)).toBe(false)
  })

  test('a command that it leaves running ends with the turn, and the answer names it', async () => {
    const { id } = say('!leave sleep 300\n!reply started it')
    await until(() => answersTo(id).length === 2, 'the answer and what ended')
    expect(answersTo(id)[0]?.content).toContain('started it')
    expect(answersTo(id)[1]?.content).toContain('Ended with the turn, since nothing of a turn outlives it: sleep 300')
    const [kept] = await p.db.sql<{ body: string }[]>`
      select t.body from collab.observations o join collab.texts t on t.digest = o.payload ->> 'command'
      where o.kind = 'ended-with-turn'`
    expect(kept?.body).toBe('sleep 300')
    expect(gateway.log()).not.toContain('sleep 300')
  })

  test('its tools are those of the gateway, under a token of its own', async () => {
    expect(await answer('!tool inbox_read {}')).toMatch(/accepted|requests|items/u)
    expect(must(bench.mock.requests.at(-1), 'a request').tools).toContain('mcp__lark_manager.report_result')
    expect(gateway.log()).not.toMatch(/mock-key-canary|Bearer /u)
  })

  test('a registered agent runs on codex, too, in a session of its own, and what it says comes back', async () => {
    const post = (path: string, body: unknown) =>
      fetch(`${gateway.url}/api/v1${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${p.token}`,
          'content-type': 'application/json',
          'idempotency-key': path,
        },
        body: JSON.stringify(body),
      })
    expect((await post('/goals', { id: 'birds', title: 'Birds' })).status).toBe(201)
    const endpoint = { kind: 'managed', runtime: 'codex' }
    const coder = { agent: 'coder', goal: 'birds', role: 'counts', responsibility: 'counts birds', endpoint }
    expect((await post('/agents', coder)).status).toBe(201)
    const before = await threads()
    const ask =
      '{"request":"$request","receiver":"coder","intent":"consultation","asks":"$asks","question":"!reply I count seven herons.","brief":"b","reason":"r"}'
    const { id } = say(`!first tool ask_agent ${ask}\n!back reply Somebody counted.`)
    await until(() => answersTo(id).find((message) => message.content.includes('Somebody counted')), 'the answer')
    const told = bench.mock.requests.map((request) => request.messages.at(-1) ?? '')
    expect(told.some((text) => text.includes('Came back from coder') && text.includes('seven herons'))).toBe(true)
    expect((await threads()).length).toBe(before.length + 1)
    await p.quiet()
  })

  test('a file of its outbox comes behind the answer', async () => {
    const { id } = say('!attach notes.txt')
    await until(() => answersTo(id).length === 2, 'two parts')
    expect(answersTo(id).map((message) => message.msgType)).toEqual(['interactive', 'file'])
  })

  test('a limit of the provider is told with its mend', async () => {
    expect(await answer('!fail 429', ['CrossMark'])).toMatch(/limit is reached/u)
    expect(await answer('!fail context_length_exceeded', ['CrossMark'])).toMatch(/\/new/u)
    expect(await answer('!reply it goes on')).toContain('it goes on')
  })

  acceptance(
    'A23',
    'stop ends the turn with its command within 3 s, and the next message runs in the same thread',
    async () => {
      const before = await threads()
      const begun = join(bench.root, 'never-written')
      const { id } = say(`!run sleep 300; touch ${begun}`)
      await until(() => bench.mock.requests.at(-1)?.messages.at(-1)?.includes('sleep 300'), 'the turn')
      const asked = performance.now()
      const stop = say('stop')
      await until(() => answersTo(stop.id)[0], 'what became of it')
      expect(performance.now() - asked).toBeLessThan(3_000)
      expect(await answer('!reply after the stop')).toContain('after the stop')
      expect(answersTo(id)).toEqual([])
      expect(await threads()).toEqual(before)
    },
  )

  acceptance('A12', 'a gateway that is killed in mid-turn goes on in the same thread and answers once', async () => {
    expect(await answer('!reply the word is heron')).toContain('heron')
    const before = await threads()
    const { id } = say('!run if [ -e begun ]; then echo again; else touch begun; sleep 300; fi\n!turn')
    const codex = must(bench.pids().at(-1), 'codex')
    await until(() => existsInWorkspace('begun'), 'the command')
    await gateway.kill()
    await until(() => !existsSync(`/proc/${codex}/environ`) || isOver(codex), 'the end of its codex')
    await gateway.start()
    const first = await until(() => answersTo(id)[0], 'the answer', 40_000)
    expect(first.content).toMatch(/again/u)
    expect(must(bench.mock.requests.at(-1), 'a request').messages.join()).toContain('heron')
    await p.quiet()
    expect(answersTo(id)).toHaveLength(1)
    expect(await threads()).toEqual(before)
  })

  function existsInWorkspace(name: string): boolean {
    return execFileSync('find', [join(bench.root, 'workspaces'), '-name', name], { encoding: 'utf8' }) !== ''
  }

  function isOver(pid: number): boolean {
    return /State:\s+[ZX]/u.test(execFileSync('cat', [`/proc/${pid}/status`], { encoding: 'utf8' }))
  }
})
