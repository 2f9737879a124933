import {
  mayOperate,
  mayStart,
  type Addressed,
  type Admission,
  type Membership,
  type Speaker,
  type StandingPolicy,
} from '../collab/chat-policy.js'
import type { IncomingMessage, TurnAuthority } from '../collab/message.js'
import type { AuthorityRef } from '../collab/request.js'
import { anyOurs, type IngressRow } from '../stores/ingress/ingress.js'
import { countStart, membershipsOf, type MemberRow } from '../stores/policies/members.js'
import { EVERYWHERE } from '../stores/policies/policies.js'
import type { Exchange } from './deps.js'
import { policyIn } from './chat-policy.js'
import { isIsolated } from './isolated.js'
import { ownersNow, type Owner } from './owners.js'
import { parentsOf } from './take.js'

/** Who wrote a message, as its envelope says. */
export function speakerOf({ bot, sender }: IncomingMessage): Speaker {
  return { app: bot, tenantKey: sender.tenantKey, openId: sender.openId, type: sender.type }
}

/** What was decided about one message, with what it was decided from. */
export interface Judged {
  readonly admission: Admission
  readonly standing: StandingPolicy
  readonly addressed: Addressed
  readonly owners: readonly Owner[]
  readonly memberships: readonly MemberRow[]
}

/**
 * May this message start a turn here, by the policy that stands now? What the door said of it before it was stored only
 * tells what it is; who may is read here.
 *
 * @source RFC §5.3, §7
 */
export async function judge(x: Exchange, message: IncomingMessage, verdict: TurnAuthority['verdict']): Promise<Judged> {
  const { bot, chatId, sender } = message
  const { sql } = x.db
  const [standing, addressed] = await Promise.all([policyIn(x, sql, bot, chatId), addressedAs(x, message, verdict)])
  const asks = addressed !== 'platform' && (addressed !== 'nobody' || standing.policy.mention === 'off')
  const owners = asks ? await ownersNow(x, sql, bot) : []
  const speaker = speakerOf(message)
  const other = asks && speaker.type === 'user' && !mayOperate(speaker, owners)
  const rows = other ? await membershipsOf(sql, { bot, chatId, openId: sender.openId }) : []
  const admission = mayStart({
    speaker,
    chatId,
    addressed,
    policy: standing.policy,
    owners,
    memberships: rows.map(membershipOf),
    isolated: other && (await isIsolated(x)),
    at: x.clock.now(),
  })
  return { admission, standing, addressed, owners, memberships: rows }
}

/** How a message is meant for this bot: from its own facts, and whether it replies to a message of ours. */
async function addressedAs(
  x: Exchange,
  message: IncomingMessage,
  verdict: TurnAuthority['verdict'],
): Promise<Addressed> {
  if (message.messageType === 'system') return 'platform'
  if (message.chatType === 'p2p') return message.sender.type === 'bot' ? 'platform' : 'direct'
  if (message.mentionsSelf) return 'mention'
  if (message.mentionsAll) return 'all'
  if (verdict === 'ignored' || message.sender.type === 'bot') return 'nobody'
  const parents = parentsOf(message)
  return parents.length > 0 && (await anyOurs(x.db.sql, parents)) ? 'reply' : 'nobody'
}

/** A stored membership, as the decision reads it. */
export function membershipOf(row: MemberRow): Membership {
  return {
    id: row.id,
    app: row.bot,
    tenantKey: row.tenantKey,
    openId: row.openId,
    chatId: row.chatId === EVERYWHERE ? null : row.chatId,
    startsLeft: row.starts === null ? null : Math.max(0, row.starts - row.started),
    until: row.until,
    ended: row.endedAt !== null,
  }
}

/** The authority of an admitted message. A bot's is that of the first owner; a member's is never an owner's. */
export function authorityOf(message: IncomingMessage, judged: Judged): AuthorityRef | null {
  const { admission, owners, memberships, standing } = judged
  if (!admission.admitted) return null
  const { openId, tenantKey, unionId } = message.sender
  if (admission.as === 'owner') return { principal: 'owner', openId, tenantKey, unionId }
  const [first] = owners
  if (admission.as === 'bot') {
    if (first === undefined) return null
    return { principal: 'owner', openId: first.openId, tenantKey: first.tenantKey, unionId: first.unionId }
  }
  const { membership } = admission as Extract<Admission, { as: 'member' }>
  const by = memberships.find((one) => one.id === membership)?.admittedBy
  const sponsor = owners.find((owner) => owner.openId === by) ?? first
  const ref = standing.ref
  return { principal: 'member', openId, tenantKey, unionId, policy: ref, membership, sponsor: sponsor?.openId ?? null }
}

/** Takes a turn from a counted membership; false when another message took the last one meanwhile. */
export async function takeStart(x: Exchange, { admission }: Judged, row: IngressRow): Promise<boolean> {
  if (!admission.admitted || admission.as !== 'member' || admission.membership === null) return true
  const { membership } = admission
  return await x.db.tx((tx) => countStart(tx, membership, row.id))
}
