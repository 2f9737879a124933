import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import type { Observation } from '../../src/collab/observation.js'
import type { RequestId } from '../../src/collab/refs.js'
import { laneOf } from '../../src/exchange/ids.js'
import { TurnFault } from '../../src/exchange/end-turn.js'
import { factsOf, fold } from '../../src/stores/ledger/read.js'
import { nextInput } from '../../src/stores/turns/turns.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { until } from '../kit/platform.js'
import { expectSound } from '../kit/sound.js'
import { event, openRoot } from './agents-kit.js'
import { Killed, Killer, mortalDb } from './killing.js'
import { answers, finish, processOn, ScriptedRuntime } from './steer-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb({ max: 6 })
})
afterAll(() => fresh.drop())

interface History {
  readonly at: number
  readonly effect: 'before' | 'after'
  /** The agent takes the follow-up up as its own. */
  readonly relates: boolean
}

/** One life that ends at its `at`-th step, and another that does what is left. */
async function live({ at, effect, relates }: History) {
  const chat = `oc_${randomUUID()}`
  const killer = new Killer(at, effect)
  const idle = processOn(fresh.db)
  const { request, conversation } = await openRoot(idle, 'Count the herons.', chat)
  const lane = laneOf(conversation)
  let killed = false
  // It is killed no earlier than when there is something to put in.
  let armed = false
  const wait = <T>(work: () => Promise<T>) => (armed ? killer.wait(work) : work())
  const first = new ScriptedRuntime(true, wait)
  const arming = { wait: (work: () => PromiseLike<unknown>) => (armed ? killer.wait(work) : work()) } as Killer
  const dying = processOn(mortalDb(fresh.db, arming), first, 1)
  const { running, caller } = await dying.begin(lane, request)
  const { request: later } = await openRoot(idle, 'And the storks.', chat)
  const relate = async (from: ToolCaller, on: typeof dying) => {
    const onRevision = fold(request, await factsOf(fresh.db.sql, request)).head
    await on.tools.relate(from, { eventId: event(), earlier: request, later, onRevision, as: 'addition' })
  }
  armed = true
  try {
    await dying.look()
    if (relates && first.last.steered.length > 0) await relate(caller, dying)
    finish(first.last, answers('By the first.'))
    await running
  } catch (error) {
    if (!(error instanceof Killed)) throw error
    killed = true
  }
  // What a dead process still hears it cannot write.
  if (!first.last.ended) finish(first.last, answers('By nobody.'))
  await running.catch(() => {})
  // Whoever goes on has a claim of its own; it does what is owed until nothing is.
  const second = new ScriptedRuntime(true)
  const next = processOn(fresh.db, second, 2)
  next.clock.add(1_000_000)
  for (let n = 0; n < 6 && (await nextInput(fresh.db.sql, lane)) !== null; n += 1) {
    const begun = second.turns.length
    const job = next.run(lane)
    const over = job.then(
      () => true,
      (error: unknown) => {
        if (error instanceof TurnFault) return true
        throw error
      },
    )
    let ended = false
    void over.finally(() => (ended = true)).catch(() => {})
    await until(() => ended || second.turns.length > begun, 'a turn or its end')
    if (second.turns.length > begun) finish(second.last, answers('By the second.'))
    await over
  }
  return { request, later, killed, put: first.last.steered.length }
}

type Lived = Awaited<ReturnType<typeof live>> & { readonly history: string; readonly facts: readonly Observation[] }

/** Every step once, for an agent that takes the follow-up up and for one that leaves it. */
const all: Lived[] = []

beforeAll(async () => {
  for (const relates of [true, false]) {
    for (const effect of ['before', 'after'] as const) {
      for (let at = 0, killed = true; killed; at += 1) {
        const lived = await live({ at, effect, relates })
        const facts = [lived.request, lived.later].map((id) => factsOf(fresh.db.sql, id))
        all.push({ ...lived, history: `${relates} ${effect} ${at}`, facts: (await Promise.all(facts)).flat() })
        killed = lived.killed
      }
    }
  }
}, 300_000)

const stateIn = (one: Lived, id: RequestId) =>
  fold(
    id,
    one.facts.filter((fact) => fact.request === id),
  )
const steerOf = (one: Lived) => [...stateIn(one, one.later).steers.values()][0]?.became ?? 'not steered'

describe('a gateway that is killed while it puts a follow-up into a running turn', () => {
  acceptance('A23', 'wherever that is, nothing is lost: both messages are answered', () => {
    for (const one of all) {
      const [first, second] = [stateIn(one, one.request), stateIn(one, one.later)]
      expectSound(first)
      expectSound(second)
      expect(first.closed, one.history).toBe('resolved')
      expect(['resolved', 'continued'], one.history).toContain(second.closed)
    }
  })

  acceptance('A23', 'wherever that is, neither message is answered twice', () => {
    for (const { facts, history } of all) {
      const covered = facts.flatMap((fact) => (fact.kind === 'result-committed' ? fact.result.covers : []))
      expect(new Set(covered).size, history).toBe(2)
      expect(covered, history).toHaveLength(2)
    }
  })

  acceptance('A23', 'wherever that is, the words are put in once at most, and unknown arrival counts as none', () => {
    for (const one of all) {
      expect(one.put, one.history).toBeLessThanOrEqual(1)
      if (one.facts.some((fact) => fact.kind === 'turn-steered')) expect(steerOf(one), one.history).toBe('taken')
    }
  })

  test('these histories end before the intent, between it and the call, before its outcome and after it', () => {
    const reached = new Set(all.map((one) => `${one.killed ? 'killed' : 'lived'}, ${one.put}: ${steerOf(one)}`))
    expect([...reached].toSorted()).toEqual([
      'killed, 0: intended',
      'killed, 0: not steered',
      'killed, 1: intended',
      'killed, 1: taken',
      'lived, 1: taken',
    ])
  })
})
