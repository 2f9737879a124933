import fc from 'fast-check'
import type { FaultAction } from '../../src/sandbox/faults.js'
import type { PartDecision } from '../../src/exchange/retry.js'
import type { Cut } from './stepped.js'

export type Who = 'A' | 'B'

/** Where an answer goes. `fresh`: a new message in the main flow of a group; the others reply. */
export type Place = 'direct' | 'group' | 'fresh' | 'topic' | 'anchor'
/** `same`: words that other parts have as well. */
export type PartKind = 'text' | 'same' | 'card' | 'file'

export interface PlannedAnswer {
  readonly place: Place
  /** Files come last, as a plan has them. */
  readonly parts: readonly PartKind[]
  readonly receipt: boolean
}

/** One step of what happens to the gateway and around it. */
export type Step =
  | { readonly do: 'commit' }
  /**
   * Through so many gates, of one job after the other; `patient` waits until one is due. The
   * gate after them ends as `cut` says. A dead process is started first.
   */
  | {
      readonly do: 'run'
      readonly who: Who
      readonly gates: number
      readonly patient: boolean
      readonly cut: Cut | null
    }
  | { readonly do: 'kill'; readonly who: Who }
  | { readonly do: 'stop'; readonly who: Who }
  /** `recover`: as the same installation, which takes back at once what it held. */
  | { readonly do: 'start'; readonly who: Who; readonly recover: boolean }
  | { readonly do: 'sweep'; readonly who: Who }
  | { readonly do: 'wait'; readonly ms: number; readonly asleep: boolean }
  | { readonly do: 'queue-lost' }
  /** Until the next sweep. */
  | { readonly do: 'kicks-lost' }
  | { readonly do: 'replay'; readonly nth: number }
  | { readonly do: 'operator'; readonly nth: number; readonly decision: PartDecision | 'retry' }
  | { readonly do: 'token' }
  /** Until the next wait is over. */
  | { readonly do: 'offline' }
  | {
      readonly do: 'world'
      readonly nth: number
      readonly what: 'say-same' | 'recall-trigger' | 'bot-out' | 'bot-in' | 'hide' | 'react'
    }

/** What the nth call of one kind meets; null is nothing. */
export interface Faulty {
  readonly send: readonly (FaultAction | null)[]
  readonly get: readonly (FaultAction | null)[]
  readonly list: readonly (FaultAction | null)[]
  readonly upload: readonly (FaultAction | null)[]
  readonly token: readonly (FaultAction | null)[]
  readonly react: readonly (FaultAction | null)[]
  readonly unreact: readonly (FaultAction | null)[]
  readonly look: readonly (FaultAction | null)[]
}

export interface Schedule {
  readonly answers: readonly PlannedAnswer[]
  readonly steps: readonly Step[]
  readonly faults: Faulty
  readonly pacing: boolean
  readonly policy: 'clear' | 'retain'
  readonly done: '' | 'DONE'
  /** What the operator says of each part that is still parked in the end; the truth where one is asked for. */
  readonly verdicts: readonly ('truth' | 'give-up' | 'retry')[]
}

const reset: FaultAction = { kind: 'reset-before' }
const taken: FaultAction = { kind: 'accept-then-reset' }
const code = (value: number, more: { stored?: boolean; httpStatus?: number } = {}): FaultAction => ({
  kind: 'code',
  code: value,
  ...more,
})

/** Nobody knows what came of it, or it is to be tried again: nothing that ends a part. */
const passing: readonly FaultAction[] = [
  taken,
  taken,
  reset,
  { kind: 'arrive-late', ms: 3_000 },
  { kind: 'arrive-late', ms: 50_000 },
  { kind: 'rate-limit', resetSeconds: 7 },
  { kind: 'rate-limit', resetSeconds: null },
  { kind: 'status', status: 502 },
  { kind: 'status', status: 504, stored: true },
  { kind: 'status', status: 403 },
  code(99991663),
  code(99991663, { httpStatus: 200 }),
  code(230020),
  code(230049),
  code(2200),
  code(2200, { stored: true }),
  code(99991403),
]

/** The platform's plain words that this call, this place or this content will not do. */
const refusing: readonly FaultAction[] = [
  code(230011),
  code(230019),
  code(230071),
  code(230099),
  code(230025),
  code(230028),
  code(230001),
  code(230002),
  code(99991672),
]

/** Mostly what passes: a schedule whose first call is refused has little to say. */
const rarely = (actions: readonly FaultAction[], seldom: readonly FaultAction[]): readonly FaultAction[] => [
  ...actions,
  ...actions,
  ...actions,
  ...seldom,
]

const unread: readonly FaultAction[] = [
  reset,
  { kind: 'status', status: 502 },
  { kind: 'rate-limit', resetSeconds: 5 },
  code(2200),
  code(99991663),
]
const hidden: readonly FaultAction[] = [code(99991672), code(230002)]

const undone: readonly FaultAction[] = [
  taken,
  taken,
  reset,
  { kind: 'rate-limit', resetSeconds: 4 },
  { kind: 'rate-limit', resetSeconds: 90 },
  { kind: 'status', status: 502, stored: true },
  code(99991663),
  code(231015),
  code(2200),
  code(99991403),
  code(99991672),
]

/** Mostly nothing, and never longer than `most`: what comes later meets a calm platform. */
const some = (actions: readonly FaultAction[], most: number): fc.Arbitrary<(FaultAction | null)[]> =>
  fc.array(
    fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom(...actions) }),
    {
      maxLength: most,
    },
  )

const who = fc.constantFrom<Who>('A', 'A', 'B')
const wait = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 3_000 }) },
  { weight: 3, arbitrary: fc.nat({ max: 130_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 2_900_000, max: 4_400_000 }) },
)

type Weighted = fc.WeightedArbitrary<Step>
const step = <S extends Step['do']>(weight: number, what: S, rest: object): Weighted => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(what), ...rest }) as unknown as fc.Arbitrary<Step>,
})

const always: readonly Weighted[] = [
  step(5, 'commit', {}),
  step(40, 'run', {
    who,
    gates: fc.oneof(fc.nat({ max: 25 }), fc.nat({ max: 120 })),
    patient: fc.constantFrom(true, true, true, false),
    cut: fc.oneof(
      { weight: 2, arbitrary: fc.constant(null) },
      {
        weight: 1,
        arbitrary: fc.constantFrom<Cut>('die-before', 'die-after', 'die-after', 'fail-before', 'fail-after'),
      },
    ),
  }),
  step(1, 'kill', { who }),
  step(1, 'stop', { who }),
  step(2, 'start', { who, recover: fc.boolean() }),
  step(5, 'sweep', { who }),
  step(10, 'wait', { ms: wait, asleep: fc.boolean() }),
  step(1, 'queue-lost', {}),
  step(1, 'kicks-lost', {}),
  step(2, 'replay', { nth: fc.nat({ max: 5 }) }),
  step(1, 'token', {}),
  step(1, 'offline', {}),
  step(2, 'world', { nth: fc.nat({ max: 3 }), what: fc.constant('say-same') }),
  step(4, 'operator', {
    nth: fc.nat({ max: 3 }),
    decision: fc.constantFrom<PartDecision | 'retry'>('retry', 'present', 'absent-send', 'give-up'),
  }),
]

const unkind: readonly Weighted[] = [
  step(2, 'world', {
    nth: fc.nat({ max: 3 }),
    what: fc.constantFrom('recall-trigger', 'bot-out', 'bot-in', 'hide'),
  }),
]

const answerOf = (receipt: fc.Arbitrary<boolean>, most: number): fc.Arbitrary<PlannedAnswer> =>
  fc
    .record({
      place: fc.constantFrom<Place>('direct', 'group', 'fresh', 'topic', 'anchor'),
      parts: fc.array(fc.constantFrom<PartKind>('text', 'text', 'same', 'card', 'file'), {
        minLength: 1,
        maxLength: most,
      }),
      receipt,
    })
    .map((one) => ({
      ...one,
      parts: [...one.parts.filter((kind) => kind !== 'file'), ...one.parts.filter((kind) => kind === 'file')],
    }))

const none = fc.constant<(FaultAction | null)[]>([])

/** Answers under every fault of sending. `kind`: nothing refuses, so everything must arrive. */
export function deliverySchedule(kind: boolean): fc.Arbitrary<Schedule> {
  return fc.record({
    answers: fc.array(answerOf(fc.constant(false), 3), { minLength: 1, maxLength: 2 }),
    steps: fc.array(fc.oneof(...always, ...(kind ? [] : unkind)), { maxLength: 20, size: 'max' }),
    faults: fc.record({
      send: some(kind ? passing : rarely(passing, refusing), 10),
      get: some(kind ? unread : rarely(unread, hidden), 4),
      list: some(kind ? unread : rarely(unread, hidden), 4),
      upload: some(kind ? passing : [...passing, code(234006)], 3),
      token: some(unread, 3),
      react: none,
      unreact: none,
      look: none,
    }),
    pacing: fc.boolean(),
    policy: fc.constant('clear' as const),
    done: fc.constant('' as const),
    verdicts: fc.array(fc.constantFrom('truth', 'truth', 'give-up', 'retry'), { maxLength: 4 }),
  })
}

/** Receipts under every fault of reacting, with answers that have their own. */
export const receiptSchedule: fc.Arbitrary<Schedule> = fc.record({
  answers: fc.array(answerOf(fc.constant(true), 2), { minLength: 1, maxLength: 2 }),
  steps: fc.array(
    fc.oneof(...always, ...unkind, step(2, 'world', { nth: fc.nat({ max: 3 }), what: fc.constant('react') })),
    { maxLength: 18, size: 'max' },
  ),
  faults: fc.record({
    send: some(rarely(passing, refusing), 3),
    get: some(unread, 2),
    list: some(unread, 2),
    upload: none,
    token: some(unread, 2),
    react: some(undone, 6),
    unreact: some(undone, 6),
    look: some([...unread, ...hidden], 4),
  }),
  pacing: fc.boolean(),
  policy: fc.constantFrom('clear', 'retain'),
  done: fc.constantFrom('', 'DONE'),
  verdicts: fc.array(fc.constantFrom('truth', 'truth', 'give-up', 'retry'), { maxLength: 3 }),
})
