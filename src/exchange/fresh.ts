import { OWNER_PROFILE, profileKey, RESTRICTED_PROFILE, type SessionProfile } from '../collab/audience.js'
import type { Notice } from '../collab/notice.js'
import { MANAGER, type LaneId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { uuidFrom } from '../lib/digest.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { freshBefore, putMark } from '../stores/marks/marks.js'
import { heldOf } from '../stores/turns/stops.js'
import { openInputsOf } from '../stores/turns/standing.js'
import type { Exchange } from './deps.js'
import { goalKey, goalScopeFor } from './goal-scope.js'
import { eventIdOf } from './ids.js'
import { holdWaiting, type Said } from './marks.js'
import { profileFor, rootOf } from './profile.js'

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
  /** Names the runtime session of a lane: each context has its own, and in it each profile. */
  readonly sessionLane: LaneId
  /** Names the folder in which it works: what was found with one profile does not lie where another one looks. */
  readonly workspaceLane: LaneId
  readonly profile: SessionProfile
  /** Those of the same context that run with another profile. */
  readonly otherSessions: readonly LaneId[]
  /** What was said nearby before that belongs to an earlier context; null: there is none. By the provider's clock. */
  readonly since: number | null
}

/**
 * The context of a request follows from when its message arrived, never from when it runs: what is owed from before a
 * fresh conversation stays with the session that it was meant for. Work that was handed on belongs to the context of
 * the message at its root.
 *
 * A session of one profile is never continued by another: with a changed profile a new one begins, which is told what is
 * on record (A12). So it is with the goals that its audience may learn of: what was learned under one set stays there.
 */
export async function contextOf(x: Exchange, request: WorkRequest, lane: LaneId): Promise<Context> {
  const root = (await stateOfRequest(x.db.sql, await rootOf(x.db.sql, request))).request ?? request
  const { bot, messageId } = root.origin
  const fresh = await freshBefore(x.db.sql, request.conversation, { bot, messageId, openedAt: root.openedAt })
  const profile = await profileFor(x, x.db.sql, request)
  const base = fresh === null ? lane : (uuidFrom('context', lane, fresh.id) as LaneId)
  const goals = profile.kind === 'owner' ? '' : goalKey(await goalScopeFor(x, request, request.target ?? MANAGER))
  const granted = goals === '' ? [] : [goals]
  const sessionLane = sessionLaneOf(base, profile, granted)
  return {
    sessionLane,
    otherSessions: [sessionLaneOf(base, OWNER_PROFILE), sessionLaneOf(base, RESTRICTED_PROFILE)].filter(
      (other) => other !== sessionLane,
    ),
    workspaceLane: profile.kind === 'owner' ? lane : (uuidFrom('workspace', lane, profile.kind, ...granted) as LaneId),
    profile,
    since: fresh?.writtenAt ?? null,
  }
}

const sessionLaneOf = (context: LaneId, profile: SessionProfile, granted: readonly string[] = []): LaneId =>
  profile.kind === 'owner' ? context : (uuidFrom('profile', context, profileKey(profile), ...granted) as LaneId)
