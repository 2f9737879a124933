import { expect } from 'vitest'
import { axesOf } from '../../src/collab/project/axes.js'
import {
  handedAsks,
  openEffects,
  untakenAsks,
  type AskState,
  type ExchangeState,
} from '../../src/collab/exchange-state.js'
import type { Fact, FactKind } from '../../src/collab/observation.js'
import type { AskId, AttemptId } from '../../src/collab/refs.js'
import { expectSound } from './sound.js'
import { decideOn, factsOfKind, pictureOf, type Chronicle, type Told } from './told.js'

/*
 * The invariants of one request, each as a check of what became of it; the number is the one in the ledger's list.
 * They look at chronicles of the pure core and of Postgres alike.
 */

export type Check = (chronicle: Chronicle) => void

const eachStep =
  (check: (one: Told) => void): Check =>
  ({ told }) =>
    told.slice(1).forEach(check)

export const everyStateIsSound: Check = ({ told }) => told.forEach(({ state }) => expectSound(state))

/** 1 */
export const sayingItAgainIsTheSame: Check = ({ asked }) => {
  for (const { said, before, decision } of asked) {
    const picture = pictureOf(before)
    const later = { ...said, command: { ...said.command, at: 9_999_999 as never } }
    const again = JSON.stringify(decideOn(before, later)).replaceAll('"at":9999999', '"at":1000')
    expect(again).toBe(JSON.stringify(decision))
    expect(pictureOf(before)).toBe(picture)
    if (decision.outcome === 'rejected') continue
    for (const fact of decision.facts) expect(fact.request).toBe(said.command.requestId)
  }
}

/** 2 */
export const headMovesByRevisionsAlone: Check = ({ told, asked }) => {
  for (const { said, before, decision } of asked) {
    const seen = said.command as { onRevision?: number | null; attempt?: { revision?: number } }
    const other = said.command.kind === 'relate-requests'
    const on = other ? null : (seen.onRevision ?? seen.attempt?.revision ?? null)
    if (on !== null && before.request !== null && on !== before.head) expect(decision.outcome).toBe('rejected')
  }
  for (const { before, state, facts } of told.slice(1)) {
    const revised = factsOfKind(facts, 'request-revised')
    expect(state.head - before.head).toBe(revised.length)
    for (const fact of revised) expect(fact.revision).toBe(before.head + 1)
  }
}

/** Facts about what comes, and records of what an attempt did. */
const aboutTheFuture: readonly FactKind[] = [
  ...(['attempt-assigned', 'turn-presented', 'assessed', 'asks-split', 'inbox-stored'] as const),
  ...(['context-provided', 'child-opened', 'cancel-requested', 'receiver-selected'] as const),
]
const ofItsAttempt: readonly FactKind[] = [
  ...(['turn-ended', 'effect-intended', 'effect-settled', 'work-linked'] as const),
  ...(['approval-refused', 'fence-released'] as const),
]
const recordsOfThePast = ['conclude-turn', 'end-turn', 'settle-effect', 'link-work', 'refuse-approval', 'report-result']

/** 3 */
export const recordsBindToTheirAttempt: Check = ({ told, asked }) => {
  for (const { before, state, facts } of told.slice(1)) {
    for (const fact of facts) {
      if (aboutTheFuture.includes(fact.kind)) expect(fact.revision).toBe(state.head)
      const attempt = fact.attempt === null ? undefined : state.attempts.get(fact.attempt)
      if (ofItsAttempt.includes(fact.kind)) expect(fact.revision).toBe(attempt?.revision)
      if (fact.kind !== 'result-committed' || attempt === undefined) continue
      const judged = [...(before.judged.get(attempt.target) ?? [])]
      const own = judged.filter(([ask]) => fact.result.covers.includes(ask)).map(([, one]) => one.revision)
      expect([attempt.revision, ...own]).toContain(fact.revision)
    }
  }
  for (const { said, before, decision } of asked) {
    if (decision.outcome === 'accepted' || before.request === null) continue
    if (recordsOfThePast.includes(said.command.kind)) expect(decision.refusal.reason).not.toBe('stale-revision')
  }
}

/** 4 */
export const aCorrectionReleasesNoFence: Check = eachStep(({ before, state, step, facts }) => {
  if (step === 'revise' || step === 'expire' || step === 'take-up') expect(state.fence).toBe(before.fence)
  if (step === 'assign' || step === 'consult') expect(before.fence ?? state.fence).toBe(state.fence)
  if (step !== 'reassign') return
  expect(before.running).toBeNull()
  expect(openEffects(before, null)).toEqual([])
  const released = factsOfKind(facts, 'fence-released').map((fact) => fact.attempt)
  if (before.fence !== null) expect(released).toContain(before.fence)
})

/** 4 */
export const eachReleaseHasItsProof: Check = eachStep(({ before, state, said, facts }) => {
  const kinds = facts.map((fact) => fact.kind)
  const covers = factsOfKind(facts, 'result-committed').some((fact) => fact.result.covers.length > 0)
  for (const fact of factsOfKind(facts, 'fence-released')) {
    const id = fact.attempt as AttemptId
    expect(before.attempts.get(id)?.released).toBeNull()
    expect(openEffects(state, id)).toEqual([])
    expect(state.running === null || state.turns.get(state.running)?.attempt !== id).toBe(true)
    switch (fact.because) {
      case 'terminal-result':
        expect(state.closed === 'resolved' || covers).toBe(true)
        break
      case 'cancel-acknowledged':
        expect(kinds).toContain('cancel-acknowledged')
        break
      case 'request-closed':
        expect(state.closed).not.toBeNull()
        break
      default:
        expect(['quiesce-attempt', 'reassign-request']).toContain(said.command.kind)
        expect(before.running).toBeNull()
    }
  }
})

/** 5 */
export const noAxisStandsForAnother: Check = eachStep(({ before, state, step, facts }) => {
  const { assignment, judgment, delivery } = axesOf(state, [])
  if (assignment === 'presented' && axesOf(before, []).assignment !== 'presented') {
    expect(facts.map((fact) => fact.kind)).toContain('turn-presented')
  }
  if (step === 'present') expect(state.assessment).toBe(before.assessment)
  if (step === 'accept' || step === 'no-change') {
    expect(judgment).not.toBe('resolved')
    expect(state.results).toEqual(before.results)
  }
  // Nothing was sent: no answer says more of itself than that it stands.
  expect(state.results.length === 0 ? ['none'] : ['none', 'result-committed']).toContain(delivery)
})

/** 6 */
export const noAskIsLost: Check = eachStep(({ before, state, facts }) => {
  const gone = [...before.asks.keys()].filter((ask) => !state.asks.has(ask))
  expect(gone).toEqual(factsOfKind(facts, 'asks-split').map((fact) => fact.of))
  for (const [ask, now] of state.asks) {
    const was = before.asks.get(ask)
    if (was === undefined) {
      expect(now.is).toBe('owed')
      expect(facts.some((fact) => brings(fact, ask))).toBe(true)
    } else if (JSON.stringify(was) !== JSON.stringify(now)) {
      expect(facts.some((fact) => moves(fact, ask, was, now, before))).toBe(true)
    }
  }
})

const brings = (fact: Fact, ask: AskId): boolean => {
  if (fact.kind === 'request-opened') return fact.opened.asks.some((one) => one.id === ask)
  if (fact.kind === 'request-revised') return fact.revised.asks.some((one) => one.id === ask)
  return fact.kind === 'asks-split' && fact.into.some((one) => one.id === ask)
}

/** Is this the fact that moves the ask from where it was to where it is? */
function moves(fact: Fact, ask: AskId, was: AskState, now: AskState, before: ExchangeState): boolean {
  const open = was.is === 'owed' || was.is === 'deferred'
  switch (fact.kind) {
    case 'result-committed':
      return now.is === 'covered' && now.by === fact.result.id && fact.result.covers.includes(ask)
    case 'child-returned':
      return now.is === 'covered' && fact.direct && before.children.get(fact.child)?.asks.includes(ask) === true
    case 'assessed': {
      const judgment = fact.asks.find((one) => one.ask === ask)?.judgment
      if (judgment === undefined || !open) return false
      return now.is === (judgment === 'rejected' || judgment === 'deferred' ? judgment : 'owed')
    }
    case 'deferral-due':
      return was.is === 'deferred' && now.is === 'owed' && fact.asks.includes(ask)
    case 'request-continued':
      return open && now.is === 'continued' && now.into === fact.into
    case 'request-rejected':
    case 'cancel-acknowledged':
      return open && now.is === 'rejected'
    default:
      return false
  }
}

/** 6 */
export const aTurnCoversWhatItWasShown: Check = eachStep(({ before, facts, step }) => {
  if (step !== 'conclude') return
  for (const { result, turn: id } of factsOfKind(facts, 'result-committed')) {
    const turn = id === null ? undefined : before.turns.get(id)
    const away = new Set([...handedAsks(before), ...untakenAsks(before)])
    const due = turn?.asks.filter((ask) => before.asks.get(ask)?.is === 'owed' && !away.has(ask)) ?? []
    const doubtful = openEffects(before, turn?.attempt ?? null).length > 0
    expect(result.covers).toEqual(doubtful ? [] : due)
  }
})

/** 7, and 10 in the ledger: whoever speaks in the name of a turn that is over is refused. */
export const anEndedTurnIsOver: Check = ({ told, asked }) => {
  for (const { said, before, decision } of asked) {
    const { turn } = said.command as { turn?: string | null }
    const ending = turn === undefined || turn === null ? null : (before.turns.get(turn as never)?.ending ?? null)
    if (ending !== null) expect(decision.outcome).toBe('rejected')
  }
  for (const { before, facts } of told) {
    for (const fact of facts) {
      const turn = 'turn' in fact && fact.turn !== null ? before.turns.get(fact.turn) : undefined
      expect(turn?.ending ?? null).toBeNull()
    }
  }
}

/** 8 */
export const aCancellationWaitsForEffects: Check = eachStep(({ before, facts }) => {
  if (before.cancel !== 'requested') return
  const begins: readonly FactKind[] = [
    ...(['attempt-assigned', 'turn-presented', 'effect-intended', 'child-opened'] as const),
    ...(['request-revised', 'assessed'] as const),
  ]
  for (const fact of facts) expect(begins).not.toContain(fact.kind)
  if (factsOfKind(facts, 'cancel-acknowledged').length === 0) return
  const settled = factsOfKind(facts, 'effect-settled').map((fact) => fact.effect)
  expect(openEffects(before, null).filter((effect) => !settled.includes(effect))).toEqual([])
})

/** 9 */
export const aChildReturnsOncePerResult: Check = ({ told }) => {
  const seen = new Set<string>()
  for (const { before, state, facts } of told) {
    for (const fact of factsOfKind(facts, 'child-returned')) {
      // What it works on after a correction comes back once more, also when that left its last result as it was.
      const key = `${fact.child} ${before.children.get(fact.child)?.revision} ${fact.result}`
      if (fact.result !== null) expect(seen.has(key)).toBe(false)
      seen.add(key)
      if (!fact.direct) expect(state.asks).toEqual(before.asks)
    }
    for (const fact of factsOfKind(facts, 'child-opened')) {
      const sender = before.request?.sender
      expect(sender?.kind === 'agent' && sender.agent === fact.target).toBe(false)
    }
  }
}

/** 11 */
export const aDeferralIsDueOnce: Check = eachStep(({ before, state, facts }) => {
  for (const fact of factsOfKind(facts, 'deferral-due')) {
    for (const ask of fact.asks)
      expect([before.asks.get(ask)?.is, state.asks.get(ask)?.is]).toEqual(['deferred', 'owed'])
  }
  // Nothing else but a judgment wakes it, and nothing starts a turn by it.
  for (const [ask, was] of before.asks) {
    if (was.is !== 'deferred' || state.asks.get(ask)?.is !== 'owed') continue
    expect(facts.some((fact) => fact.kind === 'deferral-due' || fact.kind === 'assessed')).toBe(true)
    expect(state.running).toBe(before.running)
  }
})

/** 11: the words of whoever asked are the answer for which an ask may wait, and end no other deferral. */
export const anAnswerEndsWhatWaitsForIt: Check = ({ told }) => {
  for (const { before, state, facts, step } of told.slice(1)) {
    const answers = factsOfKind(facts, 'request-revised').length > 0 || step === 'take-up'
    const waited = [...before.asks].flatMap(([ask, now]) => (now.is === 'deferred' ? [{ ask, now }] : []))
    for (const { ask, now } of answers ? waited : []) {
      const ended = now.until.condition.when === 'answer-from-owner'
      expect([ask, state.asks.get(ask)]).toEqual([ask, ended ? { is: 'owed' } : now])
      const due = factsOfKind(facts, 'deferral-due').flatMap((fact) => fact.asks)
      expect(due.includes(ask)).toBe(ended)
    }
    for (const fact of factsOfKind(facts, 'deferral-due')) {
      if (step !== 'due') expect([answers, fact.because]).toEqual([true, 'condition'])
    }
  }
}

/** 6 and 11: what a turn has put off, its last words do not answer, also when the ask is owed again by then. */
export const noTurnAnswersWhatItPutOff: Check = ({ told }) => {
  const putOff = new Map<string, Set<AskId>>()
  for (const { before, facts, step } of told) {
    const running = before.running ?? ''
    const own = putOff.get(running) ?? new Set()
    putOff.set(running, own)
    for (const fact of factsOfKind(facts, 'assessed')) {
      for (const one of fact.asks) if (one.judgment === 'deferred') own.add(one.ask)
    }
    if (step !== 'conclude') continue
    for (const { result, turn } of factsOfKind(facts, 'result-committed')) {
      const judged =
        turn === null
          ? undefined
          : before.judged.get(before.attempts.get(before.turns.get(turn)?.attempt as never)?.target as never)
      for (const ask of result.covers) {
        if (own.has(ask)) expect([ask, judged?.get(ask)?.judgment]).not.toEqual([ask, 'deferred'])
      }
    }
  }
}

/** 12 */
export const nothingIsInvented: Check = eachStep(({ before, state, facts }) => {
  const kinds = facts.map((fact) => fact.kind)
  for (const [id, effect] of state.effects) {
    const was = before.effects.get(id)
    if (was === undefined || was.became === effect.became) continue
    expect(factsOfKind(facts, 'effect-settled').map((fact) => [fact.effect, fact.became])).toContainEqual([
      id,
      effect.became,
    ])
  }
  if (state.provided.size > before.provided.size) expect(kinds).toEqual(['context-provided'])
  if (kinds.includes('context-provided')) expect(state.turns).toBe(before.turns)
  if (state.turns.size > before.turns.size) expect(kinds).toContain('turn-presented')
  if (state.work.length > before.work.length) expect(kinds).toEqual(['work-linked'])
  if (state.judged !== before.judged) expect(kinds).toContain('assessed')
})

/** 14 */
export const eachSideKeepsItsOwn: Check = ({ told }) => {
  const said = told.flatMap(({ said: { command } }) =>
    command.kind === 'link-work' ? [(command as unknown as { receipt: object }).receipt] : [],
  )
  const last = told.at(-1)?.state
  // Exact receipts of the other owner, none copied, none added, no revision of theirs taken for one of ours.
  expect(last?.work).toEqual(said)
  for (const { before, state, step } of told) {
    if (!['link-work', 'return-child', 'return-nothing', 'return-failed', 'open-child'].includes(step)) continue
    expect(state.head).toBe(before.head)
    expect(state.request).toEqual(before.request)
  }
}

const ofOthers =
  /^(revise|revise-child|edit|take-up|open-child|provide|store-inbox|link-work|split|select|wait|recall|due|expire|return-.*|hold|refuse-approval)$/

/** 16 */
export const nothingInterruptsATurn: Check = eachStep(({ before, state, step, facts }) => {
  if (before.running === null || !ofOthers.test(step)) return
  expect(state.running).toBe(before.running)
  expect(state.fence).toBe(before.fence)
  expect([...state.attempts]).toEqual([...before.attempts])
  expect(factsOfKind(facts, 'turn-ended')).toEqual([])
})

/** 17 */
export const effectsWaitForTheReceiversResolution: Check = eachStep(({ before, facts }) => {
  for (const fact of factsOfKind(facts, 'effect-intended')) {
    const attempt = fact.attempt === null ? undefined : before.attempts.get(fact.attempt)
    const judged = attempt === undefined ? [] : [...(before.judged.get(attempt.target)?.values() ?? [])]
    const resolved = judged.some((one) => one.revision === before.head)
    expect(attempt?.revision === before.head || resolved).toBe(true)
  }
})

/** 17: what was committed at a revision is as it was, however often it was corrected since. */
export const everyRevisionStands: Check = ({ told }) => {
  const asks = told.flatMap(({ facts }) =>
    facts.flatMap((fact) => {
      if (fact.kind === 'request-opened') return fact.opened.asks.map((ask) => ask.id)
      return fact.kind === 'request-revised' ? fact.revised.asks.map((ask) => ask.id) : []
    }),
  )
  const split = told.flatMap(({ facts }) => factsOfKind(facts, 'asks-split').map((fact) => fact.of))
  for (const ask of asks) if (!split.includes(ask)) expect(told.at(-1)?.state.asks.has(ask)).toBe(true)
}
