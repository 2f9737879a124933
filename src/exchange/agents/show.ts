import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import type { RequestView } from '../../collab/project/request-view.js'
import { MANAGER, type ConversationId } from '../../collab/refs.js'
import { familyOf } from '../../stores/ledger/family.js'
import { stateOfRequest } from '../../stores/ledger/read.js'
import { laneInbox } from '../../stores/turns/inbox.js'
import { requestOfTurn } from '../../stores/turns/turns.js'
import { cursorOf, newest, placeOf } from '../../stores/views/cursor.js'
import { findRequests, listRequests } from '../../stores/views/requests.js'
import type { Exchange } from '../deps.js'
import { laneOf } from '../ids.js'
import { reach } from './scope.js'

/** Requests of one page. */
const PAGE = 50

/** One request as its view says it, with what the caller may see of it; null for every other one. */
export async function show(x: Exchange, caller: ToolCaller, id: string): Promise<RequestView | null> {
  const reached = await reach(x, caller, id)
  if (reached === null) return null
  const [view] = await findRequests(x.db.sql, [reached.state.id], 'all')
  return view === undefined ? null : await narrowed(x, caller, view)
}

/** What the caller may see, newest first: the manager its conversation, a worker what it was asked and what came of it. */
export async function list(
  x: Exchange,
  caller: ToolCaller,
  page: Parameters<AgentTools['list']>[1],
): Promise<Awaited<ReturnType<AgentTools['list']>>> {
  const limit = Number.isInteger(page.limit) ? Math.min(Math.max(page.limit, 1), PAGE) : PAGE
  const after = (page.cursor === null ? null : placeOf(page.cursor)) ?? newest
  const conversation = caller.lane === null ? null : await conversationOfLane(x, caller)
  if (caller.lane !== null && conversation === null) return { items: [], nextCursor: null }
  if (caller.agent === MANAGER) {
    if (conversation === null) return { items: [], nextCursor: null }
    return await listRequests(x.db.sql, { state: null, conversation, agent: null, after, limit, bodies: 'asks' })
  }
  const rows = await familyOf(x.db.sql, caller.agent, conversation, after, limit + 1)
  const shown = rows.slice(0, limit)
  const views = await findRequests(
    x.db.sql,
    shown.map((row) => row.id),
    'asks',
  )
  const last = shown.at(-1)
  const more = rows.length > limit && last !== undefined
  return {
    items: await Promise.all(views.map((view) => narrowed(x, caller, view))),
    nextCursor: more ? cursorOf({ at: last.openedAt, id: last.id }) : null,
  }
}

/** A lane's name follows from its conversation, so it is checked and never guessed back. */
async function conversationOfLane(x: Exchange, caller: ToolCaller): Promise<ConversationId | null> {
  const { lane, turn } = caller
  if (lane === null) return null
  const [waiting] = turn === null ? await laneInbox(x.db.sql, lane, { at: 0, id: '' }, 1) : []
  const request = turn === null ? waiting?.request : await requestOfTurn(x.db.sql, turn)
  if (request === undefined || request === null) return null
  const conversation = (await stateOfRequest(x.db.sql, request)).request?.conversation
  return conversation !== undefined && laneOf(conversation, caller.agent) === lane ? conversation : null
}

/** A worker sees neither where an owner is answered nor a request above that it has no part in. */
async function narrowed(x: Exchange, caller: ToolCaller, view: RequestView): Promise<RequestView> {
  if (caller.agent === MANAGER) return view
  const above = view.parent === null ? null : await reach(x, caller, view.parent)
  return { ...view, parent: above === null ? null : view.parent, deliveries: [] }
}
