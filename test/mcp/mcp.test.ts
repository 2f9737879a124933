import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { LogFields } from '../../src/lib/log.js'
import { caller, fitting, servedDoor, type ServedDoor } from './kit.js'

let door: ServedDoor
let client: Client
const logged: [string, LogFields | undefined][] = []
beforeAll(async () => {
  const keep = (message: string, fields?: LogFields) => void logged.push([message, fields])
  door = await servedDoor({ log: { debug: keep, info: keep, warn: keep, error: keep } })
  client = await door.client()
})
afterAll(() => door.close())
beforeEach(() => {
  door.fake.calls.length = 0
  door.fake.answers.clear()
  logged.length = 0
})

const call = async (name: string, given: Record<string, unknown> = {}) => {
  const { structuredContent, isError } = await client.callTool({ name, arguments: given })
  return { isError, said: structuredContent as Readonly<Record<string, unknown>> }
}

describe('the tools over MCP', () => {
  test('are exactly these, each with words and a schema', async () => {
    const { tools } = await client.listTools()
    expect(tools.map((tool) => tool.name).sort()).toEqual(Object.keys(fitting).sort())
    expect(tools.length).toBe(23)
    for (const tool of tools) {
      expect(must(tool.description, tool.name).length).toBeGreaterThan(80)
      expect(tool.inputSchema.type).toBe('object')
      for (const [name, schema] of Object.entries(tool.inputSchema.properties ?? {})) {
        expect([tool.name, name, typeof schema]).toEqual([tool.name, name, 'object'])
      }
    }
    const writes = tools.filter((tool) => tool.annotations?.readOnlyHint === false)
    expect(writes.length).toBe(15)
    for (const tool of writes) expect(Object.keys(tool.inputSchema.properties ?? {})).toContain('key')
    expect(client.getInstructions()).toContain('evidence')
  })

  test.each(Object.entries(fitting))('%s reaches its verb with what was said', async (name, { verb, given, heard }) => {
    const { isError, said } = await call(name, given)
    expect(isError).toBe(false)
    const heardBy = must(door.fake.calls[0], 'the call')
    expect(door.fake.calls.length).toBe(1)
    expect(heardBy.verb).toBe(verb)
    expect(heardBy.caller).toEqual(caller)
    const { eventId, ...rest } = heardBy.said
    expect(rest).toEqual(heard)
    if (eventId === undefined) expect(said['outcome']).toBeUndefined()
    else expect(said['outcome']).toBe('accepted')
  })

  test('what an act gives beside its receipt comes with it', async () => {
    expect((await call('ask_agent', must(fitting['ask_agent'], '').given)).said['child']).toBe('r2')
    expect((await call('declare_effect', must(fitting['declare_effect'], '').given)).said).toMatchObject({
      effect: 'e1',
      providerKey: 'k1',
    })
    expect((await call('assess_request', must(fitting['assess_request'], '').given)).said['verdict']).toBe('accepted')
    expect((await call('todo_write', must(fitting['todo_write'], '').given)).said['receipt']).toMatchObject({
      operation: 'op-1',
    })
  })
})

describe('an act that a tool carries beside its own', () => {
  const judged = must(fitting['assess_request'], '').given['asks']
  const parts = { ask: 'a1', into: ['Is it safe?', 'Is it fast?'] }

  test('assess_request takes one ask apart and gives the new ones', async () => {
    const { said } = await call('assess_request', { request: 'r1', onRevision: 2, split: parts })
    expect(said).toMatchObject({ outcome: 'accepted', asks: ['a8', 'a9'] })
    expect(door.fake.calls).toMatchObject([{ verb: 'split', said: { request: 'r1', onRevision: 2, ...parts } }])
  })

  test('todo_claim gives a claim back, on its epoch', async () => {
    const { said } = await call('todo_claim', { goal: 'g1', todo: 't1', release: 3 })
    expect(said).toMatchObject({ outcome: 'accepted', receipt: { operation: 'op-1' } })
    expect(door.fake.calls).toMatchObject([{ verb: 'todoRelease', said: { goal: 'g1', todo: 't1', epoch: 3 } }])
  })

  test.each([
    ['assess_request', { request: 'r1', onRevision: 2 }],
    ['assess_request', { request: 'r1', onRevision: 2, asks: judged, split: parts }],
    ['assess_request', { request: 'r1', onRevision: 2, split: { ask: 'a1', into: ['Only one'] } }],
    ['todo_claim', { goal: 'g1', todo: 't1' }],
    ['todo_claim', { goal: 'g1', todo: 't1', leaseMs: 60_000, release: 1 }],
  ])('%s with neither or both, or with a single part, is refused: %j', async (name, given) => {
    const { said } = await call(name, given)
    expect(said['refusal']).toMatchObject({ reason: 'bad-arguments' })
    expect(door.fake.calls).toEqual([])
  })
})

describe('refusals are results that the agent reads', () => {
  test('the ledger’s own, with what to do next', async () => {
    door.fake.answers.set('cancel', { outcome: 'rejected', refusal: { reason: 'stale-revision', head: 4 } })
    const { isError, said } = await call('cancel_request', { request: 'r1', onRevision: 3 })
    expect(isError).toBe(true)
    expect(said).toEqual({
      outcome: 'rejected',
      refusal: { reason: 'stale-revision', head: 4 },
      next: expect.stringContaining('Read it again') as string,
    })
  })

  test('a conflict is no success', async () => {
    door.fake.answers.set('cancel', { outcome: 'conflict', eventId: 'e' })
    expect(await call('cancel_request', { request: 'r1', onRevision: 3 })).toMatchObject({
      isError: true,
      said: { outcome: 'conflict' },
    })
  })

  test.each([
    ['unavailable', 'work-unavailable'],
    ['ambiguous', 'work-ambiguous'],
    ['rejected', 'work-refused'],
  ])('the work owner’s %s keeps its reason', async (outcome, reason) => {
    door.fake.answers.set('todoClaim', { outcome, because: 'the lease' })
    const { isError, said } = await call('todo_claim', { goal: 'g', todo: 't', leaseMs: 1000 })
    expect(isError).toBe(true)
    expect(said).toMatchObject({ outcome: 'rejected', refusal: { reason, because: 'the lease' } })
  })

  test('nothing to see and never there are one answer', async () => {
    door.fake.answers.set('show', null)
    expect((await call('exchange_show', { request: 'secret' })).said['refusal']).toEqual({ reason: 'request-unknown' })
    door.fake.answers.set('visionRead', null)
    expect((await call('vision_read', { goal: 'secret' })).said['refusal']).toEqual({ reason: 'not-visible' })
    door.fake.answers.set('todoList', null)
    expect((await call('todo_list', { goal: 'secret' })).said['refusal']).toEqual({ reason: 'not-visible' })
  })

  test('an unknown tool, and a tool that comes later', async () => {
    for (const name of ['no_such_tool', 'portfolio_read', '__proto__', 'constructor']) {
      expect(await call(name)).toMatchObject({ isError: true, said: { refusal: { reason: 'unknown-tool' } } })
    }
  })

  test('a fault says only that the call may be made again', async () => {
    door.fake.answers.set('cancel', new Error('connection to 10.0.0.7 lost'))
    const { isError, said } = await call('cancel_request', { request: 'r1', onRevision: 3 })
    expect(isError).toBe(true)
    expect(said).toMatchObject({ outcome: 'rejected', refusal: { reason: 'unavailable' } })
    expect(JSON.stringify(said)).not.toContain('10.0.0.7')
  })

  test('wrong arguments are named, never repeated, and reach no verb', async () => {
    const { isError, said } = await call('report_result', {
      request: 'r1',
      covers: [],
      text: 'BODY-CANARY\u0000',
      priority: 'high',
    })
    expect(isError).toBe(true)
    expect(said).toMatchObject({ outcome: 'rejected', refusal: { reason: 'bad-arguments' } })
    const where = JSON.stringify(said)
    for (const word of ['covers', 'text', 'priority']) expect(where).toContain(word)
    expect(where + JSON.stringify(logged)).not.toContain('CANARY')
    expect(door.fake.calls).toEqual([])
  })

  test.each([
    ['a caller cannot set a priority', 'ask_agent', { priority: 'high' }],
    ['a caller cannot replace the origin', 'ask_agent', { origin: { messageId: 'om_1' } }],
    ['a caller cannot name who calls', 'report_result', { agent: 'manager' }],
    ['deferred needs its condition', 'assess_request', { asks: [{ ask: 'a', judgment: 'deferred', reason: 'x' }] }],
    [
      'only deferred has a condition',
      'assess_request',
      { asks: [{ ask: 'a', judgment: 'accepted', reason: 'x', until: { owner: 'me', recheckAt: 1 } }] },
    ],
    ['a resubmit needs its window', 'declare_effect', { doubt: { by: 'resubmit' } }],
    ['half a character cannot be kept', 'ask_agent', { question: '\ud800' }],
    ['a key is visible ASCII', 'cancel_request', { key: 'a b' }],
    ['a revision is a whole number', 'cancel_request', { onRevision: 1.5 }],
    ['a revision has a last number', 'cancel_request', { onRevision: 2 ** 31 }],
  ])('%s', async (_, name, wrong) => {
    const { said } = await call(name, { ...must(fitting[name], name).given, ...wrong })
    expect(said['refusal']).toMatchObject({ reason: 'bad-arguments' })
    expect(door.fake.calls).toEqual([])
  })
})

describe('the identity of a command', () => {
  const eventIds = () => door.fake.calls.map((one) => String(one.said['eventId']))
  const raw = (id: number, given: object) =>
    door.post('/mcp', {
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'cancel_request', arguments: given },
    })

  test('a call that is sent again is the same command', async () => {
    for (let n = 0; n < 2; n++) expect((await raw(7, { request: 'r1', onRevision: 1 })).status).toBe(200)
    const [first, second] = eventIds()
    expect(first).toBe(second)
    const answer = (await (await raw(7, { request: 'r1', onRevision: 1 })).json()) as {
      result: { structuredContent: unknown }
    }
    expect(answer.result.structuredContent).toMatchObject({ outcome: 'already-applied' })
  })

  test('another call id, other arguments or another tool are other commands', async () => {
    await raw(11, { request: 'r1', onRevision: 1 })
    await raw(12, { request: 'r1', onRevision: 1 })
    await raw(11, { request: 'r1', onRevision: 2 })
    expect(new Set(eventIds()).size).toBe(3)
  })

  test('a key outlives the call: the same key is the same command whatever the call id', async () => {
    await raw(21, { request: 'r1', onRevision: 1, key: 'k' })
    await raw(22, { request: 'r1', onRevision: 1, key: 'k' })
    await raw(23, { request: 'r1', onRevision: 1, key: 'other' })
    const [first, second, third] = eventIds()
    expect(first).toBe(second)
    expect(third).not.toBe(first)
  })
})
