import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { CliFiles, CliIo } from '../../src/cli/io.js'
import { runCli } from '../../src/cli/main.js'
import { sha256 } from '../../src/lib/digest.js'
import { until } from '../kit/until.js'
import { caller, file, fitting, servedDoor, streamOf, type ServedDoor } from './kit.js'

let door: ServedDoor
beforeAll(async () => {
  door = await servedDoor({
    caller: async (bearer) =>
      bearer === 'good' ? caller : { refused: bearer === 'stale' ? 'stale-epoch' : 'unknown' },
  })
})
afterAll(() => door.close())
beforeEach(() => {
  door.fake.calls.length = 0
  door.fake.answers.clear()
})

let keys = 0
async function run(words: readonly string[], env: Partial<CliIo['env']> = {}, more: Partial<CliIo> = {}) {
  const out: string[] = []
  const err: string[] = []
  const code = await runCli(words, {
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    env: { url: door.url, token: 'the-operator', agentToken: 'good', lang: 'en', ...env },
    fetch: (url, init) => fetch(url, init),
    newId: () => `key-${++keys}`,
    ...more,
  })
  return { code, out: out.join(''), err: err.join('') }
}
const heard = () => door.fake.calls.map(({ verb, said: { eventId: _id, ...said } }) => ({ verb, said }))

describe('the agents’ verbs in a terminal', () => {
  test('inbox read shows what waits, by the agent’s own token', async () => {
    door.fake.answers.set('inboxRead', {
      items: [
        {
          request: 'r1',
          revision: 2,
          from: 'the owner',
          intent: 'delegation',
          openedAt: 1_796_000_000_000,
          asks: [{ id: 'a1', text: 'Mend\u001b[31m it', state: 'open' }],
          brief: 'one\ntwo',
          omissions: [{ what: 'a picture', because: 'too-large' }],
        },
      ],
      nextCursor: 'c2',
    })
    const { code, out } = await run(['inbox', 'read', '--limit', '5'])
    expect(code).toBe(0)
    expect(out).toBe(
      'r1  revision 2  delegation  the owner  2026-11-30 00:53:20Z\n  [open] a1  Mend·[31m it\n  | one\n  | two\n  - a picture: too-large\n\nmore: --cursor c2\n',
    )
    expect(heard()).toEqual([{ verb: 'inboxRead', said: { cursor: null, limit: 5 } }])
  })

  test('assess, link, report and ask say the same as the tools', async () => {
    const common = ['--revision', '2', '--reason', 'I can']
    expect(await run(['inbox', 'assess', 'r1', '--ask', 'a1', '--judgment', 'accepted', ...common])).toEqual({
      code: 0,
      out: 'accepted, verdict accepted\n',
      err: '',
    })
    const deferred = ['--judgment', 'deferred', '--owner', 'me', '--recheck', '2026-12-01T08:00:00Z']
    await run(['inbox', 'assess', 'r1', '--ask', 'a1', '--ask', 'a2', ...deferred, ...common])
    await run(['inbox', 'link', 'r1', 'op-1'])
    await run(['inbox', 'report', 'r1', 'all', 'done', '--ask', 'a1', '--conclusion', 'Done.'])
    const question = ['is', 'it', 'safe?', '--ask', 'a1', '--brief', 'We changed it.', '--reason', 'knows it']
    expect((await run(['ask', 'r1', 'tester', ...question])).out).toBe('accepted, child r2\n')
    const until = { owner: 'me', recheckAt: 1_796_112_000_000, condition: { when: 'at' } }
    const judged = (ask: string) => ({ ask, judgment: 'deferred', reason: 'I can', until })
    expect(heard().slice(1)).toEqual([
      { verb: 'assess', said: { request: 'r1', onRevision: 2, asks: [judged('a1'), judged('a2')] } },
      { verb: 'linkWork', said: fitting['link_work']?.heard },
      {
        verb: 'report',
        said: {
          request: 'r1',
          covers: ['a1'],
          text: 'all done',
          conclusion: 'Done.',
          artifacts: [],
          supersedes: null,
        },
      },
      {
        verb: 'ask',
        said: {
          request: 'r1',
          receiver: 'tester',
          intent: 'consultation',
          asks: ['a1'],
          question: 'is it safe?',
          brief: 'We changed it.',
          refs: [],
          reason: 'knows it',
          direct: false,
        },
      },
    ])
  })

  test('one ask is taken apart instead of judged; a todo is claimed and given back', async () => {
    const on = ['inbox', 'assess', 'r1', '--revision', '2', '--ask', 'a1']
    const parts = ['--into', 'Is it safe?', '--into', 'Is it fast?']
    expect((await run([...on, ...parts])).out).toBe('accepted, asks a8,a9\n')
    expect((await run(['todo', 'claim', 'g1', 't1', '--lease-ms', '60000'])).out).toBe('accepted\n')
    expect((await run(['todo', 'claim', 'g1', 't1', '--release', '3'])).out).toBe('accepted\n')
    expect(heard()).toEqual([
      { verb: 'split', said: { request: 'r1', onRevision: 2, ask: 'a1', into: ['Is it safe?', 'Is it fast?'] } },
      { verb: 'todoClaim', said: { goal: 'g1', todo: 't1', leaseMs: 60_000 } },
      { verb: 'todoRelease', said: { goal: 'g1', todo: 't1', epoch: 3 } },
    ])
    for (const wrong of [
      on,
      [...on, '--judgment', 'accepted'],
      [...on, ...parts, '--judgment', 'accepted', '--reason', 'x'],
      [...on, '--ask', 'a2', ...parts],
      ['todo', 'claim', 'g1', 't1'],
      ['todo', 'claim', 'g1', 't1', '--lease-ms', '1000', '--release', '1'],
    ]) {
      const { code, err } = await run(wrong)
      expect([code, err]).toEqual([2, expect.stringContaining('Give ')])
    }
  })

  test('the same key is the same command', async () => {
    const words = ['inbox', 'link', 'r1', 'op-1', '--key', 'mine']
    expect([(await run(words)).out, (await run(words)).out]).toEqual(['accepted\n', 'already-applied\n'])
  })

  test('1 when refused, with what to do; 2 when wrongly called; 3 when nobody is there', async () => {
    door.fake.answers.set('report', { outcome: 'rejected', refusal: { reason: 'not-assessed', ask: 'a1' } })
    const refused = await run(['inbox', 'report', 'r1', 'x', '--ask', 'a1'])
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('assess_request')])
    const chinese = await run(['--lang', 'zh', 'inbox', 'report', 'r1', 'x', '--ask', 'a1'])
    expect(chinese.err).toMatch(/\p{Script=Han}/u)
    const misread = await run(['inbox', 'read', '--limit', 'all'])
    expect([misread.code, misread.err]).toEqual([1, expect.stringContaining('- limit')])
    for (const wrong of [
      ['inbox'],
      ['inbox', 'report', 'r1', 'x'],
      ['inbox', 'assess', 'r1', '--ask', 'a', '--revision', '1', '--reason', 'x', '--judgment', 'maybe'],
      ['ask', 'r1', 'tester'],
    ]) {
      expect((await run(wrong)).code).toBe(2)
    }
    expect((await run(['inbox', 'read'], { url: 'http://127.0.0.1:9' })).code).toBe(3)
  })

  test('a token that was replaced is told so, and stands in no text', async () => {
    const stale = await run(['inbox', 'read'], { agentToken: 'stale' })
    expect([stale.code, stale.err]).toEqual([
      1,
      'stale-epoch: this session was replaced\nSet LARK_MANAGER_AGENT_TOKEN or use --token.\n',
    ])
    const wrong = await run(['inbox', 'read', '--token', 'guess-canary'])
    expect(wrong.code).toBe(1)
    expect(wrong.out + wrong.err).not.toContain('canary')
    expect((await run(['--token', 'good', 'inbox', 'read'], { agentToken: 'stale' })).code).toBe(0)
  })
})

describe('files in a terminal', () => {
  const disk = new Map<string, Uint8Array>()
  const files: CliFiles = {
    read: async (path) => disk.get(path) ?? null,
    async write(path, bytes) {
      if (path.startsWith('/read-only/')) return 'failed'
      if (disk.has(path)) return 'exists'
      disk.set(path, bytes)
      return 'written'
    },
  }
  const runOn = (words: readonly string[]) => run(words, {}, { files })
  const bytes = Buffer.from([0, 1, 254, 255])
  beforeEach(() => {
    disk.clear()
    disk.set('/work/图 表.bin', bytes)
  })

  test('put sends a file as it is, under its own name or another', async () => {
    const { code, out } = await runOn(['artifact', 'put', 'r1', '/work/图 表.bin', '--key', 'k'])
    expect([code, out]).toEqual([0, `accepted\nf1  notes.md  text/markdown  8  sha256 ${file.digest}\n`])
    await runOn(['artifact', 'put', 'r1', '/work/图 表.bin', '--name', 'chart.bin'])
    const said = { request: 'r1', bytes: bytes.toString('latin1') }
    expect(heard()).toEqual([
      { verb: 'artifactPut', said: { ...said, fileName: '图 表.bin' } },
      { verb: 'artifactPut', said: { ...said, fileName: 'chart.bin' } },
    ])
  })

  test('get shows a text, and saves any file where nothing is yet, when it is the one on record', async () => {
    expect((await runOn(['artifact', 'get', 'r1', 'f1'])).out).toBe('# Notes\n\n')
    const given = (digest: string) =>
      door.fake.answers.set('artifactGet', { file: { ...file, size: 4, digest }, bytes: streamOf(bytes) })
    given(sha256(bytes))
    const shown = await runOn(['artifact', 'get', 'r1', 'f1'])
    expect(shown.out).toContain('--out')
    given(sha256(bytes))
    const saved = await runOn(['artifact', 'get', 'r1', 'f1', '--out', '/work/copy.bin'])
    expect([saved.code, saved.out]).toEqual([0, `4  sha256 ${sha256(bytes)}\n`])
    expect(disk.get('/work/copy.bin')).toEqual(new Uint8Array(bytes))
    for (const [digest, out, words] of [
      [sha256(bytes), '/work/copy.bin', 'exists already'],
      [sha256(bytes), '/read-only/x', 'could not be written'],
      [sha256('another'), '/work/other.bin', 'not the file on record'],
    ] as const) {
      given(digest)
      const { code, err } = await runOn(['artifact', 'get', 'r1', 'f1', '--out', out])
      expect([code, err]).toEqual([1, expect.stringContaining(words)])
    }
    expect(disk.has('/work/other.bin')).toBe(false)
  })

  test('what cannot be read, may not be seen or is too large says so', async () => {
    const none = await runOn(['artifact', 'put', 'r1', '/work/none'])
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('no such file')])
    door.fake.answers.set('artifactGet', null)
    for (const more of [[], ['--out', '/work/x']]) {
      const { code, err } = await runOn(['artifact', 'get', 'r1', 'f1', ...more])
      expect([code, err]).toEqual([1, expect.stringContaining('nothing of this name')])
    }
    door.fake.answers.set('artifactGet', { file: { ...file, size: 1e9 }, bytes: streamOf() })
    expect((await runOn(['artifact', 'get', 'r1', 'f1'])).err).toContain('--out')
    expect((await runOn(['artifact', 'get', 'r1'])).code).toBe(2)
    expect((await run(['artifact', 'get', 'r1', 'f1'], { url: 'http://127.0.0.1:9' })).code).toBe(3)
    expect((await run(['artifact', 'get', 'r1', 'f1', '--out', 'x'], { url: 'http://127.0.0.1:9' })).code).toBe(3)
  })
})

describe('mcp over standard input and output', () => {
  async function bridged(token: string, url = door.url) {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const lines: Record<string, unknown>[] = []
    let rest = ''
    output.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop() ?? ''
      for (const line of parts) lines.push(JSON.parse(line) as Record<string, unknown>)
    })
    const ended = run(['--url', url, 'mcp'], { agentToken: token }, { stdio: { input, output } })
    const send = (message: object) => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    return { input, lines, ended, send }
  }
  const initialize = {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  }

  test('carries calls both ways, and ends when its input ends, with everything answered', async () => {
    const { input, lines, ended, send } = await bridged('good')
    send(initialize)
    await until(() => lines.length === 1, 'the first answer')
    send({ method: 'notifications/initialized' })
    send({ id: 2, method: 'tools/call', params: { name: 'exchange_show', arguments: { request: 'r1' } } })
    input.end()
    expect((await ended).code).toBe(0)
    expect(lines).toMatchObject([
      { id: 1, result: { serverInfo: { name: 'lark-manager' } } },
      { id: 2, result: { structuredContent: { request: { id: 'r1' } } } },
    ])
  })

  test.each([
    ['stale', () => door.url, 'stale-epoch: this session was replaced'],
    ['wrong', () => door.url, 'unauthorized'],
    ['good', () => 'http://127.0.0.1:9', 'the gateway cannot be reached; say so instead of guessing'],
  ])('a call with the token %s at %s is answered with a fault, not with silence', async (token, url, message) => {
    const { input, lines, ended, send } = await bridged(token, url())
    send(initialize)
    await until(() => lines.length === 1, 'the fault')
    expect(lines[0]).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32000, message } })
    input.end()
    expect((await ended).code).toBe(0)
  })

  test('without a token it does not begin', async () => {
    const { ended } = await bridged('')
    expect(await ended).toEqual({ code: 2, out: '', err: 'Set LARK_MANAGER_AGENT_TOKEN or use --token.\n' })
  })
})
