import { sha256 } from '../lib/digest.js'
import { endBinding, liveBinding, REPLACED } from '../stores/bindings/bindings.js'
import { actOnRecord, writeAudit } from '../stores/sessions/audit.js'
import { issueToken } from '../stores/tokens/tokens.js'
import { askTurnToEnd, openTurnIn } from '../stores/turns/stops.js'
import type { Exchange } from './deps.js'

/** Why a session was not stopped or replaced. */
export type SessionRefusal = 'session-unknown' | 'session-ended' | 'nothing-running' | 'session-busy'

export type SessionOutcome =
  | { readonly outcome: 'accepted' | 'already-applied' }
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'refused'; readonly reason: SessionRefusal }

export interface SessionCommand {
  readonly session: string
  readonly eventId: string
  /** Who asks, as the door knows them. */
  readonly who: string
}

/**
 * Asks the turn that runs in a session to end. Its holder looks for it and ends it within 3 s; the request is held, and
 * its owner may let it run again.
 *
 * @source RFC §5.11; A23 (a stop hits the turn that was meant, and no later one)
 */
export async function stopSession(x: Exchange, command: SessionCommand): Promise<SessionOutcome> {
  return await once(x, command, 'session stop', async (lane, tx) => {
    const turn = await openTurnIn(tx, lane)
    if (turn === null) return 'nothing-running'
    await askTurnToEnd(tx, turn, `session-${command.eventId}`, x.clock.now())
    return null
  })
}

/**
 * Ends a session: whatever comes next in its lane begins another one, which is told what is on record. From the commit
 * on every tool call of the old executor is refused; the executor itself is ended before the next one starts.
 *
 * @source RFC §5.7.3; A18
 */
export async function replaceSession(x: Exchange, command: SessionCommand): Promise<SessionOutcome> {
  return await once(x, command, 'session replace', async (lane, tx) => {
    if ((await openTurnIn(tx, lane)) !== null) return 'session-busy'
    const now = x.clock.now()
    await endBinding(tx, command.session, REPLACED, now)
    // Nobody ever holds this token: its epoch alone makes the older ones stale.
    const digest = sha256(`no-token\u0000${x.newSecret()}`)
    const seat = { agent: 'nobody', seat: `lane ${lane}`, session: lane, lane, digest, now, expiresAt: now }
    await issueToken(tx, seat)
    return null
  })
}

/** One command is carried out once, with its line in the audit in the same transaction. */
async function once(
  x: Exchange,
  { session, eventId, who }: SessionCommand,
  act: string,
  run: (lane: string, tx: Parameters<Parameters<Exchange['db']['tx']>[0]>[0]) => Promise<SessionRefusal | null>,
): Promise<SessionOutcome> {
  return await x.db.tx(async (tx) => {
    const before = await actOnRecord(tx, eventId)
    if (before !== null) return { outcome: before === act ? 'already-applied' : 'conflict' }
    const binding = await liveBinding(tx, session)
    if (binding === null) return { outcome: 'refused', reason: 'session-unknown' }
    if (binding.endedAt !== null) return { outcome: 'refused', reason: 'session-ended' }
    const refused = await run(binding.lane, tx)
    if (refused !== null) return { outcome: 'refused', reason: refused }
    await writeAudit(tx, { id: eventId, at: x.clock.now(), who, act, subject: session })
    return { outcome: 'accepted' }
  })
}
