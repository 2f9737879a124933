import type { WorkCommand } from '../../collab/ports.js'
import type { AgentId, Instant } from '../../collab/refs.js'
import { uuidFrom } from '../../lib/digest.js'
import { unreachable } from '../../lib/assert.js'
import { DAY, SECOND } from '../../lib/time.js'

export type GoalState = 'active' | 'stopped'
export type TodoState = 'open' | 'done' | 'dropped'
/** How a claim ended: given back, its todo closed, or its lease ran out before somebody claimed again. */
export type ClaimEnd = 'released' | 'finished' | 'lapsed'

export interface TodoRow {
  readonly id: string
  readonly goal: string
  readonly title: string
  readonly state: TodoState
  readonly revision: number
  /** The last one given to a claim of this todo; 0 before the first. */
  readonly epoch: number
}

export interface ClaimRow {
  readonly todo: string
  readonly epoch: number
  readonly agent: AgentId
  readonly until: Instant
  /** Null while nobody ended it, also after its lease ran out. */
  readonly ended: ClaimEnd | null
}

/** What one command needs to see of its goal, read under the goal's lock. */
export interface WorkState {
  readonly now: Instant
  readonly goal: {
    readonly id: string
    readonly state: GoalState
    readonly acceptance: string
    readonly visionRevision: number
  } | null
  /** Where the commanding agent is registered; null: nowhere. */
  readonly registeredAt: string | null
  readonly todo: TodoRow | null
  /** The claim of that todo that nobody ended. */
  readonly claim: ClaimRow | null
  /** The commanding agent's newest claim of that todo, ended or not. */
  readonly ownClaim: ClaimRow | null
}

export type WorkChange =
  | { readonly kind: 'todo-put'; readonly todo: TodoRow }
  | { readonly kind: 'claim-begun'; readonly claim: ClaimRow }
  | { readonly kind: 'claim-renewed'; readonly todo: string; readonly epoch: number; readonly until: Instant }
  | { readonly kind: 'claim-ended'; readonly todo: string; readonly epoch: number; readonly ended: ClaimEnd }
  | {
      readonly kind: 'vision-put'
      readonly goal: string
      readonly direction: string
      readonly acceptance: string
      readonly revision: number
    }

export type WorkDecision =
  | { readonly outcome: 'change'; readonly changes: readonly [WorkChange, ...WorkChange[]] }
  | { readonly outcome: 'conflict'; readonly because: string }

/** Lengths in characters, leases in milliseconds. An oversized write is refused, never cut (RFC §5.4). */
export const limits = {
  operation: 200,
  title: 500,
  vision: 16_000,
  leaseMs: { least: SECOND, most: 7 * DAY },
} as const

const conflict = (because: string): WorkDecision => ({ outcome: 'conflict', because })
const change = (...changes: readonly [WorkChange, ...WorkChange[]]): WorkDecision => ({ outcome: 'change', changes })

/**
 * Decides one command of an agent on the work of its goal.
 *
 * Pure: the caller reads `state` under the goal's lock and asks first whether the operation is known.
 *
 * @returns the changes, or `conflict` with the reason in words: unknown or stopped goal, not registered there, stale
 *   revision, claimed by another, stale epoch, a closed todo, an oversized or unreadable text, an amendment
 * @source RFC §5.12; a message or a fresh brief revives no lease
 */
export function decideWork(state: WorkState, command: WorkCommand): WorkDecision {
  const { goal } = state
  if (goal === null || goal.id !== command.goal) return conflict('no such goal')
  if (goal.state === 'stopped') return conflict('the goal is stopped')
  if (state.registeredAt !== goal.id) return conflict('not registered at this goal')
  const said = command.change
  switch (said.kind) {
    case 'todo-write':
      return decideTodoWrite(state, command, said)
    case 'todo-claim':
      return decideClaim(state, command, said)
    case 'todo-release':
      return decideRelease(state, command, said)
    case 'vision-replan':
      return decideReplan(goal, said)
    default:
      return unreachable(said)
  }
}

type Change = WorkCommand['change']
type Of<K extends Change['kind']> = Extract<Change, { kind: K }>

function decideTodoWrite(state: WorkState, command: WorkCommand, said: Of<'todo-write'>): WorkDecision {
  const wrong = wrongText('title', said.title, limits.title)
  if (wrong !== null) return conflict(wrong)
  if (said.todo === null) {
    if (said.onRevision !== null && said.onRevision !== 0) return conflict('a new todo has no revision yet')
    const id = newTodoId(command)
    return change({
      kind: 'todo-put',
      todo: { id, goal: command.goal, title: said.title, state: said.state, revision: 1, epoch: 0 },
    })
  }
  const todo = todoOf(state, command, said.todo)
  if (todo === null) return conflict('no such todo at this goal')
  if (said.onRevision === null) return conflict(`say which revision was seen; it is at ${todo.revision}`)
  if (said.onRevision !== todo.revision) return conflict(`stale revision: it is at ${todo.revision}`)
  const { claim, ownClaim, now } = state
  if (claim !== null && claim.agent !== command.agent && claim.until > now) return conflict(heldBy(claim))
  // Whoever lost a claim of open work without giving it back acts on an old view: a fresh claim comes first.
  if (todo.state === 'open' && ownClaim !== null && lost(ownClaim, now))
    return conflict(`stale epoch ${ownClaim.epoch}: the claim ran out; claim again first`)
  const put: WorkChange = {
    kind: 'todo-put',
    todo: { ...todo, title: said.title, state: said.state, revision: todo.revision + 1 },
  }
  if (said.state === 'open' || claim === null) return change(put)
  const ended = claim.until > now ? 'finished' : 'lapsed'
  return change(put, { kind: 'claim-ended', todo: todo.id, epoch: claim.epoch, ended })
}

function decideClaim(state: WorkState, command: WorkCommand, said: Of<'todo-claim'>): WorkDecision {
  const todo = todoOf(state, command, said.todo)
  if (todo === null) return conflict('no such todo at this goal')
  if (todo.state !== 'open') return conflict(`the todo is ${todo.state}`)
  const { least, most } = limits.leaseMs
  if (!Number.isSafeInteger(said.leaseMs) || said.leaseMs < least || said.leaseMs > most)
    return conflict(`a lease lasts ${least} to ${most} ms`)
  const { claim, now } = state
  const until = (now + said.leaseMs) as Instant
  const live = claim !== null && claim.until > now
  if (live && claim.agent !== command.agent) return conflict(heldBy(claim))
  // A renewal never shortens what was promised before.
  if (live)
    return change({ kind: 'claim-renewed', todo: todo.id, epoch: claim.epoch, until: later(claim.until, until) })
  const begun: WorkChange = {
    kind: 'claim-begun',
    claim: { todo: todo.id, epoch: todo.epoch + 1, agent: command.agent, until, ended: null },
  }
  // A lease that ran out is not revived, not even for its own holder: its executor may have been replaced since.
  return claim === null
    ? change(begun)
    : change({ kind: 'claim-ended', todo: todo.id, epoch: claim.epoch, ended: 'lapsed' }, begun)
}

function decideRelease(state: WorkState, command: WorkCommand, said: Of<'todo-release'>): WorkDecision {
  const todo = todoOf(state, command, said.todo)
  if (todo === null) return conflict('no such todo at this goal')
  const { claim } = state
  if (claim === null || claim.agent !== command.agent || claim.epoch !== said.epoch)
    return conflict(`stale epoch ${said.epoch}: that claim does not stand`)
  return change({ kind: 'claim-ended', todo: todo.id, epoch: claim.epoch, ended: 'released' })
}

/** A lane may find another way; what the goal must achieve is shared and changes by amendment only (RFC §5.12). */
function decideReplan(goal: NonNullable<WorkState['goal']>, said: Of<'vision-replan'>): WorkDecision {
  const wrong = wrongText('direction', said.direction, limits.vision) ?? oversized('acceptance', said.acceptance)
  if (wrong !== null) return conflict(wrong)
  if (said.onRevision !== goal.visionRevision)
    return conflict(`stale revision: the vision is at ${goal.visionRevision}`)
  if (goal.acceptance !== '' && said.acceptance !== goal.acceptance)
    return conflict('a change of acceptance is an amendment: it can be proposed, and committing one is unsupported')
  return change({
    kind: 'vision-put',
    goal: goal.id,
    direction: said.direction,
    acceptance: said.acceptance,
    revision: goal.visionRevision + 1,
  })
}

/** The same operation makes the same todo, whoever carries it out. */
export function newTodoId(command: Pick<WorkCommand, 'goal' | 'operation'>): string {
  return uuidFrom('todo', command.goal, command.operation)
}

const todoOf = (state: WorkState, command: WorkCommand, id: string): TodoRow | null =>
  state.todo !== null && state.todo.id === id && state.todo.goal === command.goal ? state.todo : null

const heldBy = (claim: ClaimRow): string =>
  `claimed by ${claim.agent} until ${new Date(claim.until).toISOString()} (epoch ${claim.epoch})`

const lost = (claim: ClaimRow, now: Instant): boolean =>
  claim.ended === 'lapsed' || (claim.ended === null && claim.until <= now)

const later = (a: Instant, b: Instant): Instant => (a > b ? a : b)

/** Postgres stores no NUL. */
export function wrongText(name: string, text: string, limit: number): string | null {
  if (text.trim() === '') return `the ${name} is empty`
  return oversized(name, text, limit)
}

function oversized(name: string, text: string, limit: number = limits.vision): string | null {
  if (text.includes('\u0000')) return `the ${name} holds a NUL character`
  return text.length > limit ? `the ${name} is longer than ${limit} characters` : null
}
