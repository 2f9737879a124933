import { decideAskApproval, decideSettleApproval } from '../collab/decide/approval.js'
import { decideRefuseApproval } from '../collab/decide/record.js'
import { grantFor } from '../collab/grant.js'
import type { ApprovalEnd } from '../collab/observation.js'
import type { RuntimeSession } from '../collab/ports.js'
import type { ActorRef, AgentId, Instant, RequestId, ReturnRef, TextDigest, TurnId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { errorLabel } from '../lib/log.js'
import { DAY, MINUTE, SECOND } from '../lib/time.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { grantStands, grantsFor } from '../stores/grants/grants.js'
import { approvalEndOf, wasRefusedSince } from '../stores/ledger/find.js'
import { askedAt } from './asked-at.js'
import type { Exchange } from './deps.js'
import { decideAndCommit, type Stands } from './exchange.js'
import { digestOfText, eventIdOf } from './ids.js'
import { scopeOf } from './open.js'
import { sayingOf } from './say.js'

/** How soon the word of a person reaches the turn that waits for it. */
const LOOK_MS = 0.25 * SECOND
/** Nobody is asked about what a card cannot show whole. In UTF-16 units. */
const SHOWN = 6_000

export const askedEventOf = (approval: string) => eventIdOf('approval-asked', approval)
export const settledEventOf = (approval: string) => eventIdOf('approval-settled', approval)

/** The permissions of one turn. */
export interface Approvals {
  /** The runtime asks, and waits until it is answered; returns at once. */
  asked(approval: string, operation: string): Promise<void>
  /** The turn has ended: nothing of it is answered any more. Gives what was not done because nothing allowed it. */
  close(): Promise<readonly string[]>
  /** The turn broke: nothing of it is looked at any more, and whoever ends it finds what was asked on record. */
  leave(): void
}

/**
 * Decides what an agent may do that it asked for; every permission request of every runtime goes through here. A
 * standing grant answers without a question. Else the owner is asked where they asked, with the exact operation, and
 * the turn waits for a real answer; without one, or where nobody can be asked, it is refused.
 *
 * @source RFC §5.3 (an approval presents the exact operation and gap; a policy refusal is not the user's refusal)
 */
export function approvalsOf(
  x: Exchange,
  run: { readonly request: WorkRequest; readonly agent: AgentId },
  turn: TurnId,
  session: Pick<RuntimeSession, 'answer'>,
): Approvals {
  const notDone: string[] = []
  const waiting = new Map<string, { readonly operation: string; readonly stop: () => void }>()
  let count = 0
  /** While something waits for a person, the place of this turn is lent. */
  let takeBack: (() => void) | null = null
  const lendWhileWaiting = (): void => {
    if (waiting.size > 0) takeBack ??= x.lendPlace()
    else {
      takeBack?.()
      takeBack = null
    }
  }

  const refuse = async (approval: string, operation: string): Promise<void> => {
    notDone.push(operation)
    await session.answer(approval, 'reject-once')
  }
  const settled = async (name: string, approval: string, operation: string, as: ApprovalEnd): Promise<void> => {
    waiting.get(name)?.stop()
    // The end of its turn was quicker, and has said what became of it.
    if (!waiting.delete(name)) return
    lendWhileWaiting()
    if (as === 'allowed') await session.answer(approval, 'allow-once')
    // The person who said no needs not be told that it was not done.
    else if (as === 'refused') await session.answer(approval, 'reject-once')
    else await refuse(approval, operation)
  }

  const stopAll = (): void => {
    for (const { stop } of waiting.values()) stop()
    waiting.clear()
    lendWhileWaiting()
  }

  return {
    async asked(approval, operation) {
      const n = ++count
      const name = `${turn}-${n}`
      const about = aboutOf(run, turn, operation)
      const grant = await standing(x, about)
      if (grant !== null) {
        const allowed = await settle(x, { ...about, name, as: 'allowed', grant, by: about.actor })
        if (allowed === 'allowed') return await session.answer(approval, 'allow-once')
      }
      const askable = x.settings.approvalWaitMs > 0 && operation.length <= SHOWN
      const to = askable ? await askedAt(x, run.request) : null
      // What could not be put on record was asked of nobody, and nobody would ever answer it.
      if (to === null || !(await ask(x, about, name, to, operation))) {
        await refuseApproval(x, about, n)
        return await refuse(approval, operation)
      }
      const deadline = x.clock.now() + x.settings.approvalWaitMs
      const look = async (): Promise<void> => {
        if (!waiting.has(name)) return
        let end = await approvalEndOf(x.db.sql, settledEventOf(name))
        if (end === null && x.clock.now() >= deadline) {
          end = (await settle(x, { ...about, name, as: 'lapsed', grant: null, by: { kind: 'host' } })) ?? 'lapsed'
        }
        if (end !== null) await settled(name, approval, operation, end)
      }
      const stop = x.every(LOOK_MS, () =>
        look().catch((error: unknown) => x.log.warn('a permission was not looked up', { error: errorLabel(error) })),
      )
      waiting.set(name, { operation, stop })
      lendWhileWaiting()
    },
    async close() {
      const left = [...waiting]
      stopAll()
      for (const [name, { operation }] of left) {
        const about = aboutOf(run, turn, operation)
        const end = await settle(x, { ...about, name, as: 'lapsed', grant: null, by: { kind: 'host' } })
        if (end === null || end === 'lapsed') notDone.push(operation)
      }
      return notDone
    },
    leave: stopAll,
  }
}

interface About {
  readonly request: WorkRequest
  readonly agent: AgentId
  readonly turn: TurnId
  readonly operation: TextDigest
  readonly body: string
  readonly actor: ActorRef
}

function aboutOf(
  { request, agent }: { readonly request: WorkRequest; readonly agent: AgentId },
  turn: TurnId,
  body: string,
): About {
  return { request, agent, turn, body, operation: digestOfText(body), actor: { kind: 'agent', agent, turn } }
}

/** The standing grant that allows it now. */
async function standing(x: Exchange, { request, agent, operation }: About): Promise<string | null> {
  const use = { agent, operation, openId: request.authority.openId, conversation: request.conversation }
  const grants = await grantsFor(x.db.sql, agent, operation)
  return grantFor(grants, { ...use, at: x.clock.now() as Instant })?.id ?? null
}

/** False when nothing was asked: the turn is not known to run, or its request cannot be read. */
async function ask(x: Exchange, about: About, name: string, to: ReturnRef, operation: string): Promise<boolean> {
  const { request, agent, turn, actor } = about
  const now = x.clock.now()
  const conversation = await conversationOf(x.db.sql, request.conversation)
  const delivery = sayingOf(
    {
      causeKind: 'notice',
      causeId: `approval-${name}`,
      route: to,
      notice: {
        kind: 'approval',
        operation,
        agent,
        minutes: Math.max(1, Math.round(x.settings.approvalWaitMs / MINUTE)),
        requestId: request.id,
        approval: name,
      },
      language: conversation?.language ?? 'en',
      endsReceipt: null,
      request: request.id,
    },
    now,
  )
  const receipt = await decideAndCommit(
    x,
    {
      kind: 'ask-approval',
      eventId: askedEventOf(name),
      requestId: request.id,
      at: now as Instant,
      actor,
      turn,
      approval: name,
      operation: about.operation,
    } as const,
    decideAskApproval,
    () => ({
      texts: [textOf(about)],
      deliveries: [delivery],
      wakes: [{ kind: 'deliver', subject: delivery.id, dueAt: now }],
    }),
  )
  return receipt.outcome === 'accepted' || receipt.outcome === 'already-applied'
}

const textOf = ({ request, operation, body }: About) => ({
  digest: operation,
  accessScope: scopeOf(request.conversation),
  body,
})

/** Settles it unless somebody else did; what stands then. Null: its turn is over, or its request cannot be read. */
async function settle(
  x: Exchange,
  said: About & {
    readonly name: string
    readonly as: ApprovalEnd
    readonly grant: string | null
    readonly by: ActorRef
  },
): Promise<ApprovalEnd | null> {
  const { request, turn, operation, name, as, grant, by } = said
  await settleApproval(x, { request: request.id, approval: name, turn, operation, as, grant, actor: by }, [
    textOf(said),
  ])
  return await approvalEndOf(x.db.sql, settledEventOf(name))
}

/**
 * Asked in the transaction of the use: a revocation that came before it wins, and one that comes later finds the turn
 * that used it.
 */
const notRevoked =
  (grant: string): Stands =>
  async (tx) =>
    (await grantStands(tx, grant)) ? null : { reason: 'not-admitted', because: ['grant-revoked'] }

/** One word about one permission; the first one stands. */
export async function settleApproval(
  x: Exchange,
  said: {
    readonly request: RequestId
    readonly approval: string
    readonly turn: TurnId
    readonly operation: TextDigest
    readonly as: ApprovalEnd
    readonly grant: string | null
    readonly actor: ActorRef
  },
  texts: readonly ReturnType<typeof textOf>[] = [],
): Promise<void> {
  const { request: requestId, approval, ...rest } = said
  await decideAndCommit(
    x,
    {
      kind: 'settle-approval',
      eventId: settledEventOf(approval),
      requestId,
      at: x.clock.now() as Instant,
      approval,
      ...rest,
    } as const,
    decideSettleApproval,
    () => ({ texts }),
    undefined,
    rest.grant === null ? undefined : notRevoked(rest.grant),
  )
}

/** Puts on record that it was refused; `n` counts the requests of the turn from 1. */
async function refuseApproval(x: Exchange, about: About, n: number): Promise<void> {
  const { request, turn, operation, actor } = about
  const now = x.clock.now()
  const before = await wasRefusedSince(x.db.sql, request.conversation, operation, now - DAY)
  const receipt = await decideAndCommit(
    x,
    {
      kind: 'refuse-approval',
      eventId: eventIdOf('approval', turn, n),
      requestId: request.id,
      at: now as Instant,
      actor,
      turn,
      operation,
    } as const,
    decideRefuseApproval,
    () => ({ texts: [textOf(about)] }),
  )
  // Asked again for what was refused: an agent that does not take no for an answer, or a permission that is missing.
  if (before && receipt.outcome === 'accepted') x.meter.count('approvals_repeated_total', 'no-permission')
}
