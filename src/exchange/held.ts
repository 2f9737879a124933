import { decideRelease, decideSkip } from '../collab/decide/control.js'
import type { Receipt } from '../collab/decision.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { Notice } from '../collab/notice.js'
import type { ConversationId, Instant, RequestId } from '../collab/refs.js'
import { MINUTE, SECOND } from '../lib/time.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { eventsOnRecord } from '../stores/ledger/find.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { heldOf, latestOf, type HeldInput } from '../stores/turns/stops.js'
import { heldInputs, newestHeld, reviveInput } from '../stores/turns/turns.js'
import { putWake } from '../stores/wakes/wakes.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { eventIdOf, laneOf } from './ids.js'
import type { Said } from './marks.js'
import { placeOf } from './place.js'
import { receiptsSubject } from './receipts-of.js'
import { cancelWakes } from './returns.js'
import { say } from './say.js'
import { settleWithheld } from './withheld.js'

/** Late messages of one place that come together are told of together: when none has come for so long. */
const LATE_NOTICE_DELAY_MS = 3 * SECOND

/** How far back a word can have acted in one conversation. */
const RECENT = 1_000

type Act = 'release-held' | 'skip-held' | 'settle-withheld'

/**
 * Starts what waits for the owner's word in a conversation, each in its own context: late messages, those that a stop
 * or a fresh conversation held, those whose tries were used up; and shows results that were kept back.
 */
export async function runHeld(x: Exchange, said: Said): Promise<Notice> {
  const lanes = new Set<string>()
  let brokenCount = 0
  for (const input of await heldOf(x.db.sql, said.conversation.id)) {
    if (input.because === 'result-withheld') {
      await settleWithheld(x, input.request, 'shown', said)
      continue
    }
    const receipt = await releaseOne(x, input, said)
    // A fault of our own kept it out of the lane without a fact: it only takes its place again.
    if (receipt.outcome === 'rejected' && input.because === 'failed') {
      brokenCount += await reviveInput(x.db.sql, input.request)
    }
    lanes.add(input.lane)
  }
  const [released, results] = [await doneBy(x, 'release-held', said), await doneBy(x, 'settle-withheld', said)]
  // One wake after all of them: they were held together and go into one turn.
  for (const lane of lanes) x.wake.kick([await putWake(x.db.sql, 'turn', lane, x.clock.now())])
  const count = released.length + brokenCount
  if (count + results.length === 0) return { kind: 'nothing-held' }
  return { kind: 'late-released', count, results: results.length }
}

/** Lets go of what waits for the owner's word, except what failed, and drops results that were kept back. */
export async function skipHeld(x: Exchange, said: Said): Promise<Notice> {
  for (const input of await heldOf(x.db.sql, said.conversation.id)) {
    if (input.because === 'failed') continue
    if (input.because === 'result-withheld') {
      await settleWithheld(x, input.request, 'dropped', said)
      continue
    }
    await skipOne(x, input, said)
  }
  const [skipped, results] = [await doneBy(x, 'skip-held', said), await doneBy(x, 'settle-withheld', said)]
  if (skipped.length + results.length === 0) return { kind: 'nothing-held' }
  return { kind: 'late-skipped', count: skipped.length, results: results.length }
}

/**
 * Of what waited too long or behind too many, starts the newest and lets the others go. The newest is the last to be
 * taken in hand, so a run that was interrupted finds the same one.
 */
export async function runNewest(x: Exchange, said: Said): Promise<Notice> {
  const begun = await doneBy(x, 'release-held', said)
  if (begun.length === 0) {
    const backlog = (await heldOf(x.db.sql, said.conversation.id)).filter((one) => one.because === 'backlog')
    for (const input of backlog.slice(0, -1)) await skipOne(x, input, said)
    const newest = backlog.at(-1)
    if (newest !== undefined) {
      await releaseOne(x, newest, said)
      x.wake.kick([await putWake(x.db.sql, 'turn', newest.lane, x.clock.now())])
    }
  }
  const released = await doneBy(x, 'release-held', said)
  const skipped = (await doneBy(x, 'skip-held', said)).length
  return released.length === 0 ? { kind: 'nothing-held' } : { kind: 'newest-released', skipped }
}

function releaseOne(x: Exchange, input: HeldInput, said: Said): Promise<Receipt> {
  return decideAndCommit(x, held('release-held', x, input, said), decideRelease, () => ({
    input: { lane: input.lane, state: 'waiting', because: null, position: input.position },
  }))
}

function skipOne(x: Exchange, input: HeldInput, said: Said): Promise<Receipt> {
  const now = x.clock.now()
  return decideAndCommit(x, held('skip-held', x, input, said), decideSkip, (_facts, state) => ({
    input: { lane: input.lane, state: 'settled', because: 'skipped', position: input.position },
    wakes: [
      ...cancelWakes(state, now),
      { kind: 'upkeep', subject: input.own ? receiptsSubject(input.request) : `return-${input.request}`, dueAt: now },
    ],
  }))
}

/** The requests for which this very word is on record: what it did, also when a run of it was interrupted. */
async function doneBy(x: Exchange, act: Act, said: Said): Promise<readonly RequestId[]> {
  const requests = await latestOf(x.db.sql, said.conversation.id, RECENT)
  const events = new Map(requests.map((request) => [eventIdOf(act, said.cause, request) as string, request]))
  const known = await eventsOnRecord(x.db.sql, [...events.keys()])
  return known.flatMap((event) => events.get(event) ?? [])
}

function held<K extends 'release-held' | 'skip-held'>(kind: K, x: Exchange, input: HeldInput, said: Said) {
  return {
    kind,
    eventId: eventIdOf(kind, said.cause, input.request),
    requestId: input.request,
    at: x.clock.now() as Instant,
    actor: said.actor,
  }
}

/**
 * The one notice about all late messages that one conversation holds now; the oldest one gives it its place.
 *
 * @returns later while more may come
 * @source delivery In 5
 */
export async function tellHeld(x: Exchange, conversationId: string): Promise<JobOutcome> {
  const nothing: JobOutcome = { outcome: 'done', note: 'nothing held' }
  const lane = laneOf(conversationId as ConversationId)
  const newest = await newestHeld(x.db.sql, lane, 'late')
  if (newest === null) return nothing
  const tellAt = newest.openedAt + LATE_NOTICE_DELAY_MS
  if (tellAt > x.clock.now()) return { outcome: 'later', at: tellAt as Instant, because: 'more may come' }
  const conversation = await conversationOf(x.db.sql, conversationId)
  const inputs = await heldInputs(x.db.sql, lane, 'late')
  const [oldest] = inputs
  if (conversation === null || oldest === undefined) return nothing
  const { request } = await stateOfRequest(x.db.sql, oldest.request as RequestId)
  const place = request === null ? null : placeOf(request)
  if (place === null) return nothing
  await say(x, {
    causeKind: 'notice',
    // Named by the newest: whatever came since the last notice is told of once more, with all the others.
    causeId: `late-${newest.request}`,
    route: place,
    notice: {
      kind: 'late-held',
      count: inputs.length,
      oldestMinutes: Math.round((x.clock.now() - oldest.position) / MINUTE),
      conversation: conversationId,
    },
    language: conversation.language,
    endsReceipt: null,
    request: oldest.request as RequestId,
  })
  return { outcome: 'done', note: 'told' }
}
