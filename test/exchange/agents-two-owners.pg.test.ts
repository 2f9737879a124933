import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import type { WorkReceipt } from '../../src/collab/observation.js'
import type { WorkAuthority, WorkCommand, WorkOutcome } from '../../src/collab/ports.js'
import type { RequestId } from '../../src/collab/refs.js'
import { createAgentTools } from '../../src/exchange/agents/tools.js'
import { digestOf } from '../../src/lib/digest.js'
import { createSelectedWork, WorkSourceUnavailable } from '../../src/work/select.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { boundedRuns } from '../kit/runs.js'
import { canonicalOn } from '../work/kit.js'
import { attached, event, handOn, registered, rigOf, rootInTurn, stateOf, word } from './agents-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

type Mood = 'well' | 'answer-lost' | 'away'

/** An owner whose line can fail: what it committed without an answer stands there all the same. */
class Line implements WorkAuthority {
  mood: Mood = 'well'
  readonly heard: WorkCommand[] = []
  constructor(private readonly owner: WorkAuthority) {}

  async apply(command: WorkCommand): Promise<WorkOutcome> {
    if (this.mood === 'away') return { outcome: 'unavailable', because: 'it is away' }
    this.heard.push(command)
    const outcome = await this.owner.apply(command)
    return this.mood === 'answer-lost' ? { outcome: 'ambiguous', because: 'the answer was lost' } : outcome
  }
  async todos(goal: string) {
    if (this.mood === 'away') throw new WorkSourceUnavailable('it is away')
    return await this.owner.todos(goal)
  }
  async vision(goal: string) {
    if (this.mood === 'away') throw new WorkSourceUnavailable('it is away')
    return await this.owner.vision(goal)
  }
}

/** Another system: it names its objects and their revisions in its own way. */
class OtherSystem implements WorkAuthority {
  readonly committed = new Map<string, { readonly digest: string; readonly receipt: WorkReceipt }>()

  async apply(command: WorkCommand): Promise<WorkOutcome> {
    const known = this.committed.get(command.operation)
    if (known !== undefined) {
      const same = known.digest === digestOf(command)
      return same ? { outcome: 'already', receipt: known.receipt } : { outcome: 'conflict', because: 'said otherwise' }
    }
    const n = this.committed.size + 1
    const refs = [
      { ref: `loopx/todo/${n}`, revision: n % 2 === 0 ? 'unknown' : `sha-${n}` },
      { ref: 'loopx/board', revision: 'unknown' },
    ]
    const receipt = { owner: 'loopx', operation: command.operation, refs } as const
    this.committed.set(command.operation, { digest: digestOf(command), receipt })
    return { outcome: 'committed', receipt }
  }
  async todos(goal: string) {
    return [...this.committed.keys()].map(
      (id) => ({ id, goal, title: id, state: 'open', revision: 1, claim: null }) as const,
    )
  }
  async vision() {
    return null
  }
}

const OWNERS = ['canonical', 'loopx'] as const
type Step =
  | { readonly do: 'write' | 'link' | 'read' | 'again'; readonly owner: 0 | 1; readonly pick: number }
  | { readonly do: 'mood'; readonly owner: 0 | 1; readonly mood: Mood }

const owner = fc.constantFrom<0 | 1>(0, 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'write' as const,
        'write' as const,
        'link' as const,
        'link' as const,
        'read' as const,
        'again' as const,
      ),
      owner,
      pick: fc.nat({ max: 7 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('mood' as const),
      owner,
      mood: fc.constantFrom<Mood>('well', 'answer-lost', 'away'),
    }),
  },
)

async function begin() {
  const canonical = canonicalOn(fresh.db)
  const other = new OtherSystem()
  const lines = [new Line(canonical.authority), new Line(other)] as const
  const goals = [await canonical.goal(), await canonical.goal()] as const
  const agents = [await canonical.agentAt(goals[0]), await canonical.agentAt(goals[1])] as const
  await fresh.db.sql`update work.goals set source = 'loopx' where id = ${goals[1]}`
  const work = createSelectedWork({ sql: fresh.db.sql, sources: { canonical: lines[0], loopx: lines[1] } })
  const rig = rigOf(
    fresh.db,
    agents.map((name, n) => registered(name, { goal: goals[n] ?? '' })),
    work,
  )
  const root = await rootInTurn(rig, 'Please see to it.')
  const children: RequestId[] = []
  for (const receiver of agents) {
    children.push(await handOn(rig, root.manager, root.request, receiver, { intent: 'consultation' }))
  }
  return { rig, lines, other, goals, children, callers: agents.map((name) => attached(name)) }
}

const writing = (goal: string, title: string) =>
  ({ eventId: event(), goal, todo: null, title, state: 'open', onRevision: null }) as const

describe('requests whose work two systems own', () => {
  test('14: each receipt is kept exactly as its owner gave it, and a failure of one is never carried to the other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24 }), async (steps) => {
        const { rig, lines, other, goals, children, callers } = await begin()
        const calls = [[], []] as [ReturnType<typeof writing>[], ReturnType<typeof writing>[]]
        /** What each owner has said of each of its operations, and what was linked, in order. */
        const receipts = [new Map<string, WorkReceipt>(), new Map<string, WorkReceipt>()] as const
        const linked = [[], []] as [WorkReceipt[], WorkReceipt[]]
        for (const [n, one] of steps.entries()) {
          const at = one.owner
          const [line, goal, child] = [lines[at], goals[at], children[at] as RequestId]
          const caller = callers[at] as ToolCaller
          const before = [lines[0].heard.length, lines[1].heard.length]
          if (one.do === 'mood') line.mood = one.mood
          if (one.do === 'write' || one.do === 'again') {
            const old = calls[at][one.pick % Math.max(1, calls[at].length)]
            const call = one.do === 'again' && old !== undefined ? old : writing(goal, `todo ${n}`)
            calls[at].push(call)
            const outcome = await rig.tools.todoWrite(caller, call)
            const expected = { well: /^(committed|already)$/, 'answer-lost': /^ambiguous$/, away: /^unavailable$/ }
            expect(outcome.outcome).toMatch(expected[line.mood])
            if (outcome.outcome === 'committed' || outcome.outcome === 'already') {
              const { receipt } = outcome
              expect([receipt.owner, receipts[at].get(receipt.operation) ?? receipt]).toEqual([OWNERS[at], receipt])
              receipts[at].set(receipt.operation, receipt)
            }
          }
          if (one.do === 'link') {
            const receipt = [...receipts[at].values()][one.pick % Math.max(1, receipts[at].size)]
            if (receipt === undefined) continue
            const { operation } = receipt
            const known = linked[at].some((each) => each.operation === operation)
            const answer = await rig.tools.linkWork(caller, { eventId: event(), request: child, operation })
            expect(word(answer)).toBe(line.mood !== 'well' ? 'not-admitted' : known ? 'nothing-owed' : 'accepted')
            if (answer.outcome === 'accepted') linked[at].push(receipt)
          }
          if (one.do === 'read') {
            const reading = rig.tools.todoList(caller, goal)
            if (line.mood === 'away') await expect(reading).rejects.toThrow(WorkSourceUnavailable)
            else expect((await reading)?.every((todo) => todo.goal === goal)).toBe(true)
          }
          // The other one heard nothing of it.
          expect(lines[1 - at]?.heard.length).toBe(before[1 - at])
        }
        for (const at of [0, 1] as const) {
          expect(lines[at].heard.every((command) => command.goal === goals[at])).toBe(true)
          const { work, unreadable, head } = await stateOf(rig, children[at] as RequestId)
          expect([work, unreadable, head]).toEqual([linked[at], false, 1])
        }
        // Each operation was carried out once, by its owner alone.
        const operations = await fresh.db.sql`select operation from work.operations where goal = ${goals[1]}`
        const made = new Set(operations.map((row) => String(row['operation'])))
        expect([...other.committed.keys()].filter((operation) => made.has(operation))).toEqual([])
        const distinct = new Set(lines[1].heard.map((command) => command.operation))
        expect(new Set(other.committed.keys())).toEqual(distinct)
      }),
      boundedRuns(30),
    )
  })

  test('14: an owner that is not connected is named; nothing of the other one stands in for it', async () => {
    const { rig, goals, callers } = await begin()
    const canonical = canonicalOn(fresh.db).authority
    const x = { ...rig.x, work: createSelectedWork({ sql: fresh.db.sql, sources: { canonical } }) }
    const tools = createAgentTools(x)
    const answer = await tools.todoWrite(callers[1] as ToolCaller, writing(goals[1], 'elsewhere'))
    expect(answer).toMatchObject({ outcome: 'unavailable', because: expect.stringContaining('loopx') })
    await expect(tools.todoList(callers[1] as ToolCaller, goals[1])).rejects.toThrow(WorkSourceUnavailable)
    expect(await canonical.todos(goals[1])).toEqual([])
  })
})
