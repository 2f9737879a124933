import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TodoView, WorkCommand } from '../../src/collab/ports.js'
import { canonicalJson } from '../../src/lib/digest.js'
import { claiming, commandOf, newOperation, releasing, writing } from '../contracts/work-authority.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { beginRun, history, take, type Run, type Taken } from './histories.js'
import { canonicalOn } from './kit.js'
import { modelOfWork } from './model.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb({ max: 10 })
})
afterAll(() => fresh.drop())

/** What happened, without the names that differ from run to run. */
function told(run: Run, taken: readonly Taken[], todos: readonly TodoView[]): string {
  const names = [run.on, ...run.actors, ...run.todos]
  const ordered = todos.toSorted((a, b) => run.todos.indexOf(a.id) - run.todos.indexOf(b.id))
  return names.reduce(
    (text, name, index) => text.replaceAll(new RegExp(`${name}(?![\\d])`, 'g'), `name ${index}`),
    canonicalJson({ taken: taken.map(({ outcome }) => outcome), ordered }),
  )
}

test('random histories end on Postgres as they end over plain maps', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const ends: string[] = []
      for (const open of [modelOfWork, () => canonicalOn(fresh.db)]) {
        const run = await beginRun(open())
        const taken = await take(run, steps)
        ends.push(told(run, taken, await run.authority.todos(run.on)))
      }
      expect(ends[1]).toEqual(ends[0])
    }),
    { numRuns: 40 },
  )
})

test('A7 commands of several agents at once leave one standing claim, epochs without a gap, one receipt each', async () => {
  const command = fc.record({
    by: fc.nat({ max: 2 }),
    change: fc.oneof(
      fc.record({ kind: fc.constant('claim' as const) }),
      fc.record({ kind: fc.constant('release' as const), epoch: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant('write' as const), onRevision: fc.integer({ min: 1, max: 3 }) }),
    ),
    twice: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 4, maxLength: 16 }), async (wishes) => {
      const run = await beginRun(canonicalOn(fresh.db))
      const first = run.actors[0]
      if (first === undefined) throw new Error('no actor')
      await run.authority.apply(commandOf(first, run.on, writing('one')))
      const [todo] = await run.authority.todos(run.on)
      if (todo === undefined) throw new Error('no todo')
      const commands = wishes.flatMap(({ by, change, twice }): readonly WorkCommand[] => {
        const said =
          change.kind === 'claim'
            ? claiming(todo.id)
            : change.kind === 'release'
              ? releasing(todo.id, change.epoch)
              : writing('changed', { todo: todo.id, onRevision: change.onRevision })
        const one = commandOf(run.actors[by] ?? first, run.on, said, newOperation())
        return twice ? [one, one] : [one]
      })
      const outcomes = await Promise.all(commands.map((one) => run.authority.apply(one)))
      const committed = commands.filter((_, index) => outcomes[index]?.outcome === 'committed')
      expect(new Set(committed.map(({ operation }) => operation)).size).toBe(committed.length)
      const receipts = await fresh.db.sql`select operation from work.operations where goal = ${run.on}`
      const known = new Set(receipts.map((row) => String(row['operation'])))
      expect(committed.filter(({ operation }) => !known.has(operation))).toEqual([])
      const claims = await fresh.db.sql<{ epoch: number; ended: string | null }[]>`
        select epoch, ended from work.claims where todo = ${todo.id} order by epoch`
      expect(claims.map(({ epoch }) => epoch)).toEqual(claims.map((_, index) => index + 1))
      expect(claims.filter(({ ended }) => ended === null).length).toBeLessThanOrEqual(1)
      const [after] = await run.authority.todos(run.on)
      const writes = committed.filter(({ change }) => change.kind === 'todo-write').length
      expect(after?.revision).toBe(1 + writes)
    }),
    { numRuns: 30 },
  )
})
