import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evolve } from '../../src/collab/exchange-state.js'
import type { FactKind, Observation } from '../../src/collab/observation.js'
import type { Seq } from '../../src/collab/refs.js'
import { acceptance } from '../kit/acceptance.js'
import { R } from '../kit/exchange.js'
import { commandFor, histories, words } from '../kit/history.js'
import * as checks from '../kit/ledger-checks.js'
import { often } from '../kit/runs.js'
import { decideOn, tell } from '../kit/told.js'

const forAll = (check: checks.Check, runs = 400) =>
  fc.assert(
    fc.property(histories(4, 40), (history) => check(tell(history))),
    often(runs),
  )

describe('the ledger’s invariants over random histories of every command of one request', () => {
  acceptance(
    'A7',
    'every state is sound: one fence, one turn, each ask in one place, cancelled at a safe boundary',
    () => {
      forAll(checks.everyStateIsSound, 1_000)
    },
  )

  test('1: a command says the same again, whenever it is heard, and changes nothing by itself', () => {
    forAll(checks.sayingItAgainIsTheSame, 200)
  })

  test('2: the head moves by one, and only by a revision; whoever saw another head is refused', () => {
    forAll(checks.headMovesByRevisionsAlone)
  })

  test('3: decisions stand on the head, records of the past on their own attempt, and those are never stale', () => {
    forAll(checks.recordsBindToTheirAttempt)
  })

  acceptance(
    'A7',
    '4: a correction or an expiry alone never releases the fence, and a reassignment only with proof',
    () => {
      forAll(checks.aCorrectionReleasesNoFence)
    },
  )

  acceptance('A7', '4: each release of a fence carries its proof', () => {
    forAll(checks.eachReleaseHasItsProof)
  })

  test('5: presented is not accepted, accepted is not completed, committed is not delivered', () => {
    forAll(checks.noAxisStandsForAnother)
  })

  test('6: an ask changes its place by the one fact that says so, and none is ever lost', () => {
    forAll(checks.noAskIsLost)
  })

  test('6: a completed turn covers exactly what it was shown, is still owed, and no child has or brought back since', () => {
    forAll(checks.aTurnCoversWhatItWasShown)
  })

  test('7 and 10: a turn that has ended is over, and no command in its name is taken', () => {
    forAll(checks.anEndedTurnIsOver)
  })

  acceptance('A7', '8: while a cancellation waits nothing new begins, and it waits for every effect', () => {
    forAll(checks.aCancellationWaitsForEffects)
  })

  test('9: a child comes back once with each result, and answers its parent’s asks only by a standing policy', () => {
    forAll(checks.aChildReturnsOncePerResult)
  })

  test('11: a deferral is due once, by its own fact, and starts no turn', () => {
    forAll(checks.aDeferralIsDueOnce)
  })

  test('11: the words of whoever asked end what waits for an answer, by a fact, and no other deferral', () => {
    forAll(checks.anAnswerEndsWhatWaitsForIt)
  })

  test('6 and 11: what a turn has put off, its last words do not answer', () => {
    forAll(checks.noTurnAnswersWhatItPutOff, 1_000)
  })

  test('12: no presentation, receipt, judgment or outcome is there without the fact that says it', () => {
    forAll(checks.nothingIsInvented)
  })

  test('12: after a fact that we cannot read nothing is decided, whatever is said', () => {
    const anywhere = fc.record({
      history: histories(0, 20),
      word: fc.constantFrom(...words),
      pick: fc.nat({ max: 11 }),
    })
    fc.assert(
      fc.property(anywhere, ({ history, word, pick }) => {
        const { state } = tell(history).told.at(-1) ?? { state: null }
        if (state === null) return
        const unknown = { kind: 'unreadable-fact', storedKind: 'x', storedVersion: 9, seq: (state.seq + 1) as Seq }
        const unreadable = evolve(state, { ...unknown, request: R } as unknown as Observation)
        expect(unreadable).toEqual({ ...state, seq: state.seq + 1, unreadable: true })
        const said = commandFor({ say: word, pick }, 99, unreadable, R, null)
        const refused = said === null ? null : decideOn(unreadable, said)
        expect(refused).toEqual({ outcome: 'rejected', refusal: { reason: 'request-unreadable' } })
      }),
      often(1_000),
    )
  })

  test('14: the receipts of another owner are kept exactly, and neither they nor a child move our revision', () => {
    forAll(checks.eachSideKeepsItsOwn)
  })

  test('16: no message, request, return or timer interrupts a running turn or releases its attempt', () => {
    forAll(checks.nothingInterruptsATurn)
  })

  acceptance(
    'A7',
    '17: no effect is declared on a passed basis before the receiver itself has resolved the correction',
    () => {
      forAll(checks.effectsWaitForTheReceiversResolution, 1_000)
    },
  )

  test('17: what each revision asked stands, however often it was corrected', () => {
    forAll(checks.everyRevisionStands)
  })

  test('histories reach every kind of fact and every command', () => {
    const reached = new Set<FactKind>()
    const taken = new Set<string>()
    fc.assert(
      fc.property(histories(4, 40), (history) => {
        for (const { facts, step } of tell(history).told) {
          taken.add(step)
          for (const fact of facts) reached.add(fact.kind)
        }
      }),
      { numRuns: 3_000, seed: 7 },
    )
    expect(words.filter((word) => !taken.has(word))).toEqual(['open-again'])
    expect([...reached].toSorted()).toEqual(everyKind)
  })
})

const everyKind: readonly FactKind[] = [
  ...(['approval-refused', 'asks-split', 'assessed', 'attempt-assigned', 'cancel-acknowledged'] as const),
  ...([
    'cancel-requested',
    'child-opened',
    'child-returned',
    'child-revised',
    'context-provided',
    'deferral-due',
  ] as const),
  ...(['effect-intended', 'effect-settled', 'failure-handed-over', 'fence-released', 'inbox-stored'] as const),
  ...(['receiver-selected', 'receiver-waits', 'request-continued', 'request-expired', 'request-held'] as const),
  ...(['request-opened', 'request-rejected', 'request-released', 'request-revised', 'result-committed'] as const),
  ...([
    'result-withheld',
    'sent-outside',
    'trigger-recalled',
    'turn-ended',
    'turn-presented',
    'withheld-settled',
    'work-linked',
  ] as const),
]
