import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createArtifactBytes } from '../../src/artifacts/bytes.js'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import { MANAGER, type AgentId, type RequestId } from '../../src/collab/refs.js'
import { createAgentTools } from '../../src/exchange/agents/tools.js'
import { callerOf, standingToken, toolAccess } from '../../src/exchange/tokens.js'
import { silentLogger } from '../../src/lib/log.js'
import { createAgentDoor } from '../../src/mcp/door.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { asksOf, registered, rigOf, rootInTurn, stateOf, type Rig } from '../exchange/agents-kit.js'

/* Everything that an agent can say wrongly, said at the door with real tokens: a typed refusal, and nothing left. */

let fresh: FreshDb
let rig: Rig
let door: (request: Request) => Promise<Response>
let folder: string
const tokens = new Map<string, string>()

beforeAll(async () => {
  fresh = await freshDb()
  folder = mkdtempSync(join(tmpdir(), 'bad-input-'))
  const made = rigOf(fresh.db, [registered('anna'), registered('ben'), registered('carla'), registered('dora')])
  const artifacts = createArtifactBytes({ root: folder, newId: () => randomUUID() })
  const x = { ...made.x, toolsUrl: 'http://127.0.0.1:3000/mcp', artifacts }
  rig = { ...made, x, tools: createAgentTools(x) }
  door = createAgentDoor({
    tools: rig.tools,
    caller: (bearer) => callerOf(x, bearer),
    origins: () => [],
    version: '0.0.0',
    log: silentLogger,
  })
  for (const name of ['anna', 'ben', 'carla', 'dora']) {
    tokens.set(name, (await standingToken(x, { agent: name as AgentId, session: 'laptop' })).token)
  }
})
afterAll(async () => {
  await fresh.drop()
  rmSync(folder, { recursive: true })
})

type Said = Readonly<Record<string, unknown>>

async function call(by: string, tool: string, given: Said, key: string = randomUUID()) {
  const response = await door(
    new Request(`http://127.0.0.1:3000/api/v1/agent/${tool}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.get(by) ?? by}`, 'idempotency-key': key },
      body: JSON.stringify(given),
    }),
  )
  return { status: response.status, said: (await response.json()) as Said }
}

async function done(by: string, tool: string, given: Said, key?: string): Promise<Said> {
  const { status, said } = await call(by, tool, given, key)
  if (status !== 200) throw new Error(`${tool} by ${by}: ${JSON.stringify(said)}`)
  return said
}

/** Every row that an act can leave or change. */
async function ledger(): Promise<unknown> {
  const tables = [
    'observations',
    'request_heads',
    'request_revisions',
    'dispatch_attempts',
    'results',
    'effect_intents',
    'texts',
    'deliveries',
    'wakes',
    'turn_inputs',
    'artifacts',
    'work_commands',
  ]
  return await Promise.all(
    tables.map(async (table) => {
      const [row] = await fresh.db.sql`
        select ${table} as table, count(*)::int as rows, md5(string_agg(t::text, '' order by t::text)) as digest
        from ${fresh.db.sql(`collab.${table}`)} t`
      return row
    }),
  )
}

/** The refusal of a call that left nothing. */
async function refused(by: string, tool: string, given: Said, key?: string) {
  const before = await ledger()
  const { status, said } = await call(by, tool, given, key)
  expect(await ledger()).toEqual(before)
  const { type: _type, title, ...more } = said
  expect(String(title)).toMatch(/\S/)
  expect(more['status']).toBe(status)
  return more
}

/** A request of the owner in the manager's running turn, and the manager's own token. */
async function root() {
  const { request, manager } = await rootInTurn(rig, 'Please check the number in the report.')
  const { token } = await toolAccess(rig.x, { agent: MANAGER, lane: (manager as ToolCaller).lane as never })
  const name = `manager of ${request}`
  tokens.set(name, token)
  const [ask] = await asksOf(rig, request)
  return { request, manager: name, ask: String(ask) }
}

const asking = (request: string, receiver: string, over: Said = {}) => ({
  request,
  receiver,
  intent: 'delegation',
  question: 'Is the number right?',
  brief: 'Two sources disagree.',
  reason: 'reads sources',
  ...over,
})

/** Work in the hands of an agent; `read`: it has seen it. */
async function handed(by: string, request: string, receiver: string, read = true) {
  const { child } = await done(by, 'ask_agent', asking(request, receiver))
  if (read) await done(receiver, 'inbox_read', { limit: 50 })
  const [ask] = await asksOf(rig, child as RequestId)
  return { child: String(child), ask: String(ask) }
}

const judging = (request: string, ask: string, over: Said = {}) => ({
  request,
  onRevision: 1,
  asks: [{ ask, judgment: 'accepted', reason: 'mine' }],
  ...over,
})
const reporting = (request: string, ask: string, over: Said = {}) => ({
  request,
  covers: [ask],
  text: 'It is right.',
  ...over,
})
const effect = { effectKind: 'git-push', target: 'main', input: 'a..b', doubt: { by: 'look-up' } }
const nobody = '00000000-0000-7000-8000-00000000dead'

describe('a passed revision', () => {
  test('is refused with the one that stands, whatever is decided on it', async () => {
    const { request, manager } = await root()
    const { child, ask } = await handed(manager, request, 'anna')
    await done(manager, 'revise_request', { request: child, onRevision: 1, text: 'And by noon.' })
    const stale = expect.objectContaining({ status: 412, code: 'stale-revision', head: 2 }) as unknown
    expect(await refused('anna', 'assess_request', judging(child, ask))).toEqual(stale)
    const parts = { request: child, onRevision: 1, split: { ask, into: ['One?', 'Two?'] } }
    expect(await refused('anna', 'assess_request', parts)).toEqual(stale)
    expect(await refused(manager, 'revise_request', { request: child, onRevision: 1, text: 'Or later.' })).toEqual(
      stale,
    )
    expect(await refused(manager, 'cancel_request', { request: child, onRevision: 1 })).toEqual(stale)
    expect(await refused('anna', 'assess_request', judging(child, ask, { onRevision: 3 }))).toEqual(stale)
  })
})

describe('an unknown id', () => {
  test('of a request is one answer, whether it is nobody’s, somebody else’s or no id at all', async () => {
    const { request, manager, ask } = await root()
    const { child } = await handed(manager, request, 'anna')
    for (const hidden of [
      nobody,
      child,
      request,
      '../../etc/passwd',
      "'; drop table tokens; --".replaceAll(' ', '_'),
    ]) {
      const unknown = expect.objectContaining({ status: 404, code: 'request-unknown' }) as unknown
      expect(await refused('ben', 'assess_request', judging(hidden, ask))).toEqual(unknown)
      expect(await refused('ben', 'report_result', reporting(hidden, ask))).toEqual(unknown)
      expect(await refused('ben', 'ask_agent', asking(hidden, 'carla'))).toEqual(unknown)
      expect(await refused('ben', 'artifact_put', { request: hidden, fileName: 'a', text: 'a' })).toEqual(unknown)
      expect(await refused('ben', 'declare_effect', { request: hidden, ...effect })).toEqual(unknown)
      expect(await refused('ben', 'exchange_show', { request: hidden })).toEqual(unknown)
    }
  })

  test('of anything else says which', async () => {
    const { request, manager } = await root()
    const { child, ask } = await handed(manager, request, 'anna')
    const code = async (by: string, tool: string, given: Said) => {
      const { code: reason, status } = await refused(by, tool, given)
      return [status, reason]
    }
    expect(await code('anna', 'assess_request', judging(child, 'no-such-ask'))).toEqual([404, 'ask-unknown'])
    expect(await code(manager, 'ask_agent', asking(request, 'nobody'))).toEqual([404, 'agent-unknown'])
    await done('anna', 'assess_request', judging(child, ask))
    expect(await code('anna', 'report_result', reporting(child, 'no-such-ask'))).toEqual([404, 'ask-unknown'])
    expect(await code('anna', 'report_result', reporting(child, ask, { supersedes: nobody }))).toEqual([
      404,
      'result-unknown',
    ])
    expect(await code('anna', 'report_result', reporting(child, ask, { artifacts: [nobody] }))).toEqual([
      422,
      'bad-reference',
    ])
    expect(await code('anna', 'settle_effect', { request: child, effect: nobody, became: 'failed' })).toEqual([
      404,
      'effect-unknown',
    ])
    expect(await code('anna', 'link_work', { request: child, operation: 'no-such-operation' })).toEqual([
      422,
      'bad-reference',
    ])
    expect(await code('anna', 'artifact_get', { request: child, artifact: nobody })).toEqual([404, 'not-visible'])
    expect(await code('anna', 'todo_list', { goal: 'no-such-goal' })).toEqual([404, 'not-visible'])
    const moving = { request: child, receiver: 'nobody', reason: 'free' }
    expect(await code(manager, 'reassign_request', moving)).toEqual([404, 'agent-unknown'])
  })
})

describe('a known event id with a changed payload', () => {
  acceptance('A6', 'is a conflict for every act, and leaves what was said first', async () => {
    const { request, manager } = await root()
    const { child, ask } = await handed(manager, request, 'anna')
    const key = randomUUID()
    const acts: readonly (readonly [string, string, Said, Said])[] = [
      ['anna', 'assess_request', judging(child, ask), judging(child, ask, { onRevision: 2 })],
      ['anna', 'declare_effect', { request: child, ...effect }, { request: child, ...effect, target: 'other' }],
      [
        'anna',
        'artifact_put',
        { request: child, fileName: 'a', text: 'a' },
        { request: child, fileName: 'a', text: 'b' },
      ],
      ['anna', 'ask_agent', asking(child, 'ben'), asking(child, 'ben', { brief: 'Three sources disagree.' })],
      [
        manager,
        'revise_request',
        { request: child, onRevision: 1, text: 'And by noon.' },
        { request: child, onRevision: 1, text: 'Or by noon.' },
      ],
    ]
    for (const [by, tool, first, other] of acts) {
      expect(await done(by, tool, first, key)).toMatchObject({ outcome: 'accepted' })
      expect(await done(by, tool, first, key)).toMatchObject({ outcome: 'already-applied' })
      expect(await refused(by, tool, other, key)).toMatchObject({ status: 409, code: 'conflict' })
    }
  })
})

describe('what is too large', () => {
  test('is refused whole, with its limit and the word to attach it', async () => {
    const { request, manager } = await root()
    const long = 'é'.repeat(8_001)
    for (const over of [{ brief: long }, { question: long }]) {
      expect(await refused(manager, 'ask_agent', asking(request, 'anna', over))).toMatchObject({
        status: 413,
        code: 'too-large',
        limit: 16_000,
      })
    }
    const { said } = await call(manager, 'ask_agent', asking(request, 'anna', { brief: long }))
    expect(said['title']).toContain('Attach it: store it with artifact_put')
    expect(await refused(manager, 'ask_agent', asking(request, 'anna', { brief: 'x'.repeat(400_001) }))).toMatchObject({
      status: 400,
      code: 'bad-arguments',
    })
  })
})

describe('references', () => {
  test.each([
    ['a way up', 'docs/../../secret'],
    ['a way up, escaped', 'https://example.test/%2e%2e/x'],
    ['an absolute path', '/etc/passwd'],
    ['a home', '~/notes'],
    ['a drive', 'C:\\notes'],
    ['a file address', 'file:///etc/passwd'],
    ['a line end', 'a\nb'],
    ['an escape sequence', 'a\u001b[2Jb'],
    ['a C1 control character', 'a\u009bb'],
  ])('with %s are refused', async (_, ref) => {
    const { request, manager } = await root()
    expect(await refused(manager, 'ask_agent', asking(request, 'anna', { refs: ['repo@1234', ref] }))).toMatchObject({
      status: 422,
      code: 'bad-reference',
      field: 'refs',
    })
  })

  test.each([
    ['NUL', 'a\u0000b'],
    ['half a character', 'a\ud800'],
    ['nothing', ' '],
    ['a document', 'x'.repeat(501)],
  ])('that are %s do not even reach the ledger', async (_, ref) => {
    const { request, manager } = await root()
    expect(await refused(manager, 'ask_agent', asking(request, 'anna', { refs: [ref] }))).toMatchObject({
      status: 400,
      code: 'bad-arguments',
    })
  })
})

describe('a token', () => {
  test('of another agent acts for nobody else', async () => {
    const { request, manager } = await root()
    const { child, ask } = await handed(manager, request, 'anna')
    await done('anna', 'assess_request', judging(child, ask))
    expect(await refused('ben', 'report_result', reporting(child, ask))).toMatchObject({ code: 'request-unknown' })
    // One that sees the request, since it asked for it, is still not its receiver.
    expect(await refused(manager, 'report_result', reporting(child, ask))).toMatchObject({
      status: 403,
      code: 'not-receiver',
    })
    expect(await refused(manager, 'assess_request', judging(child, ask))).toMatchObject({ code: 'not-receiver' })
    // A manager of another conversation is somebody else.
    const other = await root()
    expect(await refused(other.manager, 'cancel_request', { request: child, onRevision: 1 })).toMatchObject({
      code: 'request-unknown',
    })
  })

  acceptance('A18', 'of an older epoch, a made-up one and none are turned away before anything is asked', async () => {
    const { request, manager } = await root()
    const { child, ask } = await handed(manager, request, 'dora')
    const old = tokens.get('dora') ?? ''
    tokens.set('dora', (await standingToken(rig.x, { agent: 'dora' as AgentId, session: 'laptop' })).token)
    for (const [bearer, error] of [
      [old, 'stale-epoch: this session was replaced'],
      ['lma_made-up', 'unauthorized'],
      ['', 'unauthorized'],
    ] as const) {
      for (const [tool, given] of [
        ['assess_request', judging(child, ask)],
        ['artifact_put', { request: child, fileName: 'a', text: 'a' }],
        ['inbox_read', {}],
      ] as const) {
        expect(await refused(bearer, tool, given)).toMatchObject({ status: 401, error })
      }
    }
    await done('dora', 'assess_request', judging(child, ask))
  })
})

describe('out of turn', () => {
  test('an assessment of what was neither presented nor provided', async () => {
    const { request, manager } = await root()
    const { child, ask } = await handed(manager, request, 'anna', false)
    expect(await refused('anna', 'assess_request', judging(child, ask))).toMatchObject({
      status: 409,
      code: 'not-presented',
    })
    await done('anna', 'inbox_read', { limit: 50 })
    await done(manager, 'revise_request', { request: child, onRevision: 1, text: 'And by noon.' })
    expect(await refused('anna', 'assess_request', judging(child, ask, { onRevision: 2 }))).toMatchObject({
      code: 'not-presented',
    })
  })

  test('a result without the own assessment', async () => {
    const { request, manager } = await root()
    const { child, ask } = await handed(manager, request, 'anna')
    expect(await refused('anna', 'report_result', reporting(child, ask))).toMatchObject({
      status: 409,
      code: 'not-assessed',
      ask,
    })
  })

  test('a question to somebody who waits for the asker', async () => {
    const { request, manager } = await root()
    const first = await handed(manager, request, 'anna')
    const second = await handed('anna', first.child, 'ben')
    const third = await handed('ben', second.child, 'carla')
    expect(await refused('carla', 'ask_agent', asking(third.child, 'anna'))).toMatchObject({
      status: 409,
      code: 'wait-cycle',
      through: [first.child, second.child, third.child],
    })
    expect(await refused('carla', 'ask_agent', asking(third.child, 'ben'))).toMatchObject({
      code: 'asks-own-requester',
    })
  })

  acceptance('A24', 'of two that report at once the second leaves nothing', async () => {
    const { request, manager } = await root()
    const { child, ask } = await handed(manager, request, 'anna')
    await done('anna', 'assess_request', judging(child, ask))
    const [one, two] = await Promise.all([
      call('anna', 'report_result', reporting(child, ask, { text: 'It is right.' })),
      call('anna', 'report_result', reporting(child, ask, { text: 'It is wrong.' })),
    ])
    const codes = [one, two].map(({ said }) => said['code'] ?? said['outcome']).toSorted()
    expect(codes[0]).toBe('accepted')
    expect(['ask-not-owed', 'attempt-released', 'request-closed', 'not-receiver']).toContain(codes[1])
    const state = await stateOf(rig, child as RequestId)
    expect(state.results).toHaveLength(1)
    const lost = one?.status === 200 ? 'It is wrong.' : 'It is right.'
    expect(await fresh.db.sql`select 1 from collab.texts where body = ${lost}`).toEqual([])
  })
})
