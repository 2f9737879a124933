import { decideSettleSteer, decideSteer } from '../collab/decide/steer.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import type { Steered } from '../collab/observation.js'
import type { AgentRuntime, RuntimeSession, TurnInput } from '../collab/ports.js'
import { composeSteer } from '../collab/project/steer-text.js'
import type { Instant, LaneId, TurnId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { uuidFrom } from '../lib/digest.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { endAsked } from '../stores/turns/stops.js'
import type { FollowUp } from '../stores/turns/behind.js'
import { goneFrom } from './admission-gone.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { contextOf, type Context } from './fresh.js'
import { eventIdOf } from './ids.js'
import { prepareTurn } from './prepare.js'
import { untilStored } from './until-stored.js'

/** A turn that runs in this process, and whom it runs for. */
export interface Steering {
  readonly lane: LaneId
  readonly turn: TurnId
  readonly request: WorkRequest
  /** Only what belongs to the same conversation context is put into it. */
  readonly context: Context
  readonly runtime: AgentRuntime
  readonly session: RuntimeSession
  readonly signal: AbortSignal
}

/**
 * Whether follow-ups may be put into this turn at all: its runtime can, its agent has the tool by which it says what a
 * message belongs to, and it runs for the person who wrote to it in a chat.
 *
 * @param byPerson a person's word started it
 * @source delivery In 9
 */
export function isSteerable(x: Exchange, { runtime, request }: Steering, byPerson: boolean): boolean {
  return byPerson && runtime.abilities.has('steer') && x.toolsUrl !== null && ownWriter(request) !== null
}

/**
 * Puts the words of one waiting follow-up into the turn that runs before it, once: the intent is written before the
 * call and what became of it after. Only the process that holds the turn has its session. The follow-up stays in its
 * lane: related by the agent it goes on in this turn's request, and otherwise it gets a turn of its own.
 *
 * @returns what the runtime said; `not-yet` while the turn has not begun; `left` when nothing was put in: it does not
 *   belong there, was put there before, or the turn is to end
 * @source RFC A23, delivery In 9
 */
export async function steerInto(x: Exchange, of: Steering, followUp: FollowUp): Promise<Steered | 'not-yet' | 'left'> {
  const { turn, request } = of
  const state = await stateOfRequest(x.db.sql, followUp.request)
  if (!(await belongs(x, of, state, followUp))) return 'left'
  const now = await stateOfRequest(x.db.sql, request.id)
  if (now.running === null && !now.turns.has(turn)) return 'not-yet'
  if (!runsOn(now, turn)) return 'left'
  const input = await inputFor(x, of, state, now)
  const asked = await endAsked(x.db.sql, turn, request.id)
  if (asked.cancelled || asked.stoppedBy !== null) return 'left'
  const about = { requestId: followUp.request, turn }
  const intent = { kind: 'steer-turn', eventId: eventIdOf('steer', turn, followUp.request), into: request.id } as const
  const receipt = await decideAndCommit(x, { ...about, ...intent, at: x.clock.now() as Instant }, decideSteer)
  // Heard before: whoever wrote that has made the call, or has died before it and nobody knows.
  if (receipt.outcome !== 'accepted') return 'left'
  const told = tell(of, input).then(async (became) => {
    const eventId = eventIdOf('steered', turn, followUp.request)
    const at = x.clock.now() as Instant
    const settling = { ...about, kind: 'settle-steer', eventId, at, became } as const
    await untilStored(x, of.signal, () => decideAndCommit(x, settling, decideSettleSteer))
    return became
  })
  x.running.telling(turn, followUp.request, told)
  const became = await told
  x.log.info('a follow-up was put into a running turn', { requestId: followUp.request, turnId: turn, reason: became })
  return became
}

async function tell({ session, turn }: Steering, input: TurnInput): Promise<Steered> {
  try {
    return await session.steer(turn, input)
  } catch {
    // It may have arrived all the same.
    return 'unknown'
  }
}

/** Of the same person, who may start work there now, for the same conversation context, and not come late. */
async function belongs(x: Exchange, of: Steering, state: ExchangeState, followUp: FollowUp): Promise<boolean> {
  const { request } = state
  if (request === null || ownWriter(request) !== ownWriter(of.request)) return false
  if (request.conversation !== of.request.conversation) return false
  if (followUp.openedAt - followUp.position > x.settings.lateAfterMs) return false
  // Judged again when its own turn is about to start: who may not start one does not speak in another one either.
  if ((await goneFrom(x, request)) !== null) return false
  return (await contextOf(x, request, of.lane)).sessionLane === of.context.sessionLane
}

/** A question that was withdrawn takes nothing up: what becomes of its answer is not known. */
function runsOn(state: ExchangeState, turn: TurnId): boolean {
  return state.running === turn && state.cancel === 'none' && !state.recalled && state.closed === null
}

/** The owner who wrote it in a chat, in their own name; null for everything else. */
function ownWriter({ sender, authority, returnTo, parent }: WorkRequest): string | null {
  const own = sender.kind === 'person' && sender.openId === authority.openId
  const { principal, openId } = authority
  return own && parent === null && returnTo.channel === 'lark' ? `${principal} ${openId}` : null
}

async function inputFor(x: Exchange, of: Steering, state: ExchangeState, running: ExchangeState): Promise<TurnInput> {
  const followUp = state.request ?? of.request
  const id = uuidFrom('steer', of.turn, followUp.id) as TurnId
  const { input } = await prepareTurn(x, state, followUp, of.lane, id, {
    shownBefore: [],
    context: of.context,
    alone: true,
  })
  const { id: request, head: revision } = running
  return { ...input, text: composeSteer({ running: { request, revision }, followUp: followUp.id, text: input.text }) }
}
