import { expect } from 'vitest'
import type { Decision, Receipt } from '../../src/collab/decision.js'
import { unopened, type ExchangeState } from '../../src/collab/exchange-state.js'
import type { Fact, Observation } from '../../src/collab/observation.js'
import type { RequestId } from '../../src/collab/refs.js'
import { decideAndCommit, type Command } from '../../src/exchange/exchange.js'
import type { Db } from '../../src/stores/db.js'
import { factsOf, stateOfRequest } from '../../src/stores/ledger/read.js'
import { applied } from '../kit/exchange.js'
import { commandFor, openingOf, type History, type Step } from '../kit/history.js'
import type { Said } from '../kit/history-aim.js'
import { decideOn, type Asked, type Chronicle, type Told } from '../kit/told.js'
import { expectRowsOf } from './rows.js'

/* A history on a real Postgres, with several callers at once. */

interface Call {
  readonly step: Step['say'] | 'open'
  readonly said: Said
  /** The same event id with other content. */
  readonly twisted: boolean
}

type Answered = Call & { readonly receipt: Receipt }

/** As many calls as stand together are made at once; some are made twice, some say something else under the same id. */
function volleysOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  const volleys: Step[][] = []
  for (const step of steps) {
    const last = volleys.at(-1)
    if (last === undefined || step.pick % 3 === 0) volleys.push([step])
    else last.push(step)
  }
  return volleys
}

const run = (db: Db, { said, twisted }: Call): Promise<Receipt> =>
  decideAndCommit(
    { db, wake: { kick: () => {} } },
    twisted ? ({ ...said.command, twisted } as Command) : said.command,
    said.decide as (state: ExchangeState, command: Command) => Decision,
  )

/**
 * Tells a history on Postgres and shows that it is what the pure core says: the accepted commands, in the order of
 * their facts, are decided over the folded state before them and give exactly the facts that stand there.
 *
 * @source ledger invariants 1, 2
 */
export async function chronicleOn(db: Db, request: RequestId, history: History): Promise<Chronicle> {
  const told: Told[] = []
  const asked: Asked[] = []
  let state = unopened(request)
  /** Event ids of which the twisted content was heard first. */
  const twisted = new Set<string>()
  let n = 0
  let last: Said | null = null
  const volley = async (calls: readonly Call[]) => {
    const seen = state.seq
    const answered = await Promise.all(
      calls.map(async (call): Promise<Answered> => ({ ...call, receipt: await run(db, call) })),
    )
    const facts = (await factsOf(db.sql, request)).filter((fact) => fact.seq > seen)
    for (const group of groupsOf(facts)) {
      const call = answered.find((one) => one.said.command.eventId === group[0]?.eventId)
      if (call === undefined) throw new Error('a fact that nobody asked for')
      const decision = decideOn(state, call.said)
      expect(decision.outcome === 'accepted' ? decision.facts : decision).toEqual(group.map(bare))
      const before = state
      state = applied(before, group.map(bare), group[0]?.eventId)
      asked.push({ said: call.said, before, decision })
      told.push({ step: call.step, said: call.said, before, facts: group.map(bare), state })
      last = call.said
    }
    for (const id of new Set(answered.map((one) => one.said.command.eventId))) {
      const calls = answered.filter((one) => one.said.command.eventId === id)
      if (calls.some((one) => one.twisted && one.receipt.outcome === 'accepted')) twisted.add(id)
      expectOneOf(calls, told.find((one) => one.said.command.eventId === id)?.state.seq ?? null, twisted.has(id))
    }
    // What was refused and did not wait for anybody is refused by the pure core over the same state, too.
    const [only] = answered
    if (answered.length === 1 && only !== undefined && only.receipt.outcome === 'rejected') {
      const decision = decideOn(state, only.said)
      expect(decision).toEqual({ outcome: 'rejected', refusal: only.receipt.refusal })
      asked.push({ said: only.said, before: state, decision })
    }
  }
  await volley([{ step: 'open', said: openingOf(history.opening, request), twisted: false }])
  for (const steps of volleysOf(history.steps)) {
    await volley(
      steps.flatMap((step) => {
        const said = commandFor(step, n++, state, request, last)
        if (said === null) return []
        const call = { step: step.say, said, twisted: false }
        const again = step.pick % 4 === 1 ? [call] : step.pick % 4 === 2 ? [{ ...call, twisted: true }] : []
        return [call, ...again]
      }),
    )
  }
  expect(await stateOfRequest(db.sql, request)).toEqual(state)
  await expectRowsOf(db, state)
  return { told, asked }
}

/**
 * 1: of all calls with one event id one is taken; the same again gets its receipt, anything else is a conflict.
 *
 * @param stands the last seq of its facts, or null when none was taken
 * @param twisted whether the other content was taken
 */
function expectOneOf(calls: readonly Answered[], stands: number | null, twisted: boolean): void {
  const outcomes = calls.map((one) => one.receipt.outcome)
  if (stands === null) {
    expect(outcomes).toEqual(calls.map(() => 'rejected'))
    return
  }
  expect(outcomes.filter((one) => one === 'accepted').length).toBeLessThanOrEqual(1)
  for (const { receipt, ...call } of calls) {
    // Refused before its turn came: a refusal is not recorded, and the same id is decided again.
    if (receipt.outcome === 'accepted' || receipt.outcome === 'rejected') continue
    expect(receipt.outcome).toBe(call.twisted === twisted ? 'already-applied' : 'conflict')
    if (receipt.outcome === 'already-applied') expect(receipt.seq).toBe(stands)
  }
}

/** Facts in the order of their seq, those of one command together. */
function groupsOf(facts: readonly Observation[]): readonly (readonly Observation[])[] {
  const groups: Observation[][] = []
  for (const fact of facts) {
    const last = groups.at(-1)
    if (last?.[0]?.eventId === fact.eventId) last.push(fact)
    else groups.push([fact])
  }
  return groups
}

function bare({ eventId: _event, ordinal: _ordinal, seq: _seq, ...fact }: Observation): Fact {
  return fact as Fact
}
