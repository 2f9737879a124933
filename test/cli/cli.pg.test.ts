import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../../src/cli/main.js'
import type { CliIo } from '../../src/cli/io.js'
import { MANAGER, type ConversationId, type Instant, type TextDigest } from '../../src/collab/refs.js'
import { putGrant } from '../../src/stores/grants/grants.js'
import type { DoctorReport } from '../../src/web/doctor.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { adminToken, publicUrl, webUnderTest, type WebUnderTest } from '../web/kit.js'
import { answer, ask, deliver, present, viewOf } from '../web/seed.js'
import { noModel } from '../kit/manager-binding.js'

let fresh: FreshDb
let ui: WebUnderTest
let report: DoctorReport = { version: '1.2.3', settings: [], checks: [], manager: noModel }
beforeAll(async () => {
  fresh = await freshDb()
  ui = webUnderTest(fresh.db, { doctor: async () => report })
})
afterAll(() => fresh.drop())

const x = () => ui.deps.exchange
let at = 1_764_000_000_000
let keys = 0

async function run(words: readonly string[], env: Partial<CliIo['env']> = {}, fetch: CliIo['fetch'] | null = null) {
  const out: string[] = []
  const err: string[] = []
  const code = await runCli(words, {
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    env: { url: publicUrl, token: adminToken, lang: 'en_US.UTF-8', ...env },
    fetch: fetch ?? ((url, init) => ui.web.fetch(new Request(url, init))),
    newId: () => `key-${++keys}`,
  })
  return { code, out: out.join(''), err: err.join('') }
}

describe('grants', () => {
  test('are listed with what they allow, not only with the name of the tool; a long one is cut, and whole as JSON', async () => {
    const operation = `Bash (execute)\nrm -rf build\n{"cwd":"/work"}`
    const { sql } = fresh.db
    await sql`insert into collab.texts ${sql({ digest: 'op-1', access_scope: 's', body: operation })}`
    const audience = { kind: 'conversation', conversation: 'c1' as ConversationId } as const
    const scope = { kind: 'operation', digest: 'op-1' as TextDigest } as const
    const grant = { id: 'g1', agent: MANAGER, openId: 'ou_1', scope, effects: [], audience, parent: null }
    const given = { issuedAt: at as Instant, expiresAt: null }
    await putGrant(sql, { ...grant, ...given }, { reason: null, issuedBy: null })
    const { code, out } = await run(['grant', 'list'])
    expect(code).toBe(0)
    expect(out).toContain('Bash (execute) · rm -rf build · {"cwd":"/work"}')
    const { items } = JSON.parse((await run(['grant', 'list', '--json'])).out) as { items: { operation: string }[] }
    expect(items.map((item) => item.operation)).toEqual([operation])
    expect(await run(['grant', 'revoke', 'g1'])).toEqual({ code: 0, out: 'accepted\n', err: '' })
    expect((await run(['grant', 'list'])).out).toContain('revoked')
  })

  test('are given for a directory or a host with a reason and an end, and listed with what they give', async () => {
    const path = ['grant', 'add', 'manager', '--path', '/srv/notes', '--host', 'box', '--effects', 'read,write']
    const given = await run([...path, '--owner-private', '--reason', 'notes are kept there'])
    expect([given.code, given.err]).toEqual([0, ''])
    expect(given.out).toMatch(/^given: [0-9a-f-]{36}\n$/u)
    const host = [
      'grant',
      'add',
      'manager',
      '--network',
      '*.Example.com',
      '--owner-private',
      '--reason',
      'r',
      '--no-end',
    ]
    expect((await run(host, { lang: 'zh_CN.UTF-8' })).out).toContain('已授予')
    const { out } = await run(['grant', 'list'])
    expect(out).toMatch(
      /stands {3}manager {2}until \d{4}-\d\d-\d\d .* direct conversations {2}x0 {2}read,write box:\/srv\/notes\//u,
    )
    expect(out).toMatch(/until it is revoked .* network \*\.example\.com/u)
  })

  test.each([
    [['--path', '/a', '--owner-private', '--reason', 'r', '--network', 'x.test']],
    [['--path', '/a', '--effects', 'read', '--reason', 'r']],
    [['--path', '/a', '--effects', 'read', '--owner-private']],
    [['--owner-private', '--reason', 'r']],
    [['--path', '/a', '--effects', 'read', '--owner-private', '--reason', 'r', '--days', 'ever']],
  ])('are not given by the half of a command: %j', async (words) => {
    expect((await run(['grant', 'add', 'manager', ...words])).code).toBe(2)
  })

  test('are refused with the sentence that says what to do', async () => {
    const { code, err } = await run([
      'grant',
      'add',
      'manager',
      '--path',
      '/srv/..',
      '--effects',
      'read',
      '--owner-private',
      '--reason',
      'r',
    ])
    expect([code, err]).toEqual([
      1,
      'Name one absolute directory below the root without "..", or one host, without hidden characters\n',
    ])
  })
})

describe('exit codes', () => {
  test('0 when it was answered, also with nothing', async () => {
    expect(await run(['request', 'list', '--conversation', 'none'])).toEqual({ code: 0, out: 'nothing\n', err: '' })
  })
  test('1 when it was refused, with the calm sentence in the caller’s language', async () => {
    const refused = await run(['request', 'show', 'nothing'], { lang: 'zh_CN.UTF-8' })
    expect(refused).toEqual({ code: 1, out: '', err: '没有这个请求\n' })
    const untrusted = await run(['request', 'list'], { token: 'wrong' })
    expect([untrusted.code, untrusted.err]).toEqual([1, 'Please sign in first\nSet ADMIN_TOKEN or use --token.\n'])
  })
  test.each([
    [['nonsense']],
    [['request']],
    [['request', 'list', '--state', 'done']],
    [['request', 'show']],
    [['delivery', 'retry', 'x', '--part', 'first']],
    [['delivery', 'retry', 'x', '--decision', 'resend']],
    [['request', 'cancel', 'x', '--revision', 'last']],
    [['--lang', 'fr', 'doctor']],
  ])('2 for the wrong call %j', async (words) => {
    const { code, out } = await run(words)
    expect([code, out]).toEqual([2, ''])
  })
  test('3 when the gateway cannot be reached or answers like something else', async () => {
    const down = await run(['doctor'], {}, () =>
      Promise.reject(
        Object.assign(new TypeError('fetch failed'), {
          cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
        }),
      ),
    )
    expect([down.code, down.err]).toEqual([3, 'The gateway cannot be reached. (ECONNREFUSED)\n'])
    const proxy = await run(['doctor'], {}, async () => new Response('<html>sign in</html>', { status: 200 }))
    expect([proxy.code, proxy.err]).toEqual([3, 'The gateway cannot be reached. (HTTP 200)\n'])
  })
  test('help is an answer, in the asked language', async () => {
    const help = await run(['--lang', 'zh', 'request', '--help'])
    expect([help.code, help.err]).toEqual([0, ''])
    expect(help.out).toContain('列出请求')
  })
  test('the token is in no text', async () => {
    for (const words of [['--help'], ['request', 'list'], ['nonsense']]) {
      const { out, err } = await run(words)
      expect(out + err).not.toContain(adminToken)
    }
  })
})

describe('requests', () => {
  test('A10 list, show and --json say what the API says', async () => {
    const id = await ask(x(), { text: 'What moved?\u001b[31m red', at: (at += 1000) })
    const cause = await answer(x(), id, await present(x(), id, at), { text: 'Two of three.', at })
    await deliver(x(), { request: id, cause, at, outcome: null, parts: ['verified', 'planned'] })
    const shown = await run(['request', 'show', id])
    expect(shown.code).toBe(0)
    const view = await viewOf(x(), id)
    for (const value of Object.values(view.axes)) expect(shown.out).toContain(`: ${value}\n`)
    for (const fact of view.observations) expect(shown.out).toContain(fact.kind)
    expect(shown.out).toContain('What moved?·[31m red')
    expect(shown.out).toContain('Two of three.')
    expect((await run(['request', 'list', '--state', 'open'])).out).toContain(`${id}  open`)
    expect(JSON.parse((await run(['request', 'show', id, '--json'])).out)).toEqual(JSON.parse(JSON.stringify(view)))
  })
  test('correct and cancel act on the newest revision, or on the named one', async () => {
    const id = await ask(x(), { text: 'write it', at: (at += 1000) })
    expect(await run(['request', 'correct', id, 'in', 'French'])).toEqual({
      code: 0,
      out: 'accepted, revision 2\n',
      err: '',
    })
    const stale = await run(['request', 'correct', id, 'in Spanish', '--revision', '1'])
    expect([stale.code, stale.err]).toEqual([1, 'The request has moved on; read it again\n'])
    expect((await run(['request', 'cancel', id])).code).toBe(0)
    expect((await viewOf(x(), id)).axes.control).toBe('cancel-acknowledged')
    expect((await run(['request', 'cancel', id])).code).toBe(1)
  })
  test('the same key twice is one command', async () => {
    const id = await ask(x(), { text: 'write it', at: (at += 1000) })
    const command = ['request', 'correct', id, 'shorter', '--revision', '1', '--key', 'k']
    expect((await run(command)).out).toBe('accepted, revision 2\n')
    expect((await run(command)).out).toBe('already-applied, revision 2\n')
  })
})

describe('deliveries', () => {
  test('list, show and retry', async () => {
    const id = await deliver(x(), {
      request: null,
      cause: 'c1',
      at: (at += 1000),
      outcome: 'parked',
      parts: ['verified', 'parked'],
    })
    expect((await run(['delivery', 'list', '--state', 'parked'])).out).toContain(`${id}  parked    1/2`)
    expect((await run(['delivery', 'show', id])).out).toContain('part 1  interactive  parked (lookup-incomplete)  x1')
    expect((await run(['delivery', 'retry', id, '--part', '1', '--decision', 'present'])).code).toBe(0)
    expect((await run(['delivery', 'show', id])).out).toContain('accepted (seen-by-operator)')
    expect((await run(['delivery', 'retry', 'nothing'])).code).toBe(1)
    const named = await deliver(x(), {
      request: null,
      cause: 'c2',
      at: (at += 1000),
      outcome: 'parked',
      parts: ['parked'],
    })
    const seen = ['--decision', 'present', '--message', 'om_seen']
    expect((await run(['delivery', 'retry', named, '--part', '0', ...seen])).code).toBe(0)
    expect((await run(['delivery', 'show', named])).out).toMatch(/om_seen\n.*delivery present part 0 as om_seen/)
  })
})

describe('doctor', () => {
  const check = { name: 'codex', detail: 'not installed', mend: 'npm i -g @openai/codex' }
  test('a warning ends well, a failed row does not', async () => {
    const settings = [{ name: 'ADMIN_TOKEN', value: 'set', from: 'environment' as const }]
    report = { version: '1.2.3', settings, checks: [{ ...check, state: 'warning' }], manager: noModel }
    const warned = await run(['doctor'])
    expect(warned.code).toBe(0)
    expect(warned.out).toContain('ADMIN_TOKEN=set\n')
    expect(warned.out).toContain('warning codex: not installed\n        → npm i -g @openai/codex\n')
    report = { ...report, checks: [{ ...check, state: 'failed' }] }
    expect((await run(['doctor'])).code).toBe(1)
    expect((await run(['doctor', '--json'])).code).toBe(1)
  })

  test('says which executor and model the manager resolved to, and why it cannot be used', async () => {
    report = { ...report, checks: [], manager: noModel }
    expect((await run(['doctor'])).out).toContain('\nmanager: rehearsal (default) · ? · ?\n\n')
    const manager = {
      ...noModel,
      endpoint: 'codex',
      endpointSource: 'environment',
      executorKind: 'managed',
      model: 'gpt-6-astra',
      modelSource: 'default',
      credential: 'PROVIDER_KEY',
      available: false,
      unavailableReason: 'no codex binary was found',
    } as const
    report = { ...report, manager }
    expect((await run(['doctor'])).out).toContain(
      '\nmanager: codex (environment) · managed · gpt-6-astra (default) · credential: PROVIDER_KEY\n         no codex binary was found\n',
    )
  })
})
