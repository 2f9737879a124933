import { attenuate, soundGrant, type AttenuationRefusal, type Audience, type NewGrant } from '../collab/grant.js'
import type { Effect, Scope } from '../collab/grant-scope.js'
import { MANAGER, type AgentId, type Instant } from '../collab/refs.js'
import { digestOf, uuidFrom } from '../lib/digest.js'
import { storableText } from '../lib/storable.js'
import { DAY } from '../lib/time.js'
import type { Tx } from '../stores/db.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { grantsAbove, grantsStand, putGrant } from '../stores/grants/grants.js'
import { actOnRecord, writeAudit } from '../stores/sessions/audit.js'
import type { Exchange } from './deps.js'

/** What an operator gives an agent. */
export interface GrantWanted {
  readonly agent: string
  readonly openId: string
  readonly scope: Scope
  readonly effects: readonly Effect[]
  readonly audience: Audience
  readonly reason: string
  /** From the moment at which it is given; null: until it is revoked. */
  readonly days: number | null
  readonly parent: string | null
}

export type GrantRefusal =
  AttenuationRefusal | 'grant-unknown' | 'agent-unknown' | 'not-an-owner' | 'conversation-unknown' | 'reason-unsound'

export type GrantReceipt =
  | { readonly outcome: 'accepted' | 'already-applied'; readonly grant: string }
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'refused'; readonly reason: GrantRefusal }

/** Characters of a reason. */
const REASON = 500

/**
 * Gives an agent a standing permission in the name of a listed owner. Only doors that know the operator come here: no
 * message, file, page or tool of an agent does.
 *
 * @source RFC §5.3 (a grant is issued by an authenticated owner or operator; attenuation)
 */
export async function addGrant(
  x: Exchange,
  command: { readonly wanted: GrantWanted; readonly eventId: string; readonly who: string },
): Promise<GrantReceipt> {
  const { wanted, eventId, who } = command
  const id = uuidFrom('grant', eventId)
  const act = `grant add ${digestOf(wanted).slice(0, 16)}`
  return await x.db.tx(async (tx): Promise<GrantReceipt> => {
    const before = await actOnRecord(tx, eventId)
    if (before !== null) return before === act ? { outcome: 'already-applied', grant: id } : { outcome: 'conflict' }
    const now = x.clock.now()
    const grant = await grantOf(x, tx, id, wanted, now as Instant)
    if (typeof grant === 'string') return { outcome: 'refused', reason: grant }
    await putGrant(tx, grant, { reason: wanted.reason.trim(), issuedBy: who })
    await writeAudit(tx, { id: eventId, at: now, who, act, subject: id })
    return { outcome: 'accepted', grant: id }
  })
}

async function grantOf(
  x: Exchange,
  tx: Tx,
  id: string,
  wanted: GrantWanted,
  now: Instant,
): Promise<NewGrant | GrantRefusal> {
  const { agent, openId, scope, effects, audience, days, parent } = wanted
  const reason = wanted.reason.trim()
  if (reason === '' || reason.length > REASON || storableText(reason) !== reason) return 'reason-unsound'
  if (!x.settings.ownerOpenIds.has(openId)) return 'not-an-owner'
  if (agent !== MANAGER && (await x.directory.find(agent as AgentId)) === null) return 'agent-unknown'
  if (audience.kind === 'conversation' && (await conversationOf(tx, audience.conversation)) === null) {
    return 'conversation-unknown'
  }
  const expiresAt = days === null ? null : ((now + days * DAY) as Instant)
  const said = { id, agent: agent as AgentId, openId, scope, effects, audience, issuedAt: now, expiresAt }
  if (parent === null) return soundGrant({ ...said, parent: null })
  const above = (await grantsAbove(tx, [parent])).find((one) => one.id === parent)
  if (above === undefined) return 'grant-unknown'
  // Locked until this one is there: whoever ends the wider one then finds it.
  if (!(await grantsStand(tx, [parent], now))) return 'parent-ended'
  return attenuate(above, said)
}
