import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import { decideLinkWork } from '../../collab/decide/inbox.js'
import { reject, type Receipt } from '../../collab/decision.js'
import type { WorkCommand, WorkOutcome } from '../../collab/ports.js'
import { MANAGER } from '../../collab/refs.js'
import { stateOfRequest } from '../../stores/ledger/read.js'
import { requestOfTurn } from '../../stores/turns/turns.js'
import { commandOf, keepCommand } from '../../stores/work-commands/work-commands.js'
import type { Exchange } from '../deps.js'
import { mayUseGoal } from '../goal-scope.js'
import { standing } from '../tokens.js'
import { act, refuse, toolEventOf } from './act.js'
import { checkName, checkText, firstOf, SENTENCE_BYTES } from './check.js'

type Outcome = Awaited<ReturnType<AgentTools['todoWrite']>>

/**
 * One command to the owner of work state: kept first, then the owner is called, then its exact answer is told. What
 * the owner refuses or cannot do is its own answer, and nothing here stands in for it.
 *
 * @source RFC §5.12 (three steps, never one transaction)
 */
async function apply(
  x: Exchange,
  caller: ToolCaller,
  said: { readonly eventId: Parameters<typeof toolEventOf>[1]; readonly goal: string },
  words: readonly string[],
  change: WorkCommand['change'],
): Promise<Outcome> {
  const wrong = firstOf(
    checkName('eventId', said.eventId),
    checkName('goal', said.goal),
    ...words.map((word) => checkText('text', word, SENTENCE_BYTES * 4)),
  )
  if (wrong !== null) return refuse(wrong)
  if (!(await usesGoal(x, caller, said.goal, 'write'))) return { outcome: 'rejected', because: 'goal-unknown' }
  const command = { operation: toolEventOf(caller, said.eventId), agent: caller.agent, goal: said.goal, change }
  const kept = await x.db.tx(async (tx) => {
    const replaced = await standing(caller)(tx)
    return replaced ?? (await keepCommand(tx, command, x.clock.now()))
  })
  if (kept === 'different') return { outcome: 'conflict', because: 'this event id said something else before' }
  return kept === 'kept' ? await x.work.apply(command) : refuse(kept)
}

/**
 * A worker knows the goal at which it is registered, the manager looks at all of them; in a running turn either of them
 * only as far as the audience of the request may learn of it. A managed agent outside a turn acts for no audience.
 */
async function usesGoal(x: Exchange, caller: ToolCaller, goal: string, effect: 'read' | 'write'): Promise<boolean> {
  if (caller.agent !== MANAGER && (await x.directory.find(caller.agent))?.goal !== goal) return false
  if (caller.lane === null) return caller.agent !== MANAGER
  const id = caller.turn === null ? null : await requestOfTurn(x.db.sql, caller.turn)
  const request = id === null ? null : (await stateOfRequest(x.db.sql, id)).request
  return request !== null && (await mayUseGoal(x, request, caller.agent, goal, effect))
}

/** What was read, unless the authority to read it changed meanwhile: it is asked before, and once more with it in hand. */
async function readOf<T>(x: Exchange, caller: ToolCaller, goal: string, read: () => Promise<T>): Promise<T | null> {
  if (checkName('goal', goal) !== null || !(await usesGoal(x, caller, goal, 'read'))) return null
  const found = await read()
  return (await usesGoal(x, caller, goal, 'read')) ? found : null
}

export const todoWrite = (x: Exchange, caller: ToolCaller, said: Parameters<AgentTools['todoWrite']>[1]) =>
  apply(x, caller, said, [said.title], {
    kind: 'todo-write',
    todo: said.todo,
    title: said.title,
    state: said.state,
    onRevision: said.onRevision,
  })

export const todoClaim = (x: Exchange, caller: ToolCaller, said: Parameters<AgentTools['todoClaim']>[1]) =>
  apply(x, caller, said, [], { kind: 'todo-claim', todo: said.todo, leaseMs: said.leaseMs })

export const todoRelease = (x: Exchange, caller: ToolCaller, said: Parameters<AgentTools['todoRelease']>[1]) =>
  apply(x, caller, said, [], { kind: 'todo-release', todo: said.todo, epoch: said.epoch })

export const visionReplan = (x: Exchange, caller: ToolCaller, said: Parameters<AgentTools['visionReplan']>[1]) =>
  apply(x, caller, said, [said.direction, said.acceptance], {
    kind: 'vision-replan',
    direction: said.direction,
    acceptance: said.acceptance,
    onRevision: said.onRevision,
  })

/** Null when the goal is not the caller's to read. */
export const todoList = (x: Exchange, caller: ToolCaller, goal: string): ReturnType<AgentTools['todoList']> =>
  readOf(x, caller, goal, () => x.work.todos(goal))

/** Null when the goal is not the caller's to read, or has no vision. */
export const visionRead = (x: Exchange, caller: ToolCaller, goal: string): ReturnType<AgentTools['visionRead']> =>
  readOf(x, caller, goal, () => x.work.vision(goal))

/**
 * Links the receipt of one of the caller's own operations to a request: the owner is asked again with the same
 * operation, which answers with the receipt and changes nothing twice.
 *
 * @returns refusals are those of `decideLinkWork`, `bad-reference` for an operation that is not the caller's,
 *   `not-admitted` with the owner's answer when it gives no receipt, and `nothing-owed` when it is linked already
 * @source RFC §5.12, ledger "Work authority" — A15
 */
export async function linkWork(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['linkWork']>[1],
): Promise<Receipt> {
  return await act(x, caller, 'link-work', said, checkName('operation', said.operation), async (_reached, base) => {
    const command = await commandOf(x.db.sql, said.operation, caller.agent)
    const outcome: WorkOutcome | null = command === null ? null : await x.work.apply(command)
    return {
      decide: (state) => {
        if (outcome === null) return reject({ reason: 'bad-reference', field: 'operation' })
        if ('because' in outcome) {
          return reject({ reason: 'not-admitted', because: [`${outcome.outcome}: ${outcome.because}`] })
        }
        if (state.work.some((one) => one.operation === said.operation)) return reject({ reason: 'nothing-owed' })
        return decideLinkWork(state, { ...base, kind: 'link-work', agent: caller.agent, receipt: outcome.receipt })
      },
    }
  })
}
