import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MANAGER, type AskId, type RequestId } from '../../src/collab/refs.js'
import { laneOf } from '../../src/exchange/ids.js'
import { callerOf, standingToken, toolAccess } from '../../src/exchange/tokens.js'
import { silentLogger } from '../../src/lib/log.js'
import { createAgentDoor } from '../../src/mcp/door.js'
import { factsOf } from '../../src/stores/ledger/read.js'
import { revokeToken } from '../../src/stores/tokens/tokens.js'
import { agent, asksOf, event, registered, rigOf, rootInTurn } from '../exchange/agents-kit.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { boundedRuns } from '../kit/runs.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

/** Executors of two seats: the manager's lane, and an attached worker. `which` picks an executor, oldest first. */
interface Step {
  readonly do: 'begin' | 'call' | 'read' | 'revoke'
  readonly seat: 0 | 1
  readonly which: number
  readonly door: 'http' | 'mcp'
}

const steps = fc.array(
  fc.record({
    do: fc.constantFrom<Step['do']>('begin', 'begin', 'call', 'call', 'call', 'call', 'read', 'revoke'),
    seat: fc.constantFrom<0 | 1>(0, 1),
    which: fc.nat({ max: 5 }),
    door: fc.constantFrom<Step['door']>('http', 'mcp'),
  }),
  { minLength: 4, maxLength: 24 },
)

interface Executor {
  readonly token: string
  readonly epoch: number
  revoked: boolean
}

/** The whole door on Postgres, a request in the manager's turn, and a part of it in the worker's hands. */
async function begin() {
  const name = `anna-${randomUUID().slice(0, 8)}`
  const made = rigOf(fresh.db, [registered(name)])
  const rig = { ...made, x: { ...made.x, toolsUrl: 'http://127.0.0.1:3000/mcp' } }
  const door = createAgentDoor({
    tools: rig.tools,
    caller: (bearer) => callerOf(rig.x, bearer),
    origins: () => [],
    version: '0.0.0',
    log: silentLogger,
  })
  const { request, conversation, manager } = await rootInTurn(rig, 'Please see to it.')
  const { child } = await rig.tools.ask(manager, {
    eventId: event(),
    request,
    receiver: agent(name),
    intent: 'consultation',
    asks: [],
    question: 'Is it so?',
    brief: '',
    refs: [],
    reason: 'knows it',
    direct: false,
  })
  const requests = [request, child as RequestId] as const
  const asks = [await asksOf(rig, requests[0]), await asksOf(rig, requests[1])] as const
  const lane = laneOf(conversation)
  const seats: readonly [Executor[], Executor[]] = [[], []]
  return {
    seats,
    async begin(seat: 0 | 1): Promise<Executor> {
      const { token } =
        seat === 0
          ? await toolAccess(rig.x, { agent: MANAGER, lane })
          : await standingToken(rig.x, { agent: agent(name), session: 'home' })
      const caller = await callerOf(rig.x, token)
      const executor = { token, epoch: 'epoch' in caller ? caller.epoch : 0, revoked: false }
      seats[seat].push(executor)
      return executor
    },
    revoke: (seat: 0 | 1, { epoch }: Executor) =>
      revokeToken(fresh.db.sql, seat === 0 ? `lane ${lane}` : `agent ${name} home`, epoch, rig.clock.now()),
    /** The worker has its context before it judges. */
    read: async (token: string): Promise<number> => (await door(httpCall(token, 'inbox_read', {}))).status,
    async call(seat: 0 | 1, token: string, through: Step['door']): Promise<boolean> {
      const given = {
        key: event(),
        request: requests[seat],
        onRevision: 1,
        asks: [{ ask: asks[seat][0] as AskId, judgment: 'accepted', reason: 'mine' }],
      }
      const response = await door(
        through === 'http' ? httpCall(token, 'assess_request', given) : mcpCall(token, 'assess_request', given),
      )
      const text = await response.text()
      if (response.status === 401) {
        expect(text).toMatch(/stale-epoch|unauthorized/)
        return false
      }
      return text.includes('"accepted"') && !text.includes('stale-epoch')
    },
    /** How often each of them really judged. */
    judged: async (seat: 0 | 1) =>
      (await factsOf(fresh.db.sql, requests[seat])).filter((fact) => fact.kind === 'assessed').length,
  }
}

const headers = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
})

const httpCall = (token: string, tool: string, given: object) =>
  new Request(`http://127.0.0.1/api/v1/agent/${tool}`, {
    method: 'POST',
    headers: headers(token),
    body: JSON.stringify(given),
  })

const mcpCall = (token: string, tool: string, given: object) =>
  new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: headers(token),
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: given } }),
  })

const stands = (executors: readonly Executor[], one: Executor): boolean =>
  executors.every((other) => other.epoch <= one.epoch) && !one.revoked

describe('executors that replace each other', () => {
  test('10: a call counts exactly when its executor is the newest of its seat and was not ended, through either door', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const world = await begin()
        const taken = [0, 0]
        await world.read((await world.begin(1)).token)
        await world.begin(0)
        for (const step of history) {
          const executors = world.seats[step.seat]
          const one = executors[step.which % executors.length]
          if (step.do === 'begin') await world.begin(step.seat)
          if (one === undefined) continue
          if (step.do === 'revoke') {
            await world.revoke(step.seat, one)
            one.revoked = true
          }
          if (step.do === 'read') expect(await world.read(one.token)).toBe(stands(executors, one) ? 200 : 401)
          if (step.do === 'call') {
            const counted = await world.call(step.seat, one.token, step.door)
            expect(counted).toBe(stands(executors, one))
            if (counted) taken[step.seat] = (taken[step.seat] ?? 0) + 1
          }
        }
        for (const seat of [0, 1] as const) expect(await world.judged(seat)).toBe(taken[seat])
      }),
      boundedRuns(15),
    )
  })

  test('10: of calls and replacements at once, only those leave anything that were taken, and none of an executor replaced before', async () => {
    const volley = fc.record({
      before: fc.nat({ max: 3 }),
      begins: fc.nat({ max: 3 }),
      calls: fc.array(fc.nat({ max: 6 }), { minLength: 2, maxLength: 8 }),
    })
    await fc.assert(
      fc.asyncProperty(volley, async ({ before, begins, calls }) => {
        const world = await begin()
        for (let n = 0; n <= before; n += 1) await world.begin(0)
        const old = world.seats[0].slice(0, -1).map((one) => one.token)
        const all = world.seats[0].map((one) => one.token)
        const answers = await Promise.all([
          ...calls.map(async (which, n) => {
            const token = all[which % all.length] ?? ''
            return { token, counted: await world.call(0, token, n % 2 === 0 ? 'http' : 'mcp') }
          }),
          ...Array.from({ length: begins }, async () => ({ token: (await world.begin(0)).token, counted: false })),
        ])
        for (const { token, counted } of answers) if (old.includes(token)) expect(counted).toBe(false)
        const counted = answers.filter((one) => one.counted).length
        if (begins === 0) expect(counted).toBe(calls.filter((which) => which % all.length === all.length - 1).length)
        expect(await world.judged(0)).toBe(counted)
      }),
      boundedRuns(15),
    )
  })
})
