import { decideAskApproval, decideSettleApproval } from '../collab/decide/approval.js'
import { decideRefuseApproval } from '../collab/decide/record.js'
import type { Gap, OperationUse } from '../collab/grant.js'
import { offerOf } from '../collab/grant-offer.js'
import type { ApprovalEnd } from '../collab/observation.js'
import type { RuntimeSession, TurnEvent } from '../collab/ports.js'
import type { ActorRef, AgentId, Instant, RequestId, ReturnRef, TextDigest, TurnId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { errorLabel } from '../lib/log.js'
import { DAY, MINUTE, SECOND } from '../lib/time.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { approvalEndOf, wasRefusedSince } from '../stores/ledger/find.js'
import { askedAt } from './asked-at.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { standingFor, stillGranted } from './grant-use.js'
import { digestOfText, eventIdOf } from './ids.js'
import { scopeOf } from './open.js'
import { say, sayingOf } from './say.js'

/** How soon the word of a person reaches the turn that waits for it. */
const LOOK_MS = 0.25 * SECOND
/** What a card shows of an operation; of a longer one this much, with the digest of the whole. In UTF-16 units. */
const SHOWN = 6_000
const BEGINNING = 5_000

export const askedEventOf = (approval: string) => eventIdOf('approval-asked', approval)
/** The cause of the delivery that asks. */
export const askedCauseOf = (approval: string): string => `approval-${approval}`
export const settledEventOf = (approval: string) => eventIdOf('approval-settled', approval)

/** The permissions of one turn. */
export interface Approvals {
  /** The runtime asks, and waits until it is answered; returns at once. */
  asked(event: Pick<Extract<TurnEvent, { kind: 'approval' }>, 'approval' | 'operation' | 'use'>): Promise<void>
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
    async asked({ approval, operation, use }) {
      const n = ++count
      const name = `${turn}-${n}`
      const about = aboutOf(run, turn, operation)
      let found = await standingFor(x, { ...about, does: use })
      if (found.grants !== null) {
        const { grants } = found
        const allowed = await settle(x, { ...about, name, as: 'allowed', grants, by: about.actor })
        if (allowed === 'allowed') return await session.answer(approval, 'allow-once')
        // It ended between the look-up and the use: what is missing is another thing now.
        found = await standingFor(x, { ...about, does: use })
      }
      const gap: Gap = found.grants === null ? found.gap : { kind: 'none' }
      // Nobody widens what a member's request may do: not the member, and no owner by a press for somebody else's words.
      const own = run.request.authority.principal === 'owner'
      const to = await askedAt(x, run.request)
      const askable = own && x.settings.approvalWaitMs > 0 && to !== null
      // What could not be put on record was asked of nobody, and nobody would ever answer it.
      if (!askable || !(await ask(x, about, name, to, { gap, does: use }))) {
        await refuseApproval(x, about, n)
        if (to !== null) await tellEnded(x, about, name, to, gap)
        return await refuse(approval, operation)
      }
      const deadline = x.clock.now() + x.settings.approvalWaitMs
      const look = async (): Promise<void> => {
        if (!waiting.has(name)) return
        let end = await approvalEndOf(x.db.sql, settledEventOf(name))
        if (end === null && x.clock.now() >= deadline) {
          end = (await settle(x, { ...about, name, as: 'lapsed', grants: [], by: { kind: 'host' } })) ?? 'lapsed'
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
        const end = await settle(x, { ...about, name, as: 'lapsed', grants: [], by: { kind: 'host' } })
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

/** False when nothing was asked: the turn is not known to run, or its request cannot be read. */
async function ask(
  x: Exchange,
  about: About,
  name: string,
  to: ReturnRef,
  missing: { readonly gap: Gap; readonly does: OperationUse | null },
): Promise<boolean> {
  const { request, agent, turn, actor, body } = about
  const now = x.clock.now()
  const cut = body.length > SHOWN
  const offer = cut ? null : offerOf(missing.does)
  const conversation = await conversationOf(x.db.sql, request.conversation)
  const delivery = sayingOf(
    {
      causeKind: 'notice',
      causeId: askedCauseOf(name),
      route: to,
      notice: {
        kind: 'approval',
        operation: cut ? beginningOf(body) : body,
        ...(cut ? { cut: { more: body.length - beginningOf(body).length, digest: about.operation } } : {}),
        gap: missing.gap,
        ...(offer === null ? {} : { offer }),
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

/** Never half a character at its end. */
function beginningOf(body: string): string {
  return body.slice(0, BEGINNING).replace(/[\ud800-\udbff]$/u, '')
}

/** Nobody is asked, and a permission that had allowed it is gone: that is the reason, and it is said. */
async function tellEnded(x: Exchange, about: About, name: string, to: ReturnRef, gap: Gap): Promise<void> {
  if (gap.kind !== 'revoked' && gap.kind !== 'expired' && gap.kind !== 'parent-ended') return
  const conversation = await conversationOf(x.db.sql, about.request.conversation)
  await say(x, {
    causeKind: 'notice',
    causeId: `gap-${name}`,
    route: to,
    notice: { kind: 'permission-ended', gap },
    language: conversation?.language ?? 'en',
    endsReceipt: null,
    request: about.request.id,
  })
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
    readonly grants: readonly string[]
    readonly by: ActorRef
  },
): Promise<ApprovalEnd | null> {
  const { request, turn, operation, name, as, grants, by } = said
  await settleApproval(x, { request: request.id, approval: name, turn, operation, as, grants, actor: by }, [
    textOf(said),
  ])
  return await approvalEndOf(x.db.sql, settledEventOf(name))
}

/** One word about one permission; the first one stands. */
export async function settleApproval(
  x: Exchange,
  said: {
    readonly request: RequestId
    readonly approval: string
    readonly turn: TurnId
    readonly operation: TextDigest
    readonly as: ApprovalEnd
    readonly grants: readonly string[]
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
    rest.grants.length === 0 ? undefined : stillGranted(x, rest.grants),
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
