import type { Decision } from '../../src/collab/decision.js'
import { owedAsks, type AttemptState, type ExchangeState } from '../../src/collab/exchange-state.js'
import {
  MANAGER,
  type ActorRef,
  type AgentId,
  type AskId,
  type AttemptId,
  type EffectId,
  type EventId,
  type Instant,
  type RequestId,
  type ResultId,
  type Revision,
  type TurnId,
} from '../../src/collab/refs.js'
import type { Command } from '../../src/exchange/exchange.js'
import { at, event, id } from './exchange.js'

export const worker = id<AgentId>('worker')

export interface Said {
  readonly command: Command
  readonly decide: (state: ExchangeState, command: never) => Decision
}

export const as = <C extends Command>(command: C, decide: (state: ExchangeState, command: C) => Decision): Said => ({
  command,
  decide: decide as Said['decide'],
})

/** What a command is made of: the names in the state that its step picked. */
export interface Aim {
  readonly n: number
  readonly pick: number
  readonly state: ExchangeState
  readonly request: RequestId
  readonly base: { readonly eventId: EventId; readonly requestId: RequestId; readonly at: Instant }
  readonly attempt: AttemptId
  /** Whose attempt it is. */
  readonly agent: AgentId
  readonly other: AgentId
  readonly actor: ActorRef
  readonly turn: TurnId
  readonly ask: AskId
  readonly effect: EffectId
  readonly child: RequestId
  readonly result: ResultId
  /** The head, or now and then one that has passed. */
  readonly revision: Revision
  readonly name: (prefix: string) => string
}

/** One in six looks at the past. */
const LOOKS_BACK = 5

const picked = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)]

export function aimOf(pick: number, n: number, state: ExchangeState, request: RequestId): Aim {
  const back = pick % 6 === LOOKS_BACK
  const attempts = [...state.attempts.values()]
  const live = attempts.filter((one) => one.released === null)
  const attempt: AttemptState | undefined = picked(back ? attempts : live, pick)
  const ended = [...state.turns.values()].filter((turn) => turn.ending !== null)
  const effects = [...state.effects]
  const open = effects.filter(([, one]) => one.became !== 'confirmed' && one.became !== 'failed')
  const owed = owedAsks(state)
  const agent = attempt?.target ?? MANAGER
  const turn = (back ? picked(ended, pick)?.id : state.running) ?? id<TurnId>(`t${n}-${request}`)
  return {
    n,
    pick,
    state,
    request,
    base: { eventId: event(`${request}-${n}`), requestId: request, at: at(1_000) },
    attempt: attempt?.id ?? id<AttemptId>(`none-${request}`),
    agent,
    other: agent === MANAGER ? worker : MANAGER,
    actor: { kind: 'agent', agent, turn },
    turn,
    ask: picked(back ? [...state.asks.keys()] : owed, pick) ?? id<AskId>(`no-ask-${request}`),
    effect: picked(back ? effects : open, pick)?.[0] ?? id<EffectId>(`no-effect-${request}`),
    child: picked([...state.children.keys()], pick) ?? id<RequestId>(`no-child-${request}`),
    result: picked(state.results, pick)?.id ?? id<ResultId>(`no-result-${request}`),
    revision: (pick % 8 === 7 ? Math.max(0, state.head - 1) : state.head) as Revision,
    name: (prefix) => `${prefix}${n}-${request}`,
  }
}
