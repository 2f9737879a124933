import fc from 'fast-check'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideTakeChild } from '../../src/collab/decide/take-child.js'
import type { ExchangeState } from '../../src/collab/exchange-state.js'
import type { AgentId, RequestId, TurnId } from '../../src/collab/refs.js'
import { accepting, assigning, event, id, requestAt } from './exchange.js'
import { aimOf, as, worker, type Said } from './history-aim.js'
import { commandsAbout } from './history-about.js'
import { commandsOn } from './history-on.js'

/* Random histories of one request: every command that the ledger knows, aimed at what the state looks like. */

/** Who handed the request on when it is a child. */
export const asker = id<AgentId>('asker')

/** What is legal is for the ledger to say; `pick` chooses among what there is, and sometimes something stale. */
export interface Step {
  readonly say: Word | 'again'
  readonly pick: number
}

export interface History {
  readonly opening: 'message' | 'late-message' | 'child'
  readonly steps: readonly Step[]
}

const commands = { ...commandsAbout, ...commandsOn }
export type Word = keyof typeof commands

export const words = Object.keys(commands) as readonly Word[]

/** What ends or holds a request comes seldom, so that histories get deep; what moves one comes often. */
const seldom: ReadonlySet<Step['say']> = new Set<Word>([
  'open-again',
  'cancel',
  'recall',
  'skip',
  'expire',
  'go-on-elsewhere',
])
const often: ReadonlySet<Step['say']> = new Set<Word>([
  ...(['assign', 'present', 'conclude', 'provide', 'accept', 'report', 'replace-result'] as const),
  ...(['intend', 'unknown', 'confirmed', 'open-child', 'return-child', 'judge-mixed', 'settle-withheld'] as const),
])
export const weighedWords: readonly Step['say'][] = ([...words, 'again'] as const).flatMap((say) =>
  Array.from({ length: often.has(say) ? 6 : seldom.has(say) ? 1 : 3 }, () => say),
)

export const anyStep: fc.Arbitrary<Step> = fc.record({
  say: fc.constantFrom<Step['say']>(...weighedWords),
  pick: fc.nat({ max: 11 }),
})

const begun: readonly Step[] = [
  { say: 'assign', pick: 0 },
  { say: 'present', pick: 0 },
]

/** Two receivers, and a correction that only one of them has seen. */
const corrected: readonly Step[] = [
  ...begun,
  { say: 'consult', pick: 1 },
  { say: 'revise', pick: 0 },
  { say: 'provide', pick: 1 },
  { say: 'accept', pick: 1 },
]

/** A turn that has put off what it was shown. */
const putOff: readonly Step[] = [...begun, { say: 'defer', pick: 0 }]

/** Most histories begin with a turn that runs. */
export const histories = (minLength: number, maxLength: number): fc.Arbitrary<History> =>
  fc
    .record({
      opening: fc.constantFrom<History['opening']>('message', 'message', 'late-message', 'child'),
      begins: fc.constantFrom<readonly Step[]>(begun, begun, corrected, putOff, []),
      steps: fc.array(anyStep, { minLength, maxLength }),
    })
    .map(({ opening, begins, steps }) => ({ opening, steps: [...begins, ...steps] }))

/** The command of one step; `again` says the last accepted one once more. */
export function commandFor(
  step: Step,
  n: number,
  state: ExchangeState,
  request: RequestId,
  before: Said | null,
): Said | null {
  if (step.say === 'again') return before
  const said = commands[step.say](aimOf(step.pick, n, state, request))
  return { ...said, command: { ...said.command, eventId: event(`${request}-${n}`) } }
}

/** The first command: a person's message, one that came late, or work that an agent handed on. */
export function openingOf(opening: History['opening'], request: RequestId): Said {
  if (opening !== 'child') return as(accepting(opening === 'late-message' ? 'late' : null, request), decideAccept)
  const message = accepting(null, request)
  const first = assigning(`first-${request}`, 1, true, request).attempt
  return as(
    {
      ...message,
      kind: 'take-child',
      actor: { kind: 'agent', agent: asker, turn: id<TurnId>('asking') },
      request: {
        ...requestAt(1, request),
        parent: id<RequestId>('00000000-0000-7000-8000-00000000000a'),
        origin: { ...message.request.origin, channel: 'agent' },
        sender: { kind: 'agent', agent: asker, turn: id<TurnId>('asking') },
        target: worker,
        returnTo: {
          channel: 'request',
          request: id<RequestId>('00000000-0000-7000-8000-00000000000a'),
          ask: null,
          direct: false,
        },
      },
      attempt: { ...first, target: worker },
    } as const,
    decideTakeChild,
  )
}
