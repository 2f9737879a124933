import type { AgentTools, InboxEntry, ToolCaller } from '../../collab/agent-tools.js'
import { decideProvide } from '../../collab/decide/inbox.js'
import { liveAttemptOf, providedKey, type ExchangeState } from '../../collab/exchange-state.js'
import type { Observation } from '../../collab/observation.js'
import { SOURCE_CHARACTERS } from '../../collab/project/brief.js'
import { nameOf, revisionsOf } from '../../collab/project/material.js'
import { defused, inLine } from '../../collab/project/outside.js'
import { MANAGER, type Instant } from '../../collab/refs.js'
import { factsOfMany, fold, textsOf } from '../../stores/ledger/read.js'
import { attachedInbox, laneInbox, type InboxPlace } from '../../stores/turns/inbox.js'
import { cursorOf, placeOf } from '../../stores/views/cursor.js'
import type { Exchange } from '../deps.js'
import { decideAndCommit } from '../exchange.js'
import { eventIdOf } from '../ids.js'
import { scopeOf } from '../open.js'
import { askDigestsOf } from '../relate.js'
import { standing } from '../tokens.js'
import { actorOf } from './act.js'
import { briefOfFacts } from './brief-of.js'
import { continuityFor } from './continuity-for.js'
import { maySee } from './scope.js'

/** Entries of one page. */
const PAGE = 50

/**
 * What stands in the caller's inbox, oldest first: reading takes nothing out of it. For a caller without a running turn
 * each request that it may act on is recorded as provided, which is not presentation.
 *
 * @source RFC §5.6, ledger "Axes"
 */
export async function inboxRead(
  x: Exchange,
  caller: ToolCaller,
  page: Parameters<AgentTools['inboxRead']>[1],
): Promise<Awaited<ReturnType<AgentTools['inboxRead']>>> {
  const limit = Number.isInteger(page.limit) ? Math.min(Math.max(page.limit, 1), PAGE) : PAGE
  const places = await placesOf(x, caller, page.cursor, limit + 1)
  const shown = places.slice(0, limit)
  const facts = await factsOfMany(
    x.db.sql,
    shown.map((place) => place.request),
  )
  const items: InboxEntry[] = []
  for (const { request } of shown) {
    const own = facts.get(request) ?? []
    const entry = await entryOf(x, caller, fold(request, own), own)
    if (entry !== null) items.push(entry)
  }
  const last = shown.at(-1)
  const more = places.length > limit && last !== undefined
  return { items, nextCursor: more ? cursorOf({ at: last.at, id: last.request }) : null }
}

async function placesOf(
  x: Exchange,
  caller: ToolCaller,
  cursor: string | null,
  limit: number,
): Promise<readonly InboxPlace[]> {
  const after = (cursor === null ? null : placeOf(cursor)) ?? { at: 0, id: '' }
  if (caller.lane !== null) return await laneInbox(x.db.sql, caller.lane, after, limit)
  return caller.agent === MANAGER ? [] : await attachedInbox(x.db.sql, caller.agent, after.id, limit)
}

async function entryOf(
  x: Exchange,
  caller: ToolCaller,
  state: ExchangeState,
  facts: readonly Observation[],
): Promise<InboxEntry | null> {
  const { request } = state
  if (request === null || state.closed !== null || !(await maySee(x, caller, state, request))) return null
  const brief = await briefOfFacts(x, facts)
  if (brief === null) return null
  await provide(x, caller, state)
  const digests = askDigestsOf(facts)
  const bodies = await textsOf(x.db.sql, [...digests.values()], revisionsOf(facts).at(-1)?.context.accessScope ?? '')
  const omissions = [...brief.omissions]
  const asks = [...state.asks].map(([id, ask]) => {
    const text = bodies.get(digests.get(id) ?? '') ?? null
    const long = text !== null && text.length > SOURCE_CHARACTERS
    if (long) omissions.push({ what: `the text of ask ${id}`, because: 'too-large' })
    return { id, text: long ? null : text, state: ask.is }
  })
  const more = await continuityFor(x, state, caller.agent, scopeOf(request.conversation))
  return {
    request: state.id,
    revision: state.head,
    from: nameOf(request.sender),
    intent: request.intent,
    openedAt: request.openedAt,
    asks,
    brief: [brief.text, ...more.map(({ title, text }) => `${inLine(title)}:\n${defused(text)}`)].join('\n\n'),
    omissions,
  }
}

/** Only to a receiver, once per revision; the running turn presents what it presents by itself. */
async function provide(x: Exchange, caller: ToolCaller, state: ExchangeState): Promise<void> {
  if (caller.turn !== null || liveAttemptOf(state, caller.agent) === null) return
  if (state.provided.has(providedKey(caller.agent, state.head))) return
  const { agent, session } = caller
  await decideAndCommit(
    x,
    {
      kind: 'provide-context',
      eventId: eventIdOf('provided', state.id, state.head, agent),
      requestId: state.id,
      at: x.clock.now() as Instant,
      actor: actorOf(caller),
      agent,
      onRevision: state.head,
      session,
    } as const,
    decideProvide,
    () => ({}),
    { tool: 'inbox-read', agent },
    standing(caller),
  )
}
