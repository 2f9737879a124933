import { isSame, mayOperate, mayStart, type StartRefusal } from '../collab/chat-policy.js'
import { decideCancel } from '../collab/decide/control.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import type { Instant } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { uuidFrom } from '../lib/digest.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { membershipsOf } from '../stores/policies/members.js'
import { writeAudit } from '../stores/sessions/audit.js'
import { holdInput, inputOf, settleInput } from '../stores/turns/turns.js'
import { membershipOf } from './admission.js'
import { afterCancel, languageOf } from './agents/cancel.js'
import { policyIn, subjectOf } from './chat-policy.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { eventIdOf } from './ids.js'
import { ownersNow } from './owners.js'

export type Gone = StartRefusal | 'not-an-owner'

/**
 * Why whoever asked may not start work there any more; null while they may. How the message named this bot, the hours,
 * and a count were judged when it was accepted.
 */
export async function goneFrom(x: Exchange, request: WorkRequest): Promise<Gone | null> {
  const { authority, origin, sender } = request
  const conversation = await conversationOf(x.db.sql, request.conversation)
  if (conversation === null) return null
  const { bot, chatId, chatType } = conversation
  const { openId, tenantKey = null } = authority
  const owners = await ownersNow(x, x.db.sql, bot)
  const { policy } = await policyIn(x, x.db.sql, bot, chatId)
  const who = { app: origin.bot, tenantKey, openId }
  if (authority.principal === 'owner') {
    if (!owners.some((owner) => isSame(owner, who))) return 'not-an-owner'
    const bots = sender.kind === 'person' && sender.openId !== openId
    if (bots) return policy.bots ? null : 'bots-closed'
    return policy.who === 'nobody' && chatType !== 'p2p' ? 'nobody' : null
  }
  const speaker = { ...who, type: 'user' } as const
  // Promoted meanwhile: the request stays a member's, and may run.
  if (mayOperate(speaker, owners)) return null
  const rows = await membershipsOf(x.db.sql, { bot, chatId, openId })
  const admission = mayStart({
    speaker,
    chatId,
    addressed: chatType === 'p2p' ? 'direct' : 'mention',
    policy: { ...policy, quiet: null },
    owners,
    memberships: rows.map(membershipOf).map((one) => ({ ...one, startsLeft: null })),
    // Where it cannot be held now it waits, and says so.
    isolated: true,
    at: x.clock.now(),
  })
  return admission.admitted ? null : admission.because
}

/**
 * Checked again when a turn is about to start: an owner who was removed, or a policy that was closed while work was
 * queued. Such a request is cancelled, its place hears so, and nothing of it runs.
 *
 * @returns true when it was refused
 * @source RFC §5.3 (matched at execution, not at queueing)
 */
export async function refuseIfGone(x: Exchange, state: ExchangeState): Promise<boolean> {
  const { request } = state
  const because = request === null ? null : await goneFrom(x, request)
  if (request === null || because === null) return false
  await refuseGone(x, state, request, because)
  return true
}

/** Cancels it, with the reason on record; its place hears of it. */
export async function refuseGone(
  x: Exchange,
  state: ExchangeState,
  request: WorkRequest,
  because: Gone,
): Promise<void> {
  const { id } = state
  const input = await inputOf(x.db.sql, id)
  const language = await languageOf(x, request.conversation)
  const at = x.clock.now() as Instant
  const { bot } = request.origin
  await writeAudit(x.db.sql, {
    id: uuidFrom('authority-gone', id, state.seq),
    at,
    who: request.authority.openId,
    act: `refused before its turn: ${because}`,
    subject: subjectOf(bot, (await conversationOf(x.db.sql, request.conversation))?.chatId ?? ''),
  })
  x.meter.count('routing_refused_total', 'authority-gone')
  const receipt = await decideAndCommit(
    x,
    {
      kind: 'cancel-request',
      eventId: eventIdOf('authority-gone', id, state.seq),
      requestId: id,
      at,
      actor: { kind: 'host' },
      onRevision: null,
      because: 'authority-gone',
    } as const,
    decideCancel,
    (facts, before) => afterCancel(input, facts, before, language, at),
  )
  if (receipt.outcome === 'rejected') {
    // Closed already, with a child's return to take up: nothing of that runs either.
    if (state.closed !== null) await settleInput(x.db.sql, id, state.closed, at)
    else await holdInput(x.db.sql, id, 'effect-open')
  } else if ((await inputOf(x.db.sql, id))?.state === 'waiting') await holdInput(x.db.sql, id, 'effect-open')
}
