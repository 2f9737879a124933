import fc from 'fast-check'
import type { WorkCommand, WorkOutcome } from '../../src/collab/ports.js'
import type { AgentId } from '../../src/collab/refs.js'
import { claiming, commandOf, releasing, replanning, writing, type WorkUnderTest } from '../contracts/work-authority.js'

/** One step of a random history; numbers are resolved against what exists when it is taken. */
export type Step =
  | { readonly kind: 'say'; readonly by: number; readonly change: Wish; readonly operation: number | null }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'stop' | 'resume' }

type Wish =
  | { readonly kind: 'new'; readonly title: string }
  | {
      readonly kind: 'write'
      readonly todo: number
      readonly state: 'open' | 'done' | 'dropped'
      readonly behind: number
    }
  | { readonly kind: 'claim'; readonly todo: number; readonly leaseMs: number }
  | { readonly kind: 'release'; readonly todo: number; readonly epoch: number }
  | { readonly kind: 'replan'; readonly behind: number; readonly acceptance: string }

const few = fc.nat({ max: 2 })
const wish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('new' as const), title: fc.constantFrom('a', 'b', ' ') }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      todo: few,
      state: fc.constantFrom('open' as const, 'open' as const, 'done' as const, 'dropped' as const),
      behind: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      todo: few,
      leaseMs: fc.constantFrom(1_000, 5_000, 60_000, 1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('release' as const), todo: few, epoch: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('replan' as const),
      behind: fc.constantFrom(0, 1),
      acceptance: fc.constantFrom('', 'x', 'y'),
    }),
  },
)

export const history: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        kind: fc.constant('say' as const),
        by: fc.nat({ max: 3 }),
        change: wish,
        // Sometimes an operation that was used before.
        operation: fc.option(fc.nat({ max: 5 }), { nil: null, freq: 3 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 999, 1_000, 5_000) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('stop' as const, 'resume' as const) }) },
  ),
  { minLength: 5, maxLength: 40 },
)

export interface Taken {
  readonly command: WorkCommand
  readonly outcome: WorkOutcome
  readonly at: number
  readonly stopped: boolean
}

export interface Run extends WorkUnderTest {
  readonly on: string
  /** The last one is registered elsewhere. */
  readonly actors: readonly AgentId[]
  /** In the order of their creation. */
  readonly todos: string[]
}

/** One goal with one todo, three agents at it and one elsewhere. */
export async function beginRun(work: WorkUnderTest): Promise<Run> {
  const on = await work.goal()
  const other = await work.goal()
  const actors = [await work.agentAt(on), await work.agentAt(on), await work.agentAt(on), await work.agentAt(other)]
  const run = { ...work, on, actors, todos: [] }
  await say(run, actors[0] ?? NOBODY, writing('first'), `${on} first`)
  return run
}

/** Takes a history step by step; `seen` looks after each. */
export async function take(
  run: Run,
  steps: readonly Step[],
  seen: (taken: Taken) => Promise<void> = async () => {},
): Promise<readonly Taken[]> {
  const taken: Taken[] = []
  let stopped = false
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'advance') run.advance(step.ms)
    if ((step.kind === 'stop' && !stopped) || (step.kind === 'resume' && stopped)) {
      await (stopped ? run.resume(run.on) : run.stop(run.on))
      stopped = !stopped
    }
    if (step.kind !== 'say') continue
    const operation = `${run.on} ${step.operation ?? `fresh ${index}`}`
    const by = run.actors[step.by % run.actors.length] ?? NOBODY
    const { command, outcome } = await say(run, by, await changeOf(run, step.change), operation)
    const one = { command, outcome, at: run.now(), stopped }
    taken.push(one)
    await seen(one)
  }
  return taken
}

const NOBODY = 'nobody' as AgentId

async function say(run: Run, by: AgentId, change: WorkCommand['change'], operation: string) {
  const command = commandOf(by, run.on, change, operation)
  const outcome = await run.authority.apply(command)
  if (outcome.outcome === 'committed' && change.kind === 'todo-write' && change.todo === null)
    run.todos.push(outcome.receipt.refs[0]?.ref.slice('todo:'.length) ?? '')
  return { command, outcome }
}

async function changeOf(run: Run, said: Wish): Promise<WorkCommand['change']> {
  const id = 'todo' in said ? (run.todos[said.todo % run.todos.length] ?? 'nothing') : 'nothing'
  switch (said.kind) {
    case 'new':
      return writing(said.title)
    case 'write': {
      const todo = (await run.authority.todos(run.on)).find((one) => one.id === id)
      return writing('changed', { todo: id, state: said.state, onRevision: (todo?.revision ?? 1) - said.behind })
    }
    case 'claim':
      return claiming(id, said.leaseMs)
    case 'release':
      return releasing(id, said.epoch)
    case 'replan': {
      const vision = await run.authority.vision(run.on)
      return replanning('another way', said.acceptance, (vision?.revision ?? 1) - said.behind)
    }
  }
}
