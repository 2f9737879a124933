import { describe, expect, test } from 'vitest'
import type { WorkAuthority, WorkCommand, WorkOutcome } from '../../src/collab/ports.js'
import type { AgentId } from '../../src/collab/refs.js'

/** A work owner with the operator's hand on it, so that a test can prepare goals and move the time. */
export interface WorkUnderTest {
  readonly authority: WorkAuthority
  /** A new active goal without agents and todos; acceptance as given. */
  goal(acceptance?: string): Promise<string>
  /** A new agent, registered at that goal. */
  agentAt(goal: string): Promise<AgentId>
  stop(goal: string): Promise<void>
  resume(goal: string): Promise<void>
  now(): number
  advance(ms: number): void
}

let operations = 0
export const newOperation = (): string => `op-${++operations}`

export function commandOf(
  agent: AgentId,
  goal: string,
  change: WorkCommand['change'],
  operation = newOperation(),
): WorkCommand {
  return { operation, agent, goal, change }
}

export const writing = (title: string, over: Partial<Extract<WorkCommand['change'], { kind: 'todo-write' }>> = {}) =>
  ({ kind: 'todo-write', todo: null, title, state: 'open', onRevision: null, ...over }) as const
export const claiming = (todo: string, leaseMs = 60_000) => ({ kind: 'todo-claim', todo, leaseMs }) as const
export const releasing = (todo: string, epoch: number) => ({ kind: 'todo-release', todo, epoch }) as const
export const replanning = (direction: string, acceptance: string, onRevision: number) =>
  ({ kind: 'vision-replan', direction, acceptance, onRevision }) as const

/** The revision that a receipt names for a kind of object: a todo's, or a lease's epoch. */
export function revisionIn(outcome: WorkOutcome, kind: string): number | null {
  if (outcome.outcome !== 'committed' && outcome.outcome !== 'already') return null
  const found = outcome.receipt.refs.findLast((ref) => ref.ref.startsWith(`${kind}:`))
  return found === undefined ? null : Number(found.revision)
}

const conflict = (words: RegExp) => ({ outcome: 'conflict', because: expect.stringMatching(words) as string })

/** What every work owner must do, whatever holds its state. */
export function workAuthorityContract(name: string, open: () => Promise<WorkUnderTest>): void {
  const begin = async () => {
    const work = await open()
    const goal = await work.goal()
    const agent = await work.agentAt(goal)
    const say = (change: WorkCommand['change'], by = agent, operation?: string) =>
      work.authority.apply(commandOf(by, goal, change, operation))
    const todo = async (title = 'find the leak') => {
      const before = new Set((await work.authority.todos(goal)).map(({ id }) => id))
      expect((await say(writing(title))).outcome).toBe('committed')
      const made = (await work.authority.todos(goal)).find(({ id }) => !before.has(id))
      if (made === undefined) throw new Error('the todo was committed and is not listed')
      return made.id
    }
    const view = async (id: string) => (await work.authority.todos(goal)).find((one) => one.id === id)
    return { ...work, goalOf: work.goal, goal, agent, say, todo, view }
  }

  describe(`work authority contract: ${name}`, () => {
    test('A16 a todo is written, changed at its revision, and refused at an older one', async () => {
      const { say, todo, view } = await begin()
      const id = await todo('find the leak')
      expect(await view(id)).toMatchObject({ title: 'find the leak', state: 'open', revision: 1, claim: null })
      const changed = await say(writing('find both leaks', { todo: id, onRevision: 1 }))
      expect(revisionIn(changed, 'todo')).toBe(2)
      expect(await say(writing('find no leak', { todo: id, onRevision: 1 }))).toEqual(conflict(/stale revision.* 2/))
      expect(await say(writing('find no leak', { todo: id, onRevision: null }))).toEqual(conflict(/revision/))
      expect(await view(id)).toMatchObject({ title: 'find both leaks', revision: 2 })
    })

    test('A15 the same operation again is answered from its receipt, another payload is a conflict', async () => {
      const { say, goal, authority, agent } = await begin()
      const operation = newOperation()
      const first = await say(writing('once'), agent, operation)
      const second = await say(writing('once'), agent, operation)
      expect(first.outcome).toBe('committed')
      expect(second).toEqual({ ...first, outcome: 'already' })
      expect(await say(writing('twice'), agent, operation)).toEqual(conflict(/other content/))
      expect((await authority.todos(goal)).map(({ title }) => title)).toEqual(['once'])
    })

    test('an operation is known in its own goal only', async () => {
      const { say, goalOf, agentAt, authority, agent } = await begin()
      const other = await goalOf()
      const there = await agentAt(other)
      const operation = newOperation()
      expect((await say(writing('here'), agent, operation)).outcome).toBe('committed')
      expect((await authority.apply(commandOf(there, other, writing('there'), operation))).outcome).toBe('committed')
    })

    test('a refusal is not recorded: the same operation is decided again', async () => {
      const { say, todo, agent, advance, agentAt, goal } = await begin()
      const id = await todo()
      const rival = await agentAt(goal)
      expect((await say(claiming(id, 60_000), rival)).outcome).toBe('committed')
      const operation = newOperation()
      expect((await say(claiming(id), agent, operation)).outcome).toBe('conflict')
      advance(60_000)
      expect((await say(claiming(id), agent, operation)).outcome).toBe('committed')
    })

    test('A7 of eight claimants at once one wins', async () => {
      const { say, todo, view, agentAt, goal } = await begin()
      const id = await todo()
      const claimants = await Promise.all(Array.from({ length: 8 }, () => agentAt(goal)))
      const outcomes = await Promise.all(claimants.map((one) => say(claiming(id), one)))
      const winners = claimants.filter((_, index) => outcomes[index]?.outcome === 'committed')
      expect(winners).toHaveLength(1)
      expect(outcomes.filter(({ outcome }) => outcome === 'conflict')).toHaveLength(7)
      expect((await view(id))?.claim).toMatchObject({ agent: winners[0], epoch: 1 })
    })

    test('A7 the same claim eight times at once is one claim', async () => {
      const { say, todo, agent } = await begin()
      const id = await todo()
      const operation = newOperation()
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => say(claiming(id), agent, operation)))
      expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
        ...Array.from({ length: 7 }, () => 'already'),
        'committed',
      ])
      expect(new Set(outcomes.map((outcome) => revisionIn(outcome, 'lease')))).toEqual(new Set([1]))
    })

    test('A7 of eight changes of one revision at once one wins', async () => {
      const { say, todo, view } = await begin()
      const id = await todo()
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => say(writing(`way ${n}`, { todo: id, onRevision: 1 }))),
      )
      expect(outcomes.filter(({ outcome }) => outcome === 'committed')).toHaveLength(1)
      expect((await view(id))?.revision).toBe(2)
    })

    test('a live claim is renewed by its holder under the same epoch, and never shortened', async () => {
      const { say, todo, view, now, advance } = await begin()
      const id = await todo()
      await say(claiming(id, 60_000))
      advance(30_000)
      const again = await say(claiming(id, 60_000))
      expect(revisionIn(again, 'lease')).toBe(1)
      const until = now() + 60_000
      expect((await view(id))?.claim).toMatchObject({ epoch: 1, until })
      await say(claiming(id, 1_000))
      expect((await view(id))?.claim).toMatchObject({ epoch: 1, until })
    })

    test('A18 a claim that ran out is taken over under the next epoch, and its old holder is refused', async () => {
      const { say, todo, view, advance, agentAt, goal, agent } = await begin()
      const id = await todo()
      await say(claiming(id, 60_000))
      const rival = await agentAt(goal)
      advance(59_999)
      expect(await say(claiming(id), rival)).toEqual(conflict(/claimed by/))
      advance(1)
      expect((await view(id))?.claim).toBeNull()
      expect(revisionIn(await say(claiming(id), rival), 'lease')).toBe(2)
      expect(await say(releasing(id, 1), agent)).toEqual(conflict(/stale epoch 1/))
      expect(await say(releasing(id, 2), agent)).toEqual(conflict(/stale epoch/))
      expect(await say(writing('mine', { todo: id, onRevision: 1 }), agent)).toEqual(conflict(/claimed by/))
      expect((await view(id))?.claim).toMatchObject({ agent: rival, epoch: 2 })
    })

    test('A18 whoever lost a claim writes again only after a fresh one, also when nobody else came', async () => {
      const { say, todo, advance } = await begin()
      const id = await todo()
      await say(claiming(id, 60_000))
      advance(60_000)
      expect(await say(writing('late', { todo: id, onRevision: 1 }))).toEqual(conflict(/stale epoch 1/))
      expect(revisionIn(await say(claiming(id)), 'lease')).toBe(2)
      expect((await say(writing('in time', { todo: id, onRevision: 1 }))).outcome).toBe('committed')
    })

    test('an epoch is never given twice, whatever ended the claim before', async () => {
      const { say, todo } = await begin()
      const id = await todo()
      await say(claiming(id))
      expect((await say(releasing(id, 1))).outcome).toBe('committed')
      expect(revisionIn(await say(claiming(id)), 'lease')).toBe(2)
      await say(writing('done', { todo: id, state: 'done', onRevision: 1 }))
      await say(writing('open again', { todo: id, state: 'open', onRevision: 2 }))
      expect(revisionIn(await say(claiming(id)), 'lease')).toBe(3)
    })

    test('closing a todo ends its claim, and a closed one cannot be claimed', async () => {
      const { say, todo, view } = await begin()
      const id = await todo()
      await say(claiming(id))
      expect((await say(writing('found', { todo: id, state: 'done', onRevision: 1 }))).outcome).toBe('committed')
      expect(await view(id)).toMatchObject({ state: 'done', revision: 2, claim: null })
      expect(await say(claiming(id))).toEqual(conflict(/the todo is done/))
    })

    test('A15 work changes only by agents registered at its goal', async () => {
      const { say, todo, view, goalOf, agentAt, authority, goal } = await begin()
      const id = await todo()
      const elsewhere = await goalOf()
      const stranger = await agentAt(elsewhere)
      for (const by of [stranger, 'nobody' as AgentId]) {
        for (const change of [writing('x'), claiming(id), releasing(id, 1), replanning('x', '', 1)])
          expect(await say(change, by)).toEqual(conflict(/^not registered at this goal$/))
      }
      // Nor through its own goal.
      const through = await authority.apply(commandOf(stranger, elsewhere, claiming(id)))
      expect(through).toEqual(conflict(/no such todo/))
      expect(await view(id)).toMatchObject({ revision: 1, claim: null })
      expect(await authority.todos(elsewhere)).toEqual([])
      expect((await authority.vision(goal))?.direction).toBe('')
    })

    test('a stopped goal takes no change until it is resumed, and still answers for what was done', async () => {
      const { say, todo, stop, resume, goal, agent, view } = await begin()
      const id = await todo()
      const operation = newOperation()
      await say(claiming(id), agent, operation)
      await stop(goal)
      for (const change of [writing('x'), claiming(id), releasing(id, 1), replanning('x', '', 1)])
        expect(await say(change)).toEqual(conflict(/^the goal is stopped$/))
      expect((await say(claiming(id), agent, operation)).outcome).toBe('already')
      expect(await view(id)).toMatchObject({ revision: 1 })
      await resume(goal)
      expect((await say(releasing(id, 1))).outcome).toBe('committed')
    })

    test('A16 a lane finds another way; what the goal must achieve stays', async () => {
      const { goalOf, agentAt, authority } = await begin()
      const goal = await goalOf('no leak in a day')
      const agent = await agentAt(goal)
      const say = (change: WorkCommand['change']) => authority.apply(commandOf(agent, goal, change))
      const before = await authority.vision(goal)
      if (before === null) throw new Error('the goal has no vision')
      const replanned = await say(replanning('measure first', 'no leak in a day', before.revision))
      expect(revisionIn(replanned, 'vision')).toBe(before.revision + 1)
      expect(await say(replanning('stop early', 'no leak in an hour', before.revision + 1))).toEqual(
        conflict(/amendment.*unsupported/),
      )
      expect(await say(replanning('guess', 'no leak in a day', before.revision))).toEqual(conflict(/stale revision/))
      expect(await authority.vision(goal)).toEqual({
        goal,
        direction: 'measure first',
        acceptance: 'no leak in a day',
        revision: before.revision + 1,
      })
    })

    test('A15 an unknown goal is a conflict and reads as nothing', async () => {
      const { authority, agent } = await begin()
      expect(await authority.apply(commandOf(agent, 'nowhere', writing('x')))).toEqual(conflict(/no such goal/))
      expect(await authority.todos('nowhere')).toEqual([])
      expect(await authority.vision('nowhere')).toBeNull()
    })

    test.each([
      ['an empty title', writing('  ')],
      ['a title that is too long', writing('x'.repeat(501))],
      ['a title that cannot be stored', writing('a\u0000b')],
      ['a todo that is not there', claiming('nothing')],
      ['a todo id that cannot be stored', claiming('a\u0000b')],
      ['an empty direction', replanning('', '', 1)],
      ['an acceptance that is too long', replanning('x', 'x'.repeat(16_001), 1)],
    ])('%s is refused and nothing is cut', async (_, change) => {
      const { say, authority, goal } = await begin()
      expect((await say(change)).outcome).toBe('conflict')
      expect(await authority.todos(goal)).toEqual([])
    })

    test.each([[0], [999], [Number.NaN], [1.5], [Number.POSITIVE_INFINITY], [8 * 86_400_000]])(
      'a lease of %d ms is refused',
      async (leaseMs) => {
        const { say, todo } = await begin()
        expect(await say(claiming(await todo(), leaseMs))).toEqual(conflict(/lease/))
      },
    )
  })
}
