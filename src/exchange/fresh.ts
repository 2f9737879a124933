import type { Notice } from '../collab/notice.js'
import type { LaneId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { uuidFrom } from '../lib/digest.js'
import { ancestorsOf } from '../stores/ledger/family.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { freshBefore, putMark } from '../stores/marks/marks.js'
import { heldOf } from '../stores/turns/stops.js'
import { openInputsOf } from '../stores/turns/standing.js'
import type { Exchange } from './deps.js'
import { eventIdOf } from './ids.js'
import { holdWaiting, type Said } from './marks.js'

/**
 * Begins a fresh conversation for whatever arrives after the word. What arrived before it and waits is held, and runs
 * in the old context when the owner says so; a turn that runs ends there and answers.
 *
 * @param earlier accepts what arrived before the word
 * @source delivery In 9
 */
export async function beginFresh(x: Exchange, said: Said, earlier: () => Promise<void>): Promise<Notice> {
  const mark = await putMark(x.db.sql, {
    id: eventIdOf('new', said.cause),
    conversation: said.conversation.id,
    ingress: said.ingress,
    kind: 'new',
    position: said.position,
    writtenAt: said.writtenAt,
    markedAt: x.clock.now(),
  })
  await earlier()
  await holdWaiting(x, mark)
  const held = (await heldOf(x.db.sql, mark.conversation)).filter((one) => one.own)
  const open = await openInputsOf(x.db.sql, mark.conversation)
  return {
    kind: 'fresh-context',
    owed: held.length,
    running: open.filter((one) => one.own && one.turn !== null).length,
    conversation: mark.conversation,
  }
}

/** The conversation context in which a request is worked on. */
export interface Context {
  /** Names the runtime session of a lane: each context has its own. */
  readonly sessionLane: LaneId
  /** What was said nearby before that belongs to an earlier context; null: there is none. By the provider's clock. */
  readonly since: number | null
}

/**
 * The context of a request follows from when its message arrived, never from when it runs: what is owed from before a
 * fresh conversation stays with the session that it was meant for. Work that was handed on belongs to the context of
 * the message at its root.
 */
export async function contextOf(x: Exchange, request: WorkRequest, lane: LaneId): Promise<Context> {
  const rootId = request.parent === null ? undefined : (await ancestorsOf(x.db.sql, request.id)).at(-1)
  const root = rootId === undefined ? request : ((await stateOfRequest(x.db.sql, rootId)).request ?? request)
  const { bot, messageId } = root.origin
  const fresh = await freshBefore(x.db.sql, request.conversation, { bot, messageId, openedAt: root.openedAt })
  if (fresh === null) return { sessionLane: lane, since: null }
  return { sessionLane: uuidFrom('context', lane, fresh.id) as LaneId, since: fresh.writtenAt }
}
