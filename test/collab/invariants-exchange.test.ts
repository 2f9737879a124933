import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isOpen } from '../../src/collab/exchange-state.js'
import type { RequestId } from '../../src/collab/refs.js'
import { acceptance } from '../kit/acceptance.js'
import { often } from '../kit/runs.js'
import {
  cancellationsStayBelow,
  everyEndCameBack,
  everyRequestIsSound,
  nobodyWaitsInACircle,
  nothingRunsBelowACancelled,
  parentsAnswerThemselves,
} from '../kit/world-checks.js'
import { chainOf, deeds, live, type World } from '../kit/world.js'

const forAll = (check: (world: World) => void, runs = 300) =>
  fc.assert(
    fc.property(deeds, (history) => check(live(history))),
    often(runs),
  )

const facts = (world: World) => world.done.flatMap((one) => one.facts)

describe('the ledger’s invariants over random histories of several requests', () => {
  acceptance('A7', 'every request is sound after every deed, whatever its parents and children do', () => {
    forAll(({ done }) => done.forEach(({ after }) => everyRequestIsSound(after)), 200)
  })

  test('2: a deed touches one request, handing on opens one more, and only relating touches two that stood', () => {
    forAll(({ done }) => {
      for (const { deed, before, after, facts } of done) {
        const touched = new Set(facts.map((fact) => fact.request))
        expect(touched.size).toBeLessThanOrEqual(deed.do === 'relate' || deed.do === 'ask' ? 2 : 1)
        const moved = [...after].filter(([id, { head }]) => before.has(id) && before.get(id)?.head !== head)
        expect(moved.length).toBeLessThanOrEqual(1)
        for (const [id, state] of before) if (!touched.has(id)) expect(after.get(id)).toBe(state)
      }
    })
  })

  test('6: a message taken up elsewhere is owed there, ask by ask, and nowhere else', () => {
    forAll(({ done }) => {
      for (const { facts, before, after } of done) {
        for (const fact of facts) {
          if (fact.kind !== 'request-continued') continue
          const was = [...(before.get(fact.request)?.asks ?? [])].filter(([, ask]) => ask.is === 'owed')
          for (const [ask] of was) {
            expect(after.get(fact.request)?.asks.get(ask)).toEqual({ is: 'continued', into: fact.into })
          }
          const [old, now] = [before.get(fact.into)?.asks.size ?? 0, after.get(fact.into)?.asks.size ?? 0]
          expect(now - old).toBe(fact.as === 'context' ? 0 : was.length)
        }
      }
    })
  })

  test('9: every child that ended comes back exactly once, and its parent answers for itself', () => {
    forAll((world) => {
      everyEndCameBack(world.requests, facts(world))
      parentsAnswerThemselves(world.requests, facts(world))
    })
  })

  test('14: nothing that a child does or brings back moves its parent’s revision, words or receipts', () => {
    forAll(({ done }) => {
      for (const { deed, before, after } of done) {
        if (deed.do !== 'carry' && deed.do !== 'ask') continue
        for (const [id, was] of before) {
          const now = after.get(id)
          expect([now?.head, now?.request, now?.work]).toEqual([was.head, was.request, was.work])
        }
      }
    })
  })

  test('15: cancelling touches nothing but what came of the request, and all of that', () => {
    forAll((world) => {
      const asked = new Set<RequestId>()
      for (const { deed, facts, after } of world.done) {
        for (const fact of facts) {
          if (fact.kind === 'cancel-requested' && deed.do !== 'carry') asked.add(fact.request)
        }
        cancellationsStayBelow(after, asked)
      }
      nothingRunsBelowACancelled(world.requests)
    })
  })

  test('15: asking is refused exactly when it would close a circle of those who wait', () => {
    forAll((world) => {
      for (const { on, agent, target, refusal, before } of world.asks) {
        const state = before.get(on)
        if (state === undefined || refusal?.reason === 'asks-own-requester') continue
        const waiting = chainOf(before, state, agent).map((one) => one.agent)
        expect(refusal?.reason === 'wait-cycle').toBe(waiting.includes(target))
        if (refusal?.reason === 'wait-cycle') expect(refusal.through.at(-1)).toBe(on)
      }
      nobodyWaitsInACircle(world.requests)
    })
  })

  test('16: whatever happens at one request, the turns, fences and places of all others stay as they are', () => {
    forAll(({ done }) => {
      for (const { facts, before, after } of done) {
        const touched = new Set(facts.map((fact) => fact.request))
        for (const [id, was] of before) {
          const now = after.get(id)
          if (!touched.has(id)) expect(now).toBe(was)
          // What comes in from another request interrupts nothing, either.
          const fromOutside = facts.every((fact) =>
            ['child-returned', 'request-revised', 'child-opened'].includes(fact.kind),
          )
          if (touched.has(id) && fromOutside) expect([now?.running, now?.fence]).toEqual([was.running, was.fence])
        }
      }
    })
  })

  test('histories reach children of children, returns, circles and cancellations on the way down', () => {
    const reached = { depth: 0, returns: 0, circles: 0, down: 0, related: 0, open: 0 }
    fc.assert(
      fc.property(deeds, (history) => {
        const { done, asks, requests } = live(history)
        for (const id of requests.keys()) reached.depth = Math.max(reached.depth, id.split('.').length)
        reached.circles += asks.filter((one) => one.refusal?.reason === 'wait-cycle').length
        for (const { deed, facts } of done) {
          for (const fact of facts) {
            if (fact.kind === 'child-returned') reached.returns += 1
            if (fact.kind === 'cancel-requested' && deed.do === 'carry') reached.down += 1
            if (fact.kind === 'request-continued') reached.related += 1
          }
        }
        for (const state of requests.values()) reached.open += [...state.children.values()].filter(isOpen).length
      }),
      { numRuns: 300, seed: 7 },
    )
    expect(Math.min(...Object.values(reached))).toBeGreaterThan(2)
  })
})
