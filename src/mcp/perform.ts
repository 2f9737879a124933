import type { AgentTools, ToolCaller } from '../collab/agent-tools.js'
import type { EventId } from '../collab/refs.js'
import { uuidFrom } from '../lib/digest.js'
import { errorLabel, type Logger } from '../lib/log.js'
import { rejected, type Answer } from './answer.js'
import type { Tool } from './tool.js'

/**
 * Calls one tool.
 *
 * @param absent names a write that brought no key of its own, out of the call itself
 */
export async function perform(
  on: { readonly tools: AgentTools; readonly log: Logger },
  caller: ToolCaller,
  tool: Tool,
  given: unknown,
  absent: () => string,
): Promise<Answer> {
  return await performing(on, tool.name, () =>
    tool.call(on.tools, caller, given, (key) =>
      key === undefined ? eventIdOf(caller, tool.name, 'call', absent()) : eventIdOf(caller, tool.name, 'key', key),
    ),
  )
}

/** A key outlives the process that made it; what follows from a call belongs to its epoch. */
export function eventIdOf(caller: ToolCaller, tool: string, kind: 'key' | 'call', name: string): EventId {
  return uuidFrom('tool', caller.agent, caller.session, tool, kind, name) as EventId
}

/**
 * A fault is an answer, too: the agent learns that it may call again, and nothing of what it said is logged.
 */
export async function performing(
  on: { readonly log: Logger },
  api: string,
  call: () => Promise<Answer>,
): Promise<Answer> {
  try {
    const answer = await call()
    if (answer.outcome === 'rejected') on.log.info('a tool call was refused', { api, reason: answer.refusal.reason })
    return answer
  } catch (error) {
    on.log.error('a tool call failed', { api, error: errorLabel(error) })
    return rejected({ reason: 'unavailable' })
  }
}
