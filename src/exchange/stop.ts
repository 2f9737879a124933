import type { JobOutcome } from '../collab/jobs.js'
import type { Notice } from '../collab/notice.js'
import type { Instant } from '../collab/refs.js'
import { SECOND } from '../lib/time.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { markOf, putMark, type Mark } from '../stores/marks/marks.js'
import { askStop, heldOf, turnsStoppedBy, type StoppedTurn } from '../stores/turns/stops.js'
import { inputOf } from '../stores/turns/turns.js'
import { putWake } from '../stores/wakes/wakes.js'
import type { Exchange } from './deps.js'
import { eventIdOf } from './ids.js'
import { holdOne, holdWaiting, placeOfMark, reachOf, type Said } from './marks.js'
import { say } from './say.js'
import { tellStopped } from './stopped-outside.js'

/** A turn that has not ended by then is told of as being stopped; the end is told when it comes. */
const SAY_STOPPING_MS = 0.8 * SECOND
const LOOK_MS = 0.25 * SECOND
/** Its process does not answer: the lane's next run ends the turn. Looked at less often from then on. */
const SLOW_AFTER_MS = 10 * SECOND
const SLOW_LOOK_MS = 5 * SECOND

/** The wake that follows a stop to its end. */
export const stopSubject = (mark: string): string => `stop-${mark}`

/**
 * Ends what runs in a conversation and holds what waits in it. The mark is a row, and so is the wish on each turn: the
 * process that holds a turn looks for it, whichever process heard the word. What became of each thing is said by
 * `settleStop`.
 *
 * The order must not change. The turn is asked first, since it has 3 s. What arrived before and is not accepted yet
 * finds the mark and is held on its way in. A turn that began while the others were being held is asked at the end: it
 * either finds its request held, or is found here.
 *
 * @param earlier accepts what arrived before the word
 * @source delivery In 9; case 08
 */
export async function stopConversation(x: Exchange, said: Said, earlier: () => Promise<void>): Promise<void> {
  const mark = await putMark(x.db.sql, {
    id: eventIdOf('stop', said.cause),
    conversation: said.conversation.id,
    ingress: said.ingress,
    kind: 'stop',
    position: said.position,
    writtenAt: said.writtenAt,
    markedAt: x.clock.now(),
  })
  await askStop(x.db.sql, mark.id, reachOf(mark))
  await earlier()
  await holdWaiting(x, mark)
  await askStop(x.db.sql, mark.id, reachOf(mark))
  x.wake.kick([await putWake(x.db.sql, 'upkeep', stopSubject(mark.id), x.clock.now())])
}

/**
 * Says what a stop did to each thing, once every turn that it asked has ended.
 *
 * @returns later while one still runs
 */
export async function settleStop(x: Exchange, markId: string): Promise<JobOutcome> {
  const mark = await markOf(x.db.sql, markId)
  // No word in a chat: an operator asked for it.
  if (mark === null) return await tellStopped(x, markId)
  const place = await placeOfMark(x, mark)
  const turns = await turnsStoppedBy(x.db.sql, markId)
  const endings = await Promise.all(turns.map((turn) => endingOf(x, turn)))
  const running = endings.filter((ending) => ending === 'running').length
  const now = x.clock.now()
  const waited = now - mark.markedAt
  if (running > 0) {
    if (waited >= SAY_STOPPING_MS && place !== null) {
      await tell(x, place, { kind: 'stopping', turns: running }, `stopping-${mark.id}`, false)
    }
    const look = waited < SLOW_AFTER_MS ? LOOK_MS : SLOW_LOOK_MS
    return { outcome: 'later', at: (now + look) as Instant, because: 'turn-running' }
  }
  // One that failed just before it was ended would be tried again by itself.
  for (const [n, turn] of turns.entries()) if (endings[n] === 'ended') await holdRest(x, mark, turn)
  await holdWaiting(x, mark)
  if (place !== null) await tell(x, place, await whatItDid(x, mark, turns, endings), mark.id, true)
  return { outcome: 'done', note: 'told' }
}

type Ending = 'running' | 'ended' | 'finished'

/** A turn that had answered before the wish reached it has finished. */
async function endingOf(x: Exchange, turn: StoppedTurn): Promise<Ending> {
  const state = await stateOfRequest(x.db.sql, turn.request)
  const told = state.turns.get(turn.id as never)?.ending
  if (told === undefined) return turn.endedAt === null ? 'running' : turn.ended === 'completed' ? 'finished' : 'ended'
  if (told === null) return 'running'
  return told.ended === 'completed' ? 'finished' : 'ended'
}

async function holdRest(x: Exchange, mark: Mark, turn: StoppedTurn): Promise<void> {
  const input = await inputOf(x.db.sql, turn.request)
  if (input?.state !== 'waiting') return
  await holdOne(x, mark, { request: turn.request, lane: turn.lane, position: input.position })
}

async function whatItDid(
  x: Exchange,
  mark: Mark,
  turns: readonly StoppedTurn[],
  endings: readonly Ending[],
): Promise<Notice> {
  const stopped = new Set<string>(turns.map((turn) => turn.request))
  const held = (await heldOf(x.db.sql, mark.conversation)).filter((one) => one.because === 'stopped' && one.own)
  const queued = held.filter((one) => !stopped.has(one.request))
  const ended = endings.filter((ending) => ending === 'ended').length
  const finished = endings.filter((ending) => ending === 'finished').length
  const { conversation } = mark
  if (ended + finished === 0) return { kind: 'nothing-running', held: held.length, conversation }
  return { kind: 'stopped', turns: ended, finished, queued: queued.length, conversation }
}

async function tell(
  x: Exchange,
  place: NonNullable<Awaited<ReturnType<typeof placeOfMark>>>,
  notice: Notice,
  causeId: string,
  last: boolean,
): Promise<void> {
  const { route, messageId, conversation } = place
  await say(x, {
    causeKind: 'control',
    causeId,
    route,
    notice,
    language: conversation.language,
    endsReceipt: last && messageId !== null ? { messageId, chatId: route.chatId, end: 'done' } : null,
    request: null,
  })
}
