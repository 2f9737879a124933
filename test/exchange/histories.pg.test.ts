import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import { MANAGER, type RequestId } from '../../src/collab/refs.js'
import { laneOf } from '../../src/exchange/ids.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { boundedRuns } from '../kit/runs.js'
import {
  above,
  cancellationsStayBelow,
  everyEndCameBack,
  everyRequestIsSound,
  nobodyWaitsInACircle,
  nothingRunsBelowACancelled,
  parentsAnswerThemselves,
  type States,
} from '../kit/world-checks.js'
import { expectRowsOf } from '../stores/rows.js'
import { Installation } from './histories.js'
import { acts, rivals, type Act, type Heard } from './history-acts.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb({ max: 8 })
})
afterAll(async () => {
  await fresh.drop()
})

/** `look` after each volley, `end` when every wake that crosses requests has run. */
const forAll = (
  check: {
    readonly look?: (here: Installation, heard: readonly Heard[]) => Promise<void>
    readonly end?: (here: Installation) => Promise<void>
  },
  runs = 10,
) =>
  fc.assert(
    fc.asyncProperty(acts(8, 36), async (history) => {
      const here = new Installation(fresh.db)
      await here.live(history, async (heard) => check.look?.(here, heard))
      await here.settle()
      await check.end?.(here)
    }),
    boundedRuns(runs),
  )

describe('the ledger’s invariants over the tools of agents, with several of them at once', () => {
  acceptance('A7', 'every request is sound at every moment, and its rows say what its facts say', async () => {
    await forAll({
      look: async (here) => everyRequestIsSound(await here.states()),
      end: async (here) => {
        for (const state of (await here.states()).values()) await expectRowsOf(fresh.db, state)
      },
    })
  })

  test('9: every child that ended comes back exactly once, and its parent answers for itself', async () => {
    await forAll({
      end: async (here) => {
        const [states, facts] = [await here.states(), await here.facts()]
        everyEndCameBack(states, facts)
        parentsAnswerThemselves(states, facts)
      },
    })
  })

  test('13: nobody sees a request, a word or an inbox that is not theirs, and cannot tell it from none', async () => {
    await forAll({
      end: async (here) => {
        const states = await here.states()
        for (const caller of here.callers()) {
          const visible = visibleTo(caller, states)
          const { tools } = here.rig
          const shown = new Map<RequestId, unknown>()
          for (const id of states.keys()) shown.set(id, await tools.show(caller, id))
          for (const [id, view] of shown) expect([id, view !== null]).toEqual([id, visible.has(id)])
          const listed = await tools.list(caller, { cursor: null, limit: 50 })
          const inbox = await tools.inboxRead(caller, { cursor: null, limit: 50 })
          for (const { id } of listed.items) expect(visible.has(id as RequestId)).toBe(true)
          for (const { request } of inbox.items) expect(visible.has(request)).toBe(true)
          const said = JSON.stringify([[...shown.values()], listed, inbox])
          const readable = readableTo(visible, states)
          for (const { mark, of, kind } of here.marks) {
            const mine = kind === 'message' ? readable.messages.has(of) : visible.has(of)
            if (!mine) expect(said.includes(mark) ? `${kind} of ${of} leaked` : '').toBe('')
          }
          for (const { caller: by, request, receipt } of here.heard) {
            if (by.agent !== caller.agent || by.lane !== caller.lane || visible.has(request)) continue
            expect(receipt).toEqual({ outcome: 'rejected', refusal: { reason: 'request-unknown' } })
          }
        }
      },
    })
  })

  test('15: cancelling touches nothing but what came of the request, and all of that', async () => {
    await forAll({
      look: async (here) => cancellationsStayBelow(await here.states(), here.cancelled),
      end: async (here) => nothingRunsBelowACancelled(await here.states()),
    })
  })

  test('15: nobody ever waits in a circle, and whoever would is told through which requests', async () => {
    await forAll({
      look: async (here, heard) => {
        const states = await here.states()
        nobodyWaitsInACircle(states)
        for (const { receipt, request } of heard) {
          if (receipt.outcome !== 'rejected' || receipt.refusal.reason !== 'wait-cycle') continue
          const { through } = receipt.refusal
          expect(through.at(-1)).toBe(request)
          expect([request, ...above(states, request)]).toEqual(expect.arrayContaining([...through]))
        }
      },
    })
  })

  test('16: no tool of anybody ends a running turn, moves a place in a lane or touches a claim', async () => {
    let before: unknown = null
    await forAll({
      look: async (here) => {
        const now = await placesOf(here)
        for (const [request, place] of Object.entries((before as typeof now | null)?.positions ?? {})) {
          if (now.positions[request] !== undefined) expect(now.positions[request]).toBe(place)
        }
        for (const state of (await here.states()).values()) {
          const open = now.turns.filter((turn) => turn.request === state.id).map((turn) => turn.id)
          expect(state.running === null ? [] : [state.running]).toEqual(open)
        }
        expect(now.work).toBe(0)
        before = now
      },
    })
  })
})

/** Two acts, the first overtaken by the second; then every wake runs. */
const overtaking = (firsts: readonly Act['say'][], seconds: readonly Act['say'][], runs: number) =>
  fc.assert(
    fc.asyncProperty(acts(0, 4), rivals(firsts, seconds), async (history, { first, second, at }) => {
      const here = new Installation(fresh.db)
      await here.live(history, async () => {})
      await here.overtake(first, second, at)
      await here.settle()
      const [states, facts] = [await here.states(), await here.facts()]
      everyRequestIsSound(states)
      for (const state of states.values()) await expectRowsOf(fresh.db, state)
      everyEndCameBack(states, facts)
      parentsAnswerThemselves(states, facts)
      cancellationsStayBelow(states, here.cancelled)
      nothingRunsBelowACancelled(states)
      nobodyWaitsInACircle(states)
    }),
    boundedRuns(runs),
  )

describe('an act that is overtaken by another one between two of its own steps', () => {
  acceptance('A7', '15: what is handed on while its request is cancelled is cancelled, too', async () => {
    await overtaking(['ask'], ['cancel'], 25)
  })

  acceptance('A7', 'leaves sound requests, every return made once, and nobody in a circle', async () => {
    const most: readonly Act['say'][] = ['ask', 'report', 'cancel', 'revise', 'reassign', 'relate', 'reject', 'carry']
    await overtaking(most, most, 20)
  })
})

/** What the rules of scope say, from the facts alone. */
function visibleTo(caller: ToolCaller, states: States): ReadonlySet<RequestId> {
  const had = (id: RequestId) =>
    [...(states.get(id)?.attempts.values() ?? [])].some((attempt) => attempt.target === caller.agent)
  return new Set(
    [...states].flatMap(([id, { request }]) => {
      if (request === null) return []
      if (caller.agent === MANAGER) return laneOf(request.conversation) === caller.lane ? [id] : []
      const asked = request.sender.kind === 'agent' && request.sender.agent === caller.agent
      return asked || had(id) || above(states, id).some(had) ? [id] : []
    }),
  )
}

/** The owners' own words that are attached to what one sees: of its root, and of messages that go on there. */
function readableTo(visible: ReadonlySet<RequestId>, states: States): { readonly messages: ReadonlySet<RequestId> } {
  const messages = new Set<RequestId>()
  for (const id of visible) messages.add(above(states, id).at(-1) ?? id)
  for (let grown = 0; grown !== messages.size;) {
    grown = messages.size
    for (const [id, state] of states) {
      for (const ask of state.asks.values()) if (ask.is === 'continued' && messages.has(ask.into)) messages.add(id)
    }
  }
  return { messages }
}

async function placesOf(here: Installation) {
  const ids = [...(await here.states()).keys()]
  const { sql } = fresh.db
  const inputs = await sql<{ request: string; position: number }[]>`
    select request, position from collab.turn_inputs where request = any(${ids})`
  const turns = await sql<{ id: string; request: string }[]>`
    select id, request from collab.turns where ended_at is null and request = any(${ids})`
  const [work] = await sql<{ count: number }[]>`
    select ((select count(*) from work.todos) + (select count(*) from work.claims))::int as count`
  return {
    positions: Object.fromEntries(inputs.map((row) => [row.request, row.position])) as Record<string, number>,
    turns: [...turns],
    work: work?.count ?? -1,
  }
}
