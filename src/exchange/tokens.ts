import type { ToolCaller } from '../collab/agent-tools.js'
import type { ToolAccess } from '../collab/ports.js'
import type { AgentId, LaneId, TurnId } from '../collab/refs.js'
import { must } from '../lib/assert.js'
import { sha256 } from '../lib/digest.js'
import { findToken, isReplaced, issueToken } from '../stores/tokens/tokens.js'
import { openTurns } from '../stores/turns/turns.js'
import type { Exchange } from './deps.js'
import type { Stands } from './exchange.js'

/** Why a bearer is nobody. The words are told to whoever holds a token of ours; a stranger hears only 401. */
export type CallerRefusal = 'unknown' | 'revoked' | 'stale-epoch' | 'expired'

/** The purpose is part of what is digested, so no other secret of ours is ever a token. */
const digestOfToken = (token: string): string => sha256(`agent-token\u0000${token}`)
/** The prefix lets a scanner for leaked secrets find one. */
const newToken = (x: Exchange): string => `lma_${x.newSecret()}`

/** What one executor holds at a time: a session of a managed agent's lane, or that of an attached one. */
function seatOf(of: { readonly agent: AgentId; readonly session: string; readonly lane: LaneId | null }): string {
  return of.lane === null ? `agent ${of.agent} ${of.session}` : `lane ${of.session}`
}

/**
 * A new executor of a managed agent's lane: its token begins a new epoch, and every older one of the lane is stale.
 * Asked for when a process really begins; the session of a managed agent is its lane, or its lane in one context.
 */
export async function toolAccess(
  x: Exchange,
  seat: { readonly agent: AgentId; readonly lane: LaneId; readonly session?: LaneId },
): Promise<ToolAccess> {
  const { agent, lane, session = lane } = seat
  const url = must(x.toolsUrl, 'the address of the tools')
  const token = newToken(x)
  await issueToken(x.db.sql, {
    agent,
    seat: seatOf({ agent, session, lane }),
    session,
    lane,
    digest: digestOfToken(token),
    now: x.clock.now(),
    expiresAt: null,
  })
  return { url, token }
}

/** A token for an agent that runs by itself. Shown once; a new one of the same session replaces it at once. */
export async function standingToken(
  x: Exchange,
  seat: { readonly agent: AgentId; readonly session: string },
): Promise<{ readonly token: string; readonly epoch: number }> {
  const { agent, session } = seat
  const token = newToken(x)
  const epoch = await issueToken(x.db.sql, {
    agent,
    seat: seatOf({ agent, session, lane: null }),
    session,
    lane: null,
    digest: digestOfToken(token),
    now: x.clock.now(),
    expiresAt: null,
  })
  return { token, epoch }
}

/**
 * Whose call this is, with the turn that runs in the lane now.
 *
 * @source RFC §5.7: an executor that was replaced cannot act, whatever it says
 */
export async function callerOf(x: Exchange, bearer: string): Promise<ToolCaller | { readonly refused: CallerRefusal }> {
  const { sql } = x.db
  const found = await findToken(sql, digestOfToken(bearer), x.clock.now())
  if (found === null) return { refused: 'unknown' }
  if (found.revoked) return { refused: 'revoked' }
  if (!found.current) return { refused: 'stale-epoch' }
  if (found.expired) return { refused: 'expired' }
  const { agent, session, epoch, lane } = found
  // A process of another context of the lane is there, and this turn is not its own.
  const open = lane === null ? [] : await openTurns(sql, lane)
  const turn = open.find((one) => one.session === null || one.session === session)
  return {
    agent: agent as AgentId,
    session,
    epoch,
    lane: lane as LaneId | null,
    turn: (turn?.id ?? null) as TurnId | null,
  }
}

/**
 * The same question once more, inside the transaction of what the caller does: a replacement that came between the door
 * and the commit makes it refuse, and one that comes later waits for the commit.
 *
 * @source ledger invariant 10 — A18
 */
export function standing(caller: ToolCaller): Stands {
  const seat = seatOf(caller)
  return async (tx) => ((await isReplaced(tx, seat, caller.epoch)) ? { reason: 'stale-epoch' } : null)
}
