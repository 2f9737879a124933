import type { ExchangeState } from '../collab/exchange-state.js'
import type { WorkReceipt } from '../collab/observation.js'
import type { TodoView, VisionView } from '../collab/ports.js'
import { errorLabel } from '../lib/log.js'
import type { AgentId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import type { Exchange } from './deps.js'
import { mayUseGoal } from './goal-scope.js'

/**
 * What a request has changed in the work owner's objects, one line for each receipt that was linked to it: the revision
 * that the receipt names, and what the owner says of the object now. An owner that does not answer leaves the receipt,
 * and so does a goal that the reader's audience may not learn of.
 *
 * @source RFC §5.12 (references and receipts, never copies) — A5
 */
export async function consequencesOf(
  x: Exchange,
  state: ExchangeState,
  reader: { readonly request: WorkRequest; readonly agent: AgentId },
): Promise<readonly string[]> {
  if (state.work.length === 0) return []
  const goals = new Set<string>()
  for (const target of new Set([...state.attempts.values()].map((one) => one.target))) {
    const goal = (await x.directory.find(target))?.goal
    if (goal !== undefined && (await mayUseGoal(x, reader.request, reader.agent, goal, 'read'))) goals.add(goal)
  }
  const todos: TodoView[] = []
  const visions: VisionView[] = []
  for (const goal of goals) {
    try {
      todos.push(...(await x.work.todos(goal)))
      const vision = await x.work.vision(goal)
      if (vision !== null) visions.push(vision)
    } catch (error) {
      x.log.warn('the work owner did not answer', { reason: goal, error: errorLabel(error) })
    }
  }
  return state.work.flatMap((receipt) => receipt.refs.map((ref) => lineOf(ref, todos, visions)))
}

function lineOf(
  { ref, revision }: WorkReceipt['refs'][number],
  todos: readonly TodoView[],
  visions: readonly VisionView[],
): string {
  const said = `${ref.replace(':', ' ')} at revision ${revision}`
  const todo = todos.find((one) => ref === `todo:${one.id}`)
  if (todo !== undefined) return `${said}; now revision ${todo.revision}, ${todo.state}: ${todo.title}`
  const vision = visions.find((one) => ref === `vision:${one.goal}`)
  return vision === undefined ? said : `${said}; now revision ${vision.revision}: ${vision.direction}`
}
