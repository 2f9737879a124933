import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TodoView } from '../../src/collab/ports.js'
import { outcomeOfLoss } from '../../src/work/canonical/lost.js'
import { createCanonicalAuthority } from '../../src/work/canonical/authority.js'
import type { WorkSql } from '../../src/work/canonical/sql.js'
import { commandOf, revisionIn, workAuthorityContract, writing } from '../contracts/work-authority.js'
import { beginRun, history, take } from './histories.js'
import { modelOfWork } from './model.js'

workAuthorityContract('the decisions over plain maps', async () => modelOfWork())

describe('random histories of one goal', () => {
  test('A7 at most one claim of a todo stands, and its epochs count up from 1 without a gap', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const model = modelOfWork()
        const run = await beginRun(model)
        await take(run, steps, async () => {
          const todos = new Set(model.claims.map(({ todo }) => todo))
          for (const todo of todos) {
            const claims = model.claims.filter((claim) => claim.todo === todo)
            expect(claims.filter(({ ended }) => ended === null).length).toBeLessThanOrEqual(1)
            expect(claims.map(({ epoch }) => epoch)).toEqual(claims.map((_, index) => index + 1))
          }
        })
      }),
      { numRuns: 300 },
    )
  })

  test('A18 nobody takes, changes or ends what another holds while its lease runs', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const run = await beginRun(modelOfWork())
        let before: readonly TodoView[] = []
        await take(run, steps, async ({ command, outcome, at }) => {
          const named = 'todo' in command.change ? command.change.todo : null
          const held = before.find(({ id }) => id === named)?.claim ?? null
          if (outcome.outcome === 'committed' && held !== null && held.until > at)
            expect(held.agent).toBe(command.agent)
          before = await run.authority.todos(run.on)
        })
      }),
      { numRuns: 300 },
    )
  })

  test('revisions of a todo count up by one with each change, and by nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const run = await beginRun(modelOfWork())
        const revisions = new Map<string, number>(run.todos.map((id) => [`todo:${id}`, 1]))
        await take(run, steps, async ({ command, outcome }) => {
          const revision = outcome.outcome === 'committed' ? revisionIn(outcome, 'todo') : null
          if (revision !== null && outcome.outcome === 'committed') {
            const id = outcome.receipt.refs[0]?.ref ?? ''
            expect(revision).toBe((revisions.get(id) ?? 0) + 1)
            if (command.change.kind === 'todo-write' && command.change.todo !== null)
              expect(command.change.onRevision).toBe(revision - 1)
            revisions.set(id, revision)
          }
          for (const todo of await run.authority.todos(run.on))
            expect(todo.revision).toBe(revisions.get(`todo:${todo.id}`))
        })
      }),
      { numRuns: 300 },
    )
  })

  test('A15 an operation takes effect once: later it answers the same receipt or a conflict', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const model = modelOfWork()
        const run = await beginRun(model)
        const receipts = new Map<string, unknown>()
        let changes = model.changes.length
        await take(run, steps, async ({ command, outcome, stopped }) => {
          const known = receipts.get(command.operation)
          if (known !== undefined) expect(['already', 'conflict']).toContain(outcome.outcome)
          if (outcome.outcome === 'already') expect(outcome.receipt).toEqual(known)
          if (outcome.outcome === 'committed') {
            expect(stopped).toBe(false)
            expect(run.actors.indexOf(command.agent)).toBeLessThan(3)
            receipts.set(command.operation, outcome.receipt)
          } else expect(model.changes.length).toBe(changes)
          changes = model.changes.length
        })
      }),
      { numRuns: 300 },
    )
  })

  test('the histories reach what they are to show', async () => {
    const seen = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const model = modelOfWork()
        for (const { outcome } of await take(await beginRun(model), steps)) {
          const word = outcome.outcome === 'conflict' ? outcome.because.replace(/[\d:].*/, '') : outcome.outcome
          seen.set(word, (seen.get(word) ?? 0) + 1)
        }
        for (const change of model.changes) seen.set(change.kind, (seen.get(change.kind) ?? 0) + 1)
        for (const { ended } of model.claims) seen.set(`claim ${ended}`, (seen.get(`claim ${ended}`) ?? 0) + 1)
      }),
      { numRuns: 300, seed: 1 },
    )
    const wanted = [
      'committed',
      'already',
      'the goal is stopped',
      'not registered at this goal',
      'stale epoch ',
      'this operation was already carried out with other content',
      'claim-renewed',
      'claim-ended',
      'vision-put',
      'claim released',
      'claim finished',
      'claim lapsed',
    ]
    expect(wanted.filter((word) => (seen.get(word) ?? 0) < 5)).toEqual([])
  })
})

describe('a database that is away', () => {
  const failing = (error: Error) =>
    createCanonicalAuthority({
      sql: null as unknown as WorkSql, // never reached: the transaction fails first
      tx: async () => {
        throw error
      },
      clock: { now: () => 0 },
    }).apply(commandOf('a' as never, 'g', writing('x')))
  const coded = (code: string) => Object.assign(new Error('lost'), { code })

  test.each(['ECONNREFUSED', 'CONNECT_TIMEOUT', '57P03'])(
    '%s: nothing happened, so it is unavailable',
    async (code) => {
      expect(await failing(coded(code))).toMatchObject({ outcome: 'unavailable' })
    },
  )
  test.each(['CONNECTION_CLOSED', 'ECONNRESET', '57P01', '08006'])(
    'A15 %s: it may have happened, so it is ambiguous and never taken for a refusal',
    async (code) => {
      expect(await failing(coded(code))).toMatchObject({ outcome: 'ambiguous' })
    },
  )
  test('a bug stays an exception', async () => {
    await expect(failing(coded('42703'))).rejects.toThrow('lost')
    expect(outcomeOfLoss(new Error('wrapped', { cause: coded('ECONNREFUSED') }))).toMatchObject({
      outcome: 'unavailable',
    })
  })
})
