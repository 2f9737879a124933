import type { NewGrant } from '../collab/grant.js'
import type { Offer } from '../collab/grant-offer.js'
import type { Notice } from '../collab/notice.js'
import type { ActorRef, AgentId, ConversationId, Instant, RequestId, TextDigest } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { uuidFrom } from '../lib/digest.js'
import { DAY } from '../lib/time.js'
import { deliveryOf } from '../stores/deliveries/deliveries.js'
import { putGrant } from '../stores/grants/grants.js'
import { approvalAsked, approvalEndOf } from '../stores/ledger/find.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { writeAudit } from '../stores/sessions/audit.js'
import { askedCauseOf, askedEventOf, settleApproval, settledEventOf } from './approval.js'
import { askedAt } from './asked-at.js'
import type { Exchange } from './deps.js'
import { deliveryIdOf } from './ids.js'
import type { Said } from './marks.js'

export type ApprovalWord = 'allow-once' | 'allow-always' | 'allow-offered' | 'refuse'

/**
 * The owner's word about one thing that an agent asked to do. The first word stands. `allow-always` allows it now and
 * gives a standing grant for exactly this operation, of this agent, in this conversation; `allow-offered` one for what
 * the card offered, with its end. What was offered is read from our own row, never from the press.
 *
 * @returns what is told; `approval-lapsed` when the turn that asked is over
 * @source RFC §5.3; case 21
 */
export async function answerApproval(
  x: Exchange,
  choice: { readonly act: ApprovalWord; readonly request: string; readonly approval: string },
  said: Pick<Said, 'actor'>,
): Promise<Notice> {
  const { act, approval } = choice
  const request = choice.request as RequestId
  const asked = await approvalAsked(x.db.sql, askedEventOf(approval))
  const stands = (await stateOfRequest(x.db.sql, request)).request
  if (asked === null || asked.request !== request || stands?.authority.principal !== 'owner')
    return { kind: 'approval-lapsed' }
  const { turn, operation, agent } = asked
  const as = act === 'refuse' ? 'refused' : 'allowed'
  await settleApproval(x, { request, approval, turn, operation, as, grants: [], actor: said.actor })
  const end = await approvalEndOf(x.db.sql, settledEventOf(approval))
  if (end === null || end === 'lapsed') return { kind: 'approval-lapsed' }
  if (end === 'refused') return { kind: 'approval-denied' }
  const noticed = act === 'allow-once' ? null : await noticeOf(x, stands, approval)
  const offer = act === 'allow-offered' ? (noticed?.offer ?? null) : null
  // What was not shown whole was not offered for good, whatever the press says.
  const always = act === 'allow-always' && noticed?.cut === undefined
  if (!always && offer === null) return { kind: 'approval-given', standing: false }
  await give(x, grantOf(stands, { approval, operation, agent, offer, now: x.clock.now() }), said.actor)
  return { kind: 'approval-given', standing: true, ...(offer === null ? {} : { scope: offer }) }
}

/** The card that asked. */
async function noticeOf(
  x: Exchange,
  request: WorkRequest,
  approval: string,
): Promise<Extract<Notice, { kind: 'approval' }> | null> {
  const route = await askedAt(x, request)
  const delivery =
    route === null ? null : await deliveryOf(x.db.sql, deliveryIdOf('notice', askedCauseOf(approval), route))
  const notice = delivery?.source.kind === 'notice' ? delivery.source.notice : null
  return notice?.kind === 'approval' ? notice : null
}

function grantOf(
  request: WorkRequest,
  of: {
    readonly approval: string
    readonly operation: TextDigest
    readonly agent: string
    readonly offer: Offer | null
    readonly now: number
  },
): NewGrant {
  const { approval, operation, agent, offer, now } = of
  return {
    id: uuidFrom('grant', approval),
    agent: agent as AgentId,
    openId: request.authority.openId,
    scope: offer?.scope ?? { kind: 'operation', digest: operation },
    effects: offer?.effects ?? [],
    audience: { kind: 'conversation', conversation: request.conversation as ConversationId },
    issuedAt: now as Instant,
    expiresAt: offer === null ? null : ((now + offer.days * DAY) as Instant),
    parent: null,
  }
}

async function give(x: Exchange, grant: NewGrant, by: ActorRef): Promise<void> {
  const who = by.kind === 'person' ? by.openId : by.kind
  await x.db.tx(async (tx) => {
    if (!(await putGrant(tx, grant, { reason: null, issuedBy: `${who} on a card` }))) return
    const line = { id: uuidFrom('grant-add', grant.id), at: grant.issuedAt, who, act: 'grant add', subject: grant.id }
    await writeAudit(tx, line)
  })
}
