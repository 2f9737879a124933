import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import { decideCancel } from '../../src/collab/decide/control.js'
import { decideRevise } from '../../src/collab/decide/revise.js'
import type { Decision, Receipt } from '../../src/collab/decision.js'
import type { ExchangeState } from '../../src/collab/exchange-state.js'
import type { LaneId, RequestId } from '../../src/collab/refs.js'
import { decideAndCommit, type Command } from '../../src/exchange/exchange.js'
import { stateOfRequest } from '../../src/stores/ledger/read.js'
import { acceptance } from '../kit/acceptance.js'
import { accepting, assigning, at, cancelling, event, revising } from '../kit/exchange.js'
import { freshDb, type FreshDb } from '../kit/pg.js'

let fresh: FreshDb
let count = 0
const nextRequest = () => `00000000-0000-7000-8000-${String(++count).padStart(12, '0')}` as RequestId
const wake = { kick: () => {} }

beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(async () => {
  await fresh.drop()
})

const run = <C extends Command>(command: C, decide: (state: ExchangeState, command: C) => Decision): Promise<Receipt> =>
  decideAndCommit({ db: fresh.db, wake }, command, decide)

const outcomes = (receipts: readonly Receipt[]) =>
  receipts.map((receipt) => (receipt.outcome === 'rejected' ? receipt.refusal.reason : receipt.outcome)).toSorted()

async function opened(): Promise<RequestId> {
  const request = nextRequest()
  await run(accepting(null, request), decideAccept)
  return request
}

describe('races are decided by the database', () => {
  acceptance('A7', 'eight effectful attempts at once give one winner', async () => {
    const request = await opened()
    const receipts = await Promise.all(
      Array.from({ length: 8 }, (_, n) => run(assigning(`a${n}-${request}`, 1, true, request), decideAssign)),
    )
    expect(outcomes(receipts)).toEqual(['accepted', ...Array.from({ length: 7 }, () => 'fence-held')])
  })

  acceptance('A7', 'the same command eight times at once is applied once', async () => {
    const request = nextRequest()
    const receipts = await Promise.all(Array.from({ length: 8 }, () => run(accepting(null, request), decideAccept)))
    expect(outcomes(receipts)).toEqual(['accepted', ...Array.from({ length: 7 }, () => 'already-applied')])
    const again = receipts.find((receipt) => receipt.outcome === 'already-applied')
    expect(again).toMatchObject({ seq: 1, revision: 1 })
  })

  acceptance('A7', 'the same event id with other content is a conflict', async () => {
    const request = await opened()
    const receipt = await run({ ...accepting('late', request) }, decideAccept)
    expect(receipt.outcome).toBe('conflict')
  })

  test('the receive time is no part of what was said', async () => {
    const request = await opened()
    const receipt = await run({ ...accepting(null, request), at: at(9_999_999) }, decideAccept)
    expect(receipt.outcome).toBe('already-applied')
  })

  acceptance('A7', 'three revisions from one head give one winner', async () => {
    const request = await opened()
    const commands = ['x', 'y', 'z'].map((name) => ({ ...revising(2, request), eventId: event(`${request}-${name}`) }))
    const receipts = await Promise.all(commands.map((command) => run(command, decideRevise)))
    expect(outcomes(receipts)).toEqual(['accepted', 'stale-revision', 'stale-revision'])
  })

  test('facts written past the loop are refused by the database itself', async () => {
    const request = await opened()
    await run(assigning(`a-${request}`, 1, true, request), decideAssign)
    const { sql } = fresh.db
    await expect(
      sql`insert into collab.dispatch_attempts (id, request, revision, target, intent, effectful)
        values ('past-the-loop', ${request}, 1, 'manager', 'delegation', true)`,
    ).rejects.toMatchObject({ code: '23505', constraint_name: 'one_effectful_attempt_per_request' })
    for (const statement of [
      sql`update collab.observations set kind = 'x' where request = ${request}`,
      sql`delete from collab.observations where request = ${request}`,
      sql`update collab.request_revisions set kind = 'x' where request = ${request}`,
      sql`delete from collab.work_requests where id = ${request}`,
    ]) {
      await expect(statement).rejects.toMatchObject({ code: '23001' })
    }
  })

  test('an unknown kind of fact is shown and blocks decisions, and never throws', async () => {
    const request = await opened()
    await fresh.db.sql`
      insert into collab.observations (event_id, ordinal, request, seq, revision, actor, kind, v, payload, digest, evidence_refs, recorded_at)
      values (${`future-${request}`}, 0, ${request}, 2, 1, '{"kind":"host"}', 'from-the-future', 7, '{}', 'd', '[]', 1)`
    const state = await stateOfRequest(fresh.db.sql, request)
    expect(state.unreadable).toBe(true)
    const receipt = await run(assigning(`a-${request}`, 1, true, request), decideAssign)
    expect(outcomes([receipt])).toEqual(['request-unreadable'])
  })
})

describe('what belongs to a fact is put with it', () => {
  test('a wake is raised by each commit that needs it, and given back to be kicked', async () => {
    const request = nextRequest()
    const kicked: unknown[] = []
    const x = { db: fresh.db, wake: { kick: (wakes: readonly unknown[]) => void kicked.push(...wakes) } }
    const also = () => ({ wakes: [{ kind: 'turn' as const, subject: `lane-${request}`, dueAt: 5 }] })
    await decideAndCommit(x, accepting(null, request), decideAccept, also)
    await decideAndCommit(x, revising(2, request), decideRevise, also)
    expect(kicked).toEqual([
      { kind: 'turn', subject: `lane-${request}`, generation: 1 },
      { kind: 'turn', subject: `lane-${request}`, generation: 2 },
    ])
  })

  test('a refused command leaves nothing behind', async () => {
    const request = nextRequest()
    const receipt = await decideAndCommit({ db: fresh.db, wake }, cancelling(1, request), decideCancel, () => ({
      wakes: [{ kind: 'turn', subject: `never-${request}`, dueAt: 1 }],
      input: { lane: 'l' as LaneId, state: 'waiting', because: null, position: 1 },
    }))
    expect(outcomes([receipt])).toEqual(['request-unknown'])
    expect(await fresh.db.sql`select 1 from collab.wakes where subject = ${`never-${request}`}`).toHaveLength(0)
  })
})
