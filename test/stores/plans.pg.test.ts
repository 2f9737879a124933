import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type postgres from 'postgres'
import { decideAccept } from '../../src/collab/decide/accept.js'
import type { EventId, RequestId } from '../../src/collab/refs.js'
import { decideAndCommit } from '../../src/exchange/exchange.js'
import { requestOfMessage } from '../../src/stores/ledger/find.js'
import { factsOf, foldWithPrior } from '../../src/stores/ledger/read.js'
import { heldInputs, inputOf, nextInput } from '../../src/stores/turns/turns.js'
import { latestOf } from '../../src/stores/turns/stops.js'
import { listRequests } from '../../src/stores/views/requests.js'
import { claimWake, owedWakes } from '../../src/stores/wakes/wakes.js'
import { copyOf, loadCopies } from '../kit/copies.js'
import { accepting } from '../kit/exchange.js'
import { explained, type Plan } from '../kit/explained.js'
import { freshDb, type FreshDb } from '../kit/pg.js'

const REQUESTS = 4_000
const [request, conversation, lane] = [copyOf(1_042) as RequestId, 'c10', 'lane10']

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
  await decideAndCommit({ db: fresh.db, wake: { kick: () => {} } }, accepting(), decideAccept)
  await loadCopies(fresh.db.sql, { from: 0, to: REQUESTS, facts: 5 })
  const { sql } = fresh.db
  await sql`insert into collab.texts (digest, access_scope, body)
    select 'digest of ' || id, 'conversation:' || conversation, 'words' from collab.work_requests`
  await sql`insert into collab.deliveries
      (id, cause_kind, cause_id, route_key, route, bot, request, source, created_at, settled_at, outcome)
    select 'to-' || id, 'result', id, 'r', '{}', bot, id, '{}', opened_at, 1, 'verified' from collab.work_requests`
  await sql`insert into collab.delivery_parts
      (delivery, index, sub_index, key, msg_type, content, bytes, renderer, state, message_id)
    select id, 0, 0, id, 'text', '{}', 2, 't', 'verified', 'sent-' || id from collab.deliveries`
  await sql`insert into collab.audit_lines (id, at, who, act, subject)
    select 'line-' || id, 1, 'operator', 'retry', id from collab.deliveries`
  await sql`insert into collab.turns
      (id, lane, request, attempt, revision, runtime, holder, fence, started_at, ended_at, ended)
    select 'turn-' || id, 'lane-' || id, id, 'a-' || id, 1, 'rehearsal', 'h', 1, opened_at, opened_at, 'completed'
    from collab.work_requests`
  // A few of the many are owed.
  await sql`update collab.wakes set state = 'pending' where due_at % 400 = 0`
  await sql`update collab.turn_inputs set state = 'waiting', settled_at = null where position % 100 = 42`
  await sql`update collab.turn_inputs set state = 'held', because = 'deferred' where position % 100 = 43`
  await sql`analyze`
})
afterAll(() => fresh.drop())

/** The plans of everything that one read asks the database. */
async function plansOf(read: (sql: postgres.Sql) => Promise<unknown>): Promise<readonly Plan[]> {
  const { sql, plans } = explained(fresh.db.sql)
  await read(sql)
  expect(plans.length).toBeGreaterThan(0)
  return plans
}

const listing = { state: null, agent: null, after: null, limit: 20, bodies: 'asks' } as const
const now = 1_000_000_000_000

/** Each hot read with the indexes that it must go by. */
const hot: Readonly<Record<string, readonly [(sql: postgres.Sql) => Promise<unknown>, ...string[]]>> = {
  'fold one exchange': [(sql) => factsOf(sql, request), 'one_fact_per_seq'],
  'fold with the prior receipt': [
    (sql) => foldWithPrior(sql, request, `ev-${copyOf(1_043)}` as EventId),
    'one_fact_per_seq',
    'observations_event_id_ordinal_pk',
  ],
  'next input of a lane': [(sql) => nextInput(sql, lane), 'inputs_waiting'],
  sweep: [(sql) => owedWakes(sql, now, 0, 100), 'wakes_owed'],
  'list, newest page': [
    (sql) => listRequests(sql, { ...listing, conversation: null }),
    'work_requests_newest',
    'turns_of_request',
  ],
  'list of one conversation': [
    (sql) => listRequests(sql, { ...listing, conversation }),
    'work_requests_of_conversation',
  ],
  'the latest of a conversation': [(sql) => latestOf(sql, conversation, 20), 'work_requests_of_conversation'],
  'the wake of what was put off': [
    (sql) => claimWake(sql, 'accept', request, 'h', now, 1_000),
    'wakes_kind_subject_pk',
  ],
  'where what was put off stands': [(sql) => inputOf(sql, request), 'turn_inputs_pkey'],
  'what is put off in a lane': [(sql) => heldInputs(sql, lane, 'deferred'), 'inputs_waiting'],
  'whose message is answered': [
    (sql) => requestOfMessage(sql, 'cli_test', `sent-to-${request}`),
    'one_request_per_origin',
    'parts_by_message',
  ],
}

describe('with some thousand requests, by the plans of Postgres for what the code asks', () => {
  test('no hot read looks at a table whole; each goes by its index', async () => {
    for (const [name, [read, ...indexes]] of Object.entries(hot)) {
      const plans = await plansOf(read)
      expect([name, plans.flatMap((plan) => plan.wholeTables)]).toEqual([name, []])
      expect([name, plans.flatMap((plan) => plan.indexes)]).toEqual([name, expect.arrayContaining(indexes)])
    }
  })

  test('a plan that reads a table whole is seen', async () => {
    const [plan] = await plansOf((sql) => sql`select count(*) from collab.observations where payload = '{}'::jsonb`)
    expect(plan).toEqual({ wholeTables: ['observations'], indexes: [] })
  })
})
