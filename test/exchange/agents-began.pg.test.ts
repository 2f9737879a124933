import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import type { AgentRuntime, RuntimeSession, TurnEvent } from '../../src/collab/ports.js'
import { MANAGER, type AskId, type RequestId, type Revision, type TurnId } from '../../src/collab/refs.js'
import { createAgentTools } from '../../src/exchange/agents/tools.js'
import { laneOf } from '../../src/exchange/ids.js'
import { callerOf, toolAccess } from '../../src/exchange/tokens.js'
import { turn } from '../../src/exchange/turn.js'
import { must } from '../../src/lib/assert.js'
import { EventQueue } from '../../src/runtime/event-queue.js'
import { factsOf } from '../../src/stores/ledger/read.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { until } from '../kit/platform.js'
import { asksOf, event, openRoot, registered, rigOf, stateOf, word, type Rig } from './agents-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(async () => {
  await fresh.drop()
})

/** A runtime whose turn says only what it is told to say. */
function mute() {
  const events = new EventQueue(() => {})
  const stopped: TurnId[] = []
  const begun: string[] = []
  const session = {
    ref: { runtime: 'mute', id: 'session-1' },
    opened: 'new',
    effective: { runtime: 'mute', version: null, model: null, effort: null, realModel: true },
    turn: () => {
      begun.push('turn')
      return events
    },
    stop: async (id: TurnId) => {
      stopped.push(id)
      return 'stopped'
    },
  } as Partial<RuntimeSession> as RuntimeSession
  const runtime = {
    name: 'mute',
    abilities: new Set(),
    available: async () => ({ available: true }),
    open: async () => ({ outcome: 'opened', session }),
  } as AgentRuntime
  return { runtime, says: (...said: readonly TurnEvent[]) => said.forEach((one) => events.push(one)), stopped, begun }
}

/** A request whose turn is underway while its runtime has said nothing yet. */
async function silentTurn() {
  const agent = mute()
  const made = rigOf(fresh.db, [registered('anna')])
  const x = {
    ...made.x,
    toolsUrl: 'http://127.0.0.1:3000/mcp',
    runtimeFor: async () => agent.runtime,
    workspaces: { ensure: async () => '/nowhere', place: async () => '/nowhere' },
  }
  const rig: Rig = { ...made, x, tools: createAgentTools(x) }
  const { request, conversation } = await openRoot(rig, 'Please see to it.')
  const lane = laneOf(conversation)
  const running = turn(x, lane, { fence: 1, signal: new AbortController().signal, replayed: false })
  // Not before: until then no agent is there that could call anything.
  await until(() => agent.begun.length === 1, 'the turn')
  const { token } = await toolAccess(x, { agent: MANAGER, lane })
  const caller = (await callerOf(x, token)) as ToolCaller
  const ask = must((await asksOf(rig, request))[0], 'an ask') as AskId
  const end = async (...before: readonly TurnEvent[]) => {
    agent.says(...before, { kind: 'ended', ended: 'completed', final: 'Seen to.', conclusion: null })
    return await running
  }
  return { rig, request, lane, caller, ask, agent, end }
}

const accepting = (request: RequestId, ask: AskId) => ({
  eventId: event(),
  request,
  onRevision: 1 as Revision,
  asks: [{ ask, judgment: 'accepted' as const, reason: 'mine' }],
})
const kindsOf = async (request: RequestId) => (await factsOf(fresh.db.sql, request)).map((fact) => fact.kind)
const rowOf = async (request: RequestId) => {
  const [row] = await fresh.db.sql`select host_turn as host, effective from collab.turns where request = ${request}`
  return row
}

describe('a call of an agent in its running turn', () => {
  test('proves that the turn began: it is presented, and the call is decided after that', async () => {
    const { rig, request, caller, ask, end } = await silentTurn()
    expect(await kindsOf(request)).not.toContain('turn-presented')
    expect(word(await rig.tools.assess(caller, accepting(request, ask)))).toBe('accepted')
    const facts = await factsOf(fresh.db.sql, request)
    expect(facts.map((fact) => fact.kind).slice(-2)).toEqual(['turn-presented', 'assessed'])
    expect(facts.at(-2)).toMatchObject({
      turn: caller.turn,
      hostTurn: 'session-1',
      asks: [ask],
      actor: { kind: 'host' },
    })
    expect(facts.at(-1)).toMatchObject({ basis: 'presented' })
    expect(await rowOf(request)).toMatchObject({ host: 'session-1', effective: { realModel: true } })
    await end()
    expect((await stateOf(rig, request)).closed).toBe('resolved')
  })

  test('and the runtime’s own word afterwards are one presentation; its name for the turn is kept', async () => {
    const { rig, request, caller, agent, end } = await silentTurn()
    await rig.tools.show(caller, request)
    expect(await end({ kind: 'started', hostTurn: 'session-1:1' })).toMatchObject({ outcome: 'done' })
    const kinds = await kindsOf(request)
    expect(kinds.filter((kind) => kind === 'turn-presented')).toHaveLength(1)
    expect(await rowOf(request)).toMatchObject({ host: 'session-1:1' })
    expect(agent.stopped).toEqual([])
  })

  test('eight at once and the runtime’s word among them: one presentation, nothing refused', async () => {
    const { rig, request, caller, ask, agent, end } = await silentTurn()
    const calls = Array.from({ length: 8 }, () => rig.tools.assess(caller, accepting(request, ask)))
    agent.says({ kind: 'started', hostTurn: 'session-1:1' })
    expect((await Promise.all(calls)).map(word)).toEqual(calls.map(() => 'accepted'))
    await end()
    expect((await kindsOf(request)).filter((kind) => kind === 'turn-presented')).toHaveLength(1)
    expect(agent.stopped).toEqual([])
  })

  test('by an executor that was replaced proves nothing', async () => {
    const { rig, request, lane, caller, ask, end } = await silentTurn()
    await toolAccess(rig.x, { agent: MANAGER, lane })
    expect(word(await rig.tools.assess(caller, accepting(request, ask)))).toBe('stale-epoch')
    expect(await kindsOf(request)).not.toContain('turn-presented')
    await end({ kind: 'started', hostTurn: 'session-1:1' })
    expect(await kindsOf(request)).toContain('turn-presented')
  })

  test('of a request that was cancelled meanwhile presents nothing, and the call says why', async () => {
    const { rig, request, caller, ask, end } = await silentTurn()
    const cancelled = await rig.tools.cancel(
      { ...caller, turn: null },
      { eventId: event(), request, onRevision: 1 as Revision },
    )
    expect(word(cancelled)).toBe('accepted')
    expect(['request-closed', 'cancel-pending']).toContain(
      word(await rig.tools.assess(caller, accepting(request, ask))),
    )
    expect(await kindsOf(request)).not.toContain('turn-presented')
    await end()
  })
})
