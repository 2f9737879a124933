import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import type { AgentRuntime, RuntimeSession, TurnInput } from '../../src/collab/ports.js'
import type { Instant, LaneId, RequestId, ResultId, TextDigest, TurnId } from '../../src/collab/refs.js'
import type { Exchange } from '../../src/exchange/deps.js'
import { decideAndCommit } from '../../src/exchange/exchange.js'
import { digestOfText, laneOf } from '../../src/exchange/ids.js'
import { createPerformer, recover } from '../../src/exchange/perform.js'
import { factsOf, fold } from '../../src/stores/ledger/read.js'
import { openTurns } from '../../src/stores/turns/turns.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { boundedRuns, propertyTimeoutMs } from '../kit/runs.js'
import { expectSound } from '../kit/sound.js'
import { word, openRoot } from './agents-kit.js'
import { Killed, Killer, mortalChannel, mortalDb } from './killing.js'
import { FakeChannel, TestClock, testExchange } from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb({ max: 6 })
})
afterAll(() => fresh.drop())

/** One process: what is written meanwhile, and where it is killed; it may be another machine that goes on. */
interface Life {
  readonly messages: number
  readonly at: number
  readonly effect: 'before' | 'after'
  readonly elsewhere: boolean
}

const life: fc.Arbitrary<Life> = fc.record({
  messages: fc.nat({ max: 2 }),
  at: fc.nat({ max: 110 }),
  effect: fc.constantFrom('before', 'after'),
  elsewhere: fc.boolean(),
})

/** A runtime whose every event is something that its process waits for; each run of it says other words. */
function runtimeOf(killer: Killer, said: Map<TurnId, string>): AgentRuntime {
  const effective = { runtime: 'test', version: null, model: null, effort: null, realModel: true }
  const happens = () => killer.wait(async () => {})
  return {
    name: 'test',
    abilities: new Set(),
    available: async () => ({ available: true }),
    open: async () => {
      await happens()
      const session: RuntimeSession = {
        ref: { runtime: 'test', id: randomUUID() },
        opened: 'new',
        effective,
        async *turn({ turn }: TurnInput) {
          await happens()
          yield { kind: 'started', hostTurn: `host-${turn}` } as const
          // Most of what a process lives through is a turn that runs.
          for (let n = 0; n < 40; n += 1) {
            await happens()
            yield { kind: 'activity', activity: 'thinking' } as const
          }
          await happens()
          const final = `answer ${randomUUID()}`
          said.set(turn, final)
          yield { kind: 'ended', ended: 'completed', final, conclusion: null } as const
        },
        lookUp: async () => ({ known: 'unknown' }) as const,
        steer: async () => 'unsupported',
        stop: async () => 'stopped',
        answer: async () => {},
        close: async () => ({ executor: 'gone' }),
      }
      return { outcome: 'opened', session }
    },
  }
}

class Installation {
  readonly clock = new TestClock()
  readonly requests: RequestId[] = []
  /** The last words of each turn whose runtime came to its end. */
  readonly said = new Map<TurnId, string>()
  killed = 0
  private readonly chat = `oc_${randomUUID()}`
  private readonly holder = `h-${randomUUID()}`
  private readonly channel = new FakeChannel(this.clock)
  lane = '' as LaneId

  private process(killer: Killer, holder: string): Exchange {
    const x = testExchange(mortalDb(fresh.db, killer), this.clock, mortalChannel(this.channel, killer))
    const runtime = runtimeOf(killer, this.said)
    const workspaces = { ensure: async () => '/nowhere', place: async () => '/nowhere' }
    return { ...x, holder, runtime, runtimeFor: async () => runtime, workspaces }
  }

  async write(): Promise<void> {
    const { request, conversation } = await openRoot(
      { x: this.calm(), clock: this.clock, tools: {} as never },
      'Please.',
      this.chat,
    )
    this.requests.push(request)
    this.lane = laneOf(conversation)
  }

  private calm = () => testExchange(fresh.db, this.clock, this.channel)

  /** A process starts, recovers and does what is owed, until nothing is or it is killed. */
  async live({ at, effect, elsewhere }: Life): Promise<void> {
    const x = this.process(new Killer(at, effect), elsewhere ? `${this.holder}-2` : this.holder)
    try {
      await recover(x)
      for (let wake = await this.due(); wake !== null; wake = await this.due()) {
        const run = { ...wake, generation: 1, lastAttempt: false, signal: new AbortController().signal }
        const outcome = await createPerformer(x).perform(run)
        if (outcome.outcome === 'later') this.clock.set(outcome.at)
        else if (outcome.outcome === 'done' && outcome.note.startsWith('held')) this.clock.add(x.settings.holdMs + 1)
      }
    } catch (error) {
      if (!(error instanceof Killed)) throw error
      this.killed += 1
    }
  }

  /** The wake of the lane or of a request of this installation that is owed; deliveries are for others to test. */
  private async due(): Promise<{ readonly kind: 'turn' | 'upkeep'; readonly subject: string } | null> {
    const subjects = [this.lane, ...this.requests.flatMap((id) => [`return-${id}`, `receipts-${id}`, `due-${id}`])]
    const [wake] = await fresh.db.sql<{ kind: 'turn' | 'upkeep'; subject: string }[]>`
      select kind, subject from collab.wakes
      where subject = any(${subjects}) and (state = 'pending' and due_at <= ${this.clock.now()} or state = 'running')
      order by subject limit 1`
    return wake ?? null
  }
}

const never: Life = { messages: 0, at: 1_000_000, effect: 'before', elsewhere: false }

describe('recovery at start, after a process was killed at any moment, again and again', () => {
  test(
    '7: no turn stays running, nothing of the dead one is taken, and nothing is lost',
    async () => {
      const seen = { deaths: 0, interrupted: 0, answered: 0 }
      await fc.assert(
        fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 6 }), async (lives) => {
          const here = new Installation()
          await here.write()
          for (const one of lives) {
            for (let n = 0; n < one.messages; n += 1) await here.write()
            await here.live(one)
          }
          await here.live(never)
          const ends = await expectWhole(here)
          seen.deaths += here.killed
          seen.answered += ends.filter((ended) => ended === 'completed').length
          seen.interrupted += ends.filter((ended) => ended === 'interrupted').length
        }),
        // The first ones die in the middle of their turn, wherever that is by now.
        {
          ...boundedRuns(60),
          examples: [56, 64, 72].map((at) => [[{ messages: 0, at, effect: 'before', elsewhere: false }]]),
        },
      )
      expect(Math.min(...Object.values(seen))).toBeGreaterThan(0)
    },
    propertyTimeoutMs,
  )
})

/** How the turns have ended. */
async function expectWhole(here: Installation): Promise<readonly string[]> {
  const { sql } = fresh.db
  const ends: string[] = []
  expect(await openTurns(sql, here.lane)).toEqual([])
  for (const request of here.requests) {
    const facts = await factsOf(sql, request)
    const state = fold(request, facts)
    expectSound(state)
    expect(state.running).toBeNull()
    // Answered, gone on in another one, or the owner was told that it ended too often and is asked.
    if (state.failure === null) expect(['resolved', 'continued']).toContain(state.closed)
    else {
      const [told] = await sql`select 1 from collab.deliveries where request = ${request} and cause_kind = 'notice'`
      expect(told).toBeDefined()
    }
    const committed = facts.flatMap((fact) => (fact.kind === 'result-committed' ? [fact] : []))
    expect(committed.length).toBeLessThanOrEqual(1)
    for (const { turn, result } of committed) {
      // By the turn that stands as completed alone, in its own words, with its delivery and its text.
      expect(state.turns.get(turn as TurnId)?.ending).toEqual({ ended: 'completed' })
      expect(result.textDigest).toBe(digestOfText(here.said.get(turn as TurnId) ?? 'nothing'))
      const rows = await sql`
        select d.id from collab.deliveries d join collab.wakes w on w.kind = 'deliver' and w.subject = d.id
        join collab.texts t on t.digest = ${result.textDigest} and t.body is not null where d.cause_id = ${result.id}`
      expect(rows).toHaveLength(1)
    }
    for (const [turn, { ending }] of state.turns) {
      ends.push(ending?.ended ?? 'runs')
      expect(word(await lateWords(request, turn))).toMatch(/^(turn-not-running|conflict)$/)
    }
    expect((await factsOf(sql, request)).length).toBe(facts.length)
  }
  return ends
}

/** What a process that was only thought to be dead says at the end of its turn. */
function lateWords(request: RequestId, turn: TurnId) {
  return decideAndCommit(
    { db: fresh.db, wake: { kick: () => {} } },
    {
      kind: 'conclude-turn',
      eventId: randomUUID() as never,
      requestId: request,
      at: 1 as Instant,
      actor: { kind: 'host' },
      turn,
      result: randomUUID() as ResultId,
      textDigest: 'late' as TextDigest,
      conclusionDigest: null,
      accessScope: 's',
      files: [],
    } as const,
    decideConclude,
  )
}
