import { decideHold } from '../collab/decide/control.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { BotId, ConversationId, Instant, LaneId, RequestId } from '../collab/refs.js'
import { DAY, MINUTE, SECOND } from '../lib/time.js'
import { undecidedCards } from '../stores/choices/choices.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import type { FollowUp } from '../stores/turns/behind.js'
import { heldInputs, newestHeld } from '../stores/turns/turns.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { eventIdOf, laneOf } from './ids.js'
import { placeOf } from './place.js'
import { say } from './say.js'

/** Those that are held together are told of together: when none has come for so long. */
const CALM_MS = 3 * SECOND
/** One that keeps writing is told all the same. */
const PATIENCE_MS = 15 * SECOND
/** A card that was sent longer ago is not looked for. */
const CARD_LIFE_MS = 14 * DAY
const CARDS = 50

/**
 * Holds, of what waits behind a turn, what is too much or has waited too long: nothing of it starts by itself until its
 * owner says so. Each message once, so that one that the owner let run is never held again.
 *
 * @param waiting in the order in which it was written
 * @param tried what this turn has decided about before; it is added to
 * @source delivery In 9, issue "Follow-ups": never dropped
 */
export async function holdBacklog(
  x: Exchange,
  at: { readonly lane: LaneId; readonly conversation: ConversationId },
  waiting: readonly FollowUp[],
  tried: Set<RequestId>,
): Promise<void> {
  const { followUpsWaiting: most, followUpsHoldMs } = x.settings
  const now = x.clock.now()
  for (const [n, { request, position, openedAt }] of waiting.entries()) {
    if ((most === 0 || n < most) && now - openedAt < followUpsHoldMs) continue
    if (tried.has(request)) continue
    tried.add(request)
    await decideAndCommit(
      x,
      {
        kind: 'hold-request',
        eventId: eventIdOf('backlog', request),
        requestId: request,
        at: now as Instant,
        actor: { kind: 'host' },
        because: 'backlog',
      } as const,
      decideHold,
      () => ({
        input: { lane: at.lane, state: 'held', because: 'backlog', position },
        wakes: [{ kind: 'upkeep', subject: `backlog-${at.conversation}`, dueAt: now }],
      }),
    )
  }
}

/**
 * The one card about what a conversation holds so. While it is undecided it stands for whatever is held after it, too:
 * a press acts on all that is held then.
 *
 * @returns later while more may come
 */
export async function tellBacklog(x: Exchange, conversationId: string): Promise<JobOutcome> {
  const nothing: JobOutcome = { outcome: 'done', note: 'nothing held' }
  const lane = laneOf(conversationId as ConversationId)
  const [newest, inputs] = [await newestHeld(x.db.sql, lane, 'backlog'), await heldInputs(x.db.sql, lane, 'backlog')]
  const [oldest] = inputs
  const conversation = await conversationOf(x.db.sql, conversationId)
  if (newest === null || oldest === undefined || conversation === null) return nothing
  const { request } = await stateOfRequest(x.db.sql, oldest.request as RequestId)
  const place = request === null ? null : placeOf(request)
  if (request === null || place === null) return nothing
  const now = x.clock.now()
  const tellAt = Math.min(newest.openedAt + CALM_MS, request.openedAt + PATIENCE_MS)
  if (tellAt > now) return { outcome: 'later', at: tellAt as Instant, because: 'more may come' }
  const where = { bot: conversation.bot as BotId, conversation: conversationId }
  const open = await undecidedCards(x.db.sql, where, now - CARD_LIFE_MS, CARDS)
  if (open.some(({ notice }) => notice.kind === 'backlog-held')) return { outcome: 'done', note: 'a card asks already' }
  await say(x, {
    causeKind: 'notice',
    causeId: `backlog-${oldest.request}`,
    route: place,
    notice: {
      kind: 'backlog-held',
      count: inputs.length,
      oldestMinutes: Math.max(1, Math.round((now - oldest.position) / MINUTE)),
      conversation: conversationId,
    },
    language: conversation.language,
    endsReceipt: null,
    request: request.id,
  })
  return { outcome: 'done', note: 'told' }
}
