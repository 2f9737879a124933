import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Decision } from '../../src/collab/decision.js'
import type { ExchangeState } from '../../src/collab/exchange-state.js'
import type { RequestId } from '../../src/collab/refs.js'
import { decideAndCommit, type Command } from '../../src/exchange/exchange.js'
import { factsOf } from '../../src/stores/ledger/read.js'
import { acceptance } from '../kit/acceptance.js'
import { commandFor, histories, words } from '../kit/history.js'
import * as checks from '../kit/ledger-checks.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { boundedRuns } from '../kit/runs.js'
import { chronicleOn } from './chronicle.js'

let fresh: FreshDb
let count = 0
const nextRequest = () => `00000000-0000-7000-8000-${String(++count).padStart(12, '0')}` as RequestId

beforeAll(async () => {
  fresh = await freshDb({ max: 8 })
})
afterAll(async () => {
  await fresh.drop()
})

const forAll = (check: checks.Check, runs = 12) =>
  fc.assert(
    fc.asyncProperty(histories(6, 24), async (history) => check(await chronicleOn(fresh.db, nextRequest(), history))),
    boundedRuns(runs),
  )

describe('the ledger’s invariants on Postgres, over random histories of every command with several callers at once', () => {
  acceptance(
    'A7',
    'what stands in Postgres is what the pure core says, command by command, and every state is sound',
    async () => {
      await forAll(checks.everyStateIsSound, 40)
    },
  )

  acceptance(
    'A7',
    '1: one event id is appended once, with the same receipt for the same and a conflict for anything else',
    async () => {
      await forAll(checks.sayingItAgainIsTheSame)
    },
  )

  acceptance(
    'A7',
    '2: the head moves by one, and only by a revision; whoever saw another head is refused',
    async () => {
      await forAll(checks.headMovesByRevisionsAlone)
    },
  )

  acceptance(
    'A7',
    '3: decisions stand on the head, records of the past on their own attempt, and those are never stale',
    async () => {
      await forAll(checks.recordsBindToTheirAttempt)
    },
  )

  acceptance(
    'A7',
    '4: a correction or an expiry alone never releases the fence, and a reassignment only with proof',
    async () => {
      await forAll(checks.aCorrectionReleasesNoFence)
    },
  )

  acceptance('A7', '4: each release of a fence carries its proof', async () => {
    await forAll(checks.eachReleaseHasItsProof)
  })

  test('5: presented is not accepted, accepted is not completed, committed is not delivered', async () => {
    await forAll(checks.noAxisStandsForAnother)
  })

  test('6: an ask changes its place by the one fact that says so, and none is ever lost', async () => {
    await forAll(checks.noAskIsLost)
  })

  test('6: a completed turn covers exactly what it was shown, is still owed, and no child has or brought back since', async () => {
    await forAll(checks.aTurnCoversWhatItWasShown)
  })

  test('7 and 10: a turn that has ended is over, and no command in its name is taken', async () => {
    await forAll(checks.anEndedTurnIsOver)
  })

  acceptance('A7', '8: while a cancellation waits nothing new begins, and it waits for every effect', async () => {
    await forAll(checks.aCancellationWaitsForEffects)
  })

  test('9: a child comes back once with each result, and answers its parent’s asks only by a standing policy', async () => {
    await forAll(checks.aChildReturnsOncePerResult)
  })

  test('11: a deferral is due once, by its own fact, and starts no turn', async () => {
    await forAll(checks.aDeferralIsDueOnce)
  })

  test('11: the words of whoever asked end what waits for an answer, by a fact, and no other deferral', async () => {
    await forAll(checks.anAnswerEndsWhatWaitsForIt)
  })

  test('6 and 11: what a turn has put off, its last words do not answer', async () => {
    await forAll(checks.noTurnAnswersWhatItPutOff)
  })

  test('12: no presentation, receipt, judgment or outcome is there without the fact that says it', async () => {
    await forAll(checks.nothingIsInvented)
  })

  test('12: after a fact that we cannot read nothing is decided, whatever is said, and nothing throws', async () => {
    const anywhere = fc.record({
      history: histories(0, 8),
      said: fc.array(fc.record({ say: fc.constantFrom(...words), pick: fc.nat({ max: 11 }) }), {
        minLength: 4,
        maxLength: 8,
      }),
    })
    await fc.assert(
      fc.asyncProperty(anywhere, async ({ history, said }) => {
        const request = nextRequest()
        const { told } = await chronicleOn(fresh.db, request, history)
        const state = told.at(-1)?.state as ExchangeState
        await fresh.db.sql`
          insert into collab.observations
            (event_id, ordinal, request, seq, revision, actor, kind, v, payload, digest, evidence_refs, recorded_at)
          values (${`future-${request}`}, 0, ${request}, ${state.seq + 1}, ${state.head}, '{"kind":"host"}',
            'from-the-future', 7, '{}', 'd', '[]', 1)`
        const receipts = await Promise.all(
          said.flatMap((step, n) => {
            const one = commandFor(step, 900 + n, state, request, null)
            const decide = one?.decide as ((state: ExchangeState, command: Command) => Decision) | undefined
            if (one === null || decide === undefined) return []
            return [decideAndCommit({ db: fresh.db, wake: { kick: () => {} } }, one.command, decide)]
          }),
        )
        for (const receipt of receipts) expect(receipt).toMatchObject({ refusal: { reason: 'request-unreadable' } })
        expect(await factsOf(fresh.db.sql, request)).toHaveLength(state.seq + 1)
      }),
      boundedRuns(12),
    )
  })

  test('14: the receipts of another owner are kept exactly, and neither they nor a child move our revision', async () => {
    await forAll(checks.eachSideKeepsItsOwn)
  })

  test('16: no message, request, return or timer interrupts a running turn or releases its attempt', async () => {
    await forAll(checks.nothingInterruptsATurn)
  })

  acceptance(
    'A7',
    '17: no effect is declared on a passed basis before the receiver itself has resolved the correction',
    async () => {
      await forAll(checks.effectsWaitForTheReceiversResolution)
    },
  )

  test('17: what each revision asked stands, however often it was corrected', async () => {
    await forAll(checks.everyRevisionStands)
  })
})
