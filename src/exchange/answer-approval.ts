import type { Notice } from '../collab/notice.js'
import type { AgentId, ConversationId, Instant, RequestId } from '../collab/refs.js'
import { uuidFrom } from '../lib/digest.js'
import { putGrant } from '../stores/grants/grants.js'
import { approvalAsked, approvalEndOf } from '../stores/ledger/find.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { askedEventOf, settleApproval, settledEventOf } from './approval.js'
import type { Exchange } from './deps.js'
import type { Said } from './marks.js'

export type ApprovalWord = 'allow-once' | 'allow-always' | 'refuse'

/**
 * The owner's word about one thing that an agent asked to do. The first word stands. `allow-always` allows it now and
 * gives a standing grant for exactly this operation, of this agent, in this conversation.
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
  if (asked === null || asked.request !== request || stands === null) return { kind: 'approval-lapsed' }
  const { turn, operation, agent } = asked
  const as = act === 'refuse' ? 'refused' : 'allowed'
  await settleApproval(x, { request, approval, turn, operation, as, grant: null, actor: said.actor })
  const end = await approvalEndOf(x.db.sql, settledEventOf(approval))
  if (end === null || end === 'lapsed') return { kind: 'approval-lapsed' }
  if (end === 'refused') return { kind: 'approval-denied' }
  if (act !== 'allow-always') return { kind: 'approval-given', standing: false }
  await putGrant(x.db.sql, {
    id: uuidFrom('grant', approval),
    agent: agent as AgentId,
    openId: stands.authority.openId,
    conversation: stands.conversation as ConversationId,
    operation,
    issuedAt: x.clock.now() as Instant,
    expiresAt: null,
  })
  return { kind: 'approval-given', standing: true }
}
