import type { ToolCaller } from '../../src/collab/agent-tools.js'
import type { AgentRuntime, RuntimeSession, TurnEvent, TurnInput } from '../../src/collab/ports.js'
import { MANAGER, type LaneId, type RequestId, type TurnId } from '../../src/collab/refs.js'
import { createAgentTools } from '../../src/exchange/agents/tools.js'
import { callerOf, toolAccess } from '../../src/exchange/tokens.js'
import { turn } from '../../src/exchange/turn.js'
import { must } from '../../src/lib/assert.js'
import { EventQueue } from '../../src/runtime/event-queue.js'
import type { Db } from '../../src/stores/db.js'
import { until } from '../kit/platform.js'
import { registered, rigOf, type Rig } from './agents-kit.js'

export interface ScriptedTurn {
  readonly input: TurnInput
  readonly events: EventQueue
  /** What was put in while it ran. */
  readonly steered: TurnInput[]
  ended: boolean
}

/** A runtime that does what the test says; by default it takes whatever is put into a turn that runs. */
export class ScriptedRuntime {
  readonly turns: ScriptedTurn[] = []
  onSteer: (turn: TurnId, input: TurnInput) => Promise<'taken' | 'too-late' | 'unsupported'>
  readonly runtime: AgentRuntime

  constructor(able = true, wait: <T>(work: () => Promise<T>) => Promise<T> = (work) => work()) {
    this.onSteer = async () => 'taken'
    const effective = { runtime: 'scripted', version: null, model: null, effort: null, realModel: true }
    const session: RuntimeSession = {
      ref: { runtime: 'scripted', id: 'session-1' },
      opened: 'resumed',
      effective,
      turn: (input) => {
        const one: ScriptedTurn = { input, events: new EventQueue(() => {}), steered: [], ended: false }
        this.turns.push(one)
        one.events.push({ kind: 'started', hostTurn: `host-${input.turn}` })
        return one.events
      },
      lookUp: async () => ({ known: 'unknown' }) as const,
      steer: (id, input) =>
        wait(async () => {
          const running = this.turns.find((one) => one.input.turn === id && !one.ended)
          if (running === undefined) return 'too-late'
          running.steered.push(input)
          return await this.onSteer(id, input)
        }),
      stop: async (id) => {
        const running = this.turns.find((one) => one.input.turn === id && !one.ended)
        if (running !== undefined) finish(running, { kind: 'ended', ended: 'interrupted' })
        return 'stopped'
      },
      answer: async () => {},
      close: async () => ({ executor: 'gone' }),
    }
    this.runtime = {
      name: 'scripted',
      abilities: new Set(able ? ['steer'] : []),
      available: async () => ({ available: true }),
      open: async () => ({ outcome: 'opened', session }),
    }
  }

  get last(): ScriptedTurn {
    return must(this.turns.at(-1), 'a turn')
  }
}

export function finish(one: ScriptedTurn, end: TurnEvent): void {
  one.ended = true
  one.events.push(end)
}

export const answers = (final: string): TurnEvent => ({ kind: 'ended', ended: 'completed', final, conclusion: null })
export const fails: TurnEvent = { kind: 'ended', ended: 'failed', because: 'exited', detail: '' }

export interface Process extends Rig {
  readonly agent: ScriptedRuntime
  /** Everything that its running turns look at, once. */
  look(): Promise<void>
  /** The lane's turn, as its job would run it. */
  run(lane: LaneId): ReturnType<typeof turn>
  /** The turn begins and is presented. */
  begin(lane: LaneId, request: RequestId): Promise<{ readonly running: ReturnType<typeof turn>; caller: ToolCaller }>
}

/** One process of an installation, whose clock and looking are the test's. */
export function processOn(db: Db, agent = new ScriptedRuntime(), fence = 1): Process {
  const made = rigOf(db, [registered('anna')])
  const works = new Set<() => Promise<void>>()
  const x = {
    ...made.x,
    toolsUrl: 'http://127.0.0.1:3000/mcp',
    runtimeFor: async () => agent.runtime,
    workspaces: { ensure: async () => '/nowhere', place: async () => '/nowhere' },
    every: (_ms: number, work: () => Promise<void>) => {
      works.add(work)
      return () => void works.delete(work)
    },
  }
  const run = (lane: LaneId) => turn(x, lane, { fence, signal: new AbortController().signal, replayed: false })
  return {
    ...made,
    x,
    tools: createAgentTools(x),
    agent,
    look: async () => {
      for (const work of works) await work()
    },
    run,
    async begin(lane, request) {
      const running = run(lane)
      // Its faults are the test's to see when it awaits it.
      running.catch(() => {})
      const presented = () =>
        db.sql`select 1 from collab.observations o join collab.turns t on t.id = o.payload ->> 'turn'
          where o.request = ${request} and o.kind = 'turn-presented' and t.ended_at is null`
      await until(async () => (await presented()).length === 1, 'the turn')
      const { token } = await toolAccess(x, { agent: MANAGER, lane })
      return { running, caller: must(await callerOf(x, token), 'a caller') as ToolCaller }
    },
  }
}
