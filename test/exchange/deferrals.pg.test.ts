import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeferralCondition } from '../../src/collab/observation.js'
import type { AskId, Instant, Revision } from '../../src/collab/refs.js'
import { createPerformer } from '../../src/exchange/perform.js'
import type { Exchange } from '../../src/exchange/deps.js'
import { CONDITION_LOOK_MS } from '../../src/exchange/returns.js'
import { factsOf } from '../../src/stores/ledger/read.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { boundedRuns } from '../kit/runs.js'
import { overtaken } from './between.js'
import { agent, asksOf, event, openRoot, registered, rigOf, rootInTurn, stateOf, word } from './agents-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

type Step =
  | {
      readonly do: 'defer'
      readonly ask: number
      readonly until: 'at' | 'request-resolved' | 'agent-free' | 'note' | 'answer-from-owner'
      readonly inMs: number
    }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'other-ends' | 'agent-comes' | 'owner-answers' | 'work' }
  /** The wake runs, and before its `at`-th step the ask is put off anew. */
  | { readonly do: 'put-off-meanwhile'; readonly ask: number; readonly at: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('defer' as const),
      ask: fc.nat({ max: 2 }),
      until: fc.constantFrom(
        'at' as const,
        'request-resolved' as const,
        'agent-free' as const,
        'note' as const,
        'answer-from-owner' as const,
      ),
      inMs: fc.integer({ min: 1, max: 300_000 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 1_000, 40_000, 200_000) }),
  },
  { weight: 3, arbitrary: fc.constant({ do: 'work' as const }) },
  { weight: 1, arbitrary: fc.constantFrom({ do: 'other-ends' as const }, { do: 'agent-comes' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'owner-answers' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('put-off-meanwhile' as const),
      ask: fc.nat({ max: 2 }),
      at: fc.nat({ max: 6 }),
    }),
  },
)

interface Put {
  readonly condition: DeferralCondition
  readonly recheckAt: number
}

/** A request with three asks in the manager's turn; another request and an agent that can be waited for. */
async function begin() {
  let here = false
  const rig = rigOf(fresh.db, [])
  const x: Exchange = {
    ...rig.x,
    directory: {
      find: async (id) => registered(id, { reachable: here }),
      list: async () => [],
    },
  }
  const chat = `oc_${randomUUID()}`
  const { request, manager } = await rootInTurn(rig, 'One, two and three.', chat)
  const other = await rootInTurn(rig, 'Something else.')
  const [whole] = (await asksOf(rig, request)) as [AskId]
  const on = { request, onRevision: 1 as Revision }
  await rig.tools.split(manager, { eventId: event(), ...on, ask: whole, into: ['one', 'two', 'three'] })
  const asks = await asksOf(rig, request)
  const put = new Map<AskId, Put>()
  const defer = async (n: number, condition: DeferralCondition, inMs: number) => {
    const ask = asks[n] ?? ('none' as AskId)
    const until = { owner: 'manager', condition, recheckAt: (rig.clock.now() + inMs) as Instant }
    const judged = { ask, judgment: 'deferred' as const, reason: 'not yet', until }
    const receipt = await rig.tools.assess(manager, { eventId: event(), ...on, asks: [judged] })
    expect(word(receipt)).toBe('accepted')
    put.set(ask, { condition, recheckAt: until.recheckAt })
  }
  return {
    rig,
    request,
    asks,
    put,
    defer,
    conditionOf: (kind: Extract<Step, { do: 'defer' }>['until']): DeferralCondition => {
      if (kind === 'request-resolved') return { when: kind, request: other.request }
      if (kind === 'agent-free') return { when: kind, agent: agent('ben') }
      return kind === 'note' ? { when: kind, note: 'when it is quiet' } : { when: kind }
    },
    /** The manager says that another message of the owner belongs to it. */
    ownerAnswers: async () => {
      const { request: later } = await openRoot(rig, 'Like this.', chat)
      const said = { eventId: event(), earlier: request, later, onRevision: 1 as Revision, as: 'context' as const }
      expect(word(await rig.tools.relate(manager, said))).toBe('accepted')
    },
    holds: async ({ condition, recheckAt }: Put) =>
      recheckAt <= rig.clock.now() ||
      (condition.when === 'agent-free' && here) ||
      (condition.when === 'request-resolved' && (await stateOf(rig, other.request)).closed !== null),
    endOther: async () => {
      const { manager: m } = other
      await rig.tools.cancel(m, { eventId: event(), request: other.request, onRevision: 1 as Revision })
      // At its safe boundary.
      const asked = (await asksOf(rig, other.request))[0] ?? ('none' as AskId)
      const of = { request: other.request, onRevision: 1 as Revision }
      await rig.tools.assess(m, { eventId: event(), ...of, asks: [{ ask: asked, judgment: 'rejected', reason: 'no' }] })
    },
    agentComes: () => (here = true),
    /** Two workers, when the wake is due; `over` is what the first of them stands on. Says whether it was. */
    work: async (over: Exchange = x): Promise<boolean> => {
      const [wake] = await fresh.db.sql`
        select 1 from collab.wakes
        where subject = ${`due-${request}`} and state = 'pending' and due_at <= ${rig.clock.now()}`
      if (wake === undefined) return false
      const run = { kind: 'upkeep', subject: `due-${request}`, generation: 1, lastAttempt: false } as const
      const perform = (on: Exchange) => createPerformer(on).perform({ ...run, signal: new AbortController().signal })
      await Promise.all([perform(over), perform(x)])
      return true
    },
    x,
  }
}

type World = Awaited<ReturnType<typeof begin>>

/** Which asks were owed again so far, in order. */
async function dueIn({ request }: World): Promise<readonly AskId[]> {
  const facts = await factsOf(fresh.db.sql, request)
  return facts.flatMap((fact) => (fact.kind === 'deferral-due' ? fact.asks : []))
}

/** Whatever waits has its wake: at its recheck at the latest, and soon where a condition can be looked at. */
async function expectWake({ rig, request, put }: World): Promise<void> {
  const [wake] = await fresh.db.sql<{ dueAt: number; state: string }[]>`
    select due_at as "dueAt", state from collab.wakes where subject = ${`due-${request}`}`
  for (const { condition, recheckAt } of put.values()) {
    expect(wake?.state).toBe('pending')
    const looked = condition.when === 'agent-free' || condition.when === 'request-resolved'
    expect(wake?.dueAt).toBeLessThanOrEqual(
      Math.min(recheckAt, looked ? rig.clock.now() + CONDITION_LOOK_MS : Infinity),
    )
  }
}

describe('what is put off', () => {
  test('11: is owed again once, when its condition is seen to hold, the owner has answered or its recheck time comes, and never before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 18 }), async (steps) => {
        const world = await begin()
        const { rig, put } = world
        let due: readonly AskId[] = []
        /** After a step: each ask whose time had come with it is owed, said once, and nothing else is. */
        const expectDue = async (came: (one: Put) => boolean | Promise<boolean>, anew: AskId | null = null) => {
          const held: AskId[] = []
          for (const [ask, one] of put) if (ask !== anew && (await came(one))) held.push(ask)
          for (const ask of held) put.delete(ask)
          const now = await dueIn(world)
          const fresh = now.slice(due.length).filter((ask) => ask !== anew)
          expect(fresh.toSorted()).toEqual(held.toSorted())
          due = now
          const { asks } = await stateOf(rig, world.request)
          for (const [ask, { is }] of asks) expect([ask, is]).toEqual([ask, put.has(ask) ? 'deferred' : 'owed'])
        }
        const expectRun = (ran: boolean, anew: AskId | null = null) => expectDue((one) => ran && world.holds(one), anew)
        for (const one of steps) {
          if (one.do === 'defer') await world.defer(one.ask, world.conditionOf(one.until), one.inMs)
          if (one.do === 'advance') rig.clock.add(one.ms)
          if (one.do === 'other-ends') await world.endOther()
          if (one.do === 'agent-comes') world.agentComes()
          if (one.do === 'owner-answers') {
            await world.ownerAnswers()
            await expectDue(({ condition }) => condition.when === 'answer-from-owner')
          }
          if (one.do === 'work') await expectRun(await world.work())
          if (one.do === 'put-off-meanwhile') {
            let anew: AskId | null = null
            const db = overtaken(world.x.db, one.at, async () => {
              await world.defer(one.ask, { when: 'at' }, 900_000)
              anew = world.asks[one.ask] ?? null
            })
            await expectRun(await world.work({ ...world.x, db }), anew)
          } else await expectRun(false)
          await expectWake(world)
        }
        rig.clock.add(1_000_000)
        await expectRun(await world.work())
        expect(put.size).toBe(0)
      }),
      boundedRuns(20),
    )
  })
})
