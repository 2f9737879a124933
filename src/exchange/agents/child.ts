import { digestOfContext, type Omission, type SemanticContext } from '../../collab/context.js'
import { decideReturnChild } from '../../collab/decide/children.js'
import { decideObserveWait } from '../../collab/decide/inbox.js'
import { decideTakeChild } from '../../collab/decide/take-child.js'
import type { Observation, WaitReason } from '../../collab/observation.js'
import type { RegisteredAgent } from '../../collab/ports.js'
import { nameOf, revisionsOf } from '../../collab/project/material.js'
import type { AgentId, Instant, RequestId, Revision, TextDigest } from '../../collab/refs.js'
import type { Intent, WorkRequest } from '../../collab/request.js'
import { messageEvent } from '../../stores/ingress/ingress.js'
import { ancestorsOf, parentOfChild } from '../../stores/ledger/family.js'
import { factsOf, fold, textsOf } from '../../stores/ledger/read.js'
import { putWake } from '../../stores/wakes/wakes.js'
import type { Exchange } from '../deps.js'
import { decideAndCommit } from '../exchange.js'
import { askIdOf, attemptIdOf, digestOfText, eventIdOf, laneOf } from '../ids.js'
import { scopeOf } from '../open.js'

/** What the asker said of the child; with the parent's facts it is all that the child is made of. */
export interface ChildSpec {
  readonly origin: string
  readonly intent: Intent
  readonly question: string
  readonly brief: string
  readonly refs: readonly string[]
  readonly direct: boolean
}

/**
 * The child of an interrupted hand-over is opened from what the parent's commit kept; one that stands already is left
 * as it is. For the upkeep wake `child-<id>`.
 *
 * @returns whether the child stands now; false when its parent was cancelled first, or nothing is known of it
 */
export async function repairChild(x: Exchange, child: string): Promise<boolean> {
  const parent = await parentOfChild(x.db.sql, child as RequestId)
  return parent === null ? false : await openChild(x, parent, child as RequestId)
}

/** Opens the child that the parent's facts tell of. Every id follows from them, so that two who do it do it once. */
export async function openChild(x: Exchange, parent: RequestId, child: RequestId): Promise<boolean> {
  const facts = await factsOf(x.db.sql, parent)
  const opening = facts.find((fact) => fact.kind === 'child-opened' && fact.child === child)
  const state = fold(parent, facts)
  if (opening?.kind !== 'child-opened' || state.request === null) return false
  if ((await factsOf(x.db.sql, child)).length > 0) {
    if (state.cancel !== 'none') await cancelLate(x, child)
    return true
  }
  const spec = await specOf(x, state.request, opening.spec)
  const cancelled = state.cancel !== 'none'
  if (cancelled || spec === null) return await giveBack(x, parent, child, cancelled ? 'cancelled' : 'failed')
  await takeChild(x, state.request, opening, spec)
  return true
}

/** Its parent was cancelled while it was being opened: that wake may have found nothing yet that it could cancel. */
async function cancelLate(x: Exchange, child: RequestId): Promise<void> {
  x.wake.kick([await putWake(x.db.sql, 'upkeep', `cancel-${child}`, x.clock.now())])
}

async function specOf(x: Exchange, parent: WorkRequest, digest: TextDigest | undefined): Promise<ChildSpec | null> {
  if (digest === undefined) return null
  const body = (await textsOf(x.db.sql, [digest], scopeOf(parent.conversation))).get(digest)
  // Written by `ask` alone, as canonical JSON of this shape.
  return body === undefined ? null : (JSON.parse(body) as ChildSpec)
}

/** A child that never began comes back to its parent at once, with its reason. */
async function giveBack(
  x: Exchange,
  parent: RequestId,
  child: RequestId,
  ended: 'cancelled' | 'failed',
): Promise<false> {
  await decideAndCommit(
    x,
    {
      kind: 'return-child',
      eventId: eventIdOf('not-begun', child),
      requestId: parent,
      at: x.clock.now() as Instant,
      child,
      ended,
      result: null,
      direct: false,
    } as const,
    decideReturnChild,
  )
  return false
}

type Opening = Extract<Observation, { kind: 'child-opened' }>

async function takeChild(x: Exchange, parent: WorkRequest, opening: Opening, spec: ChildSpec): Promise<void> {
  const { child, target, intent, at } = opening
  const { conversation } = parent
  const receiver = await x.directory.find(target)
  const accessScope = scopeOf(conversation)
  const question = digestOfText(spec.question)
  const brief = digestOfText(spec.brief)
  const context = await contextFor(x, parent, question, { textDigest: brief, writtenBy: nameOf(opening.actor) })
  const request: WorkRequest = {
    id: child,
    revision: 1 as Revision,
    kind: 'original',
    parent: parent.id,
    conversation,
    origin: { channel: 'agent', bot: parent.origin.bot, messageId: spec.origin },
    sender: opening.actor,
    intent,
    target,
    // Of the owner at the root: no text of an agent widens it.
    authority: parent.authority,
    contextDigest: digestOfContext(context),
    returnTo: { channel: 'request', request: parent.id, ask: null, direct: spec.direct },
    workRefs: spec.refs,
    asks: [{ id: askIdOf(child, 1, 1), textDigest: question }],
    supersedes: null,
    openedAt: at,
  }
  const lane = laneOf(conversation, target)
  const managed = receiver?.endpoint.kind === 'managed'
  await decideAndCommit(
    x,
    {
      kind: 'take-child',
      eventId: eventIdOf('child', child),
      requestId: child,
      at: x.clock.now() as Instant,
      actor: opening.actor,
      request,
      context,
      attempt: {
        id: attemptIdOf(child, 1 as Revision, 1),
        request: child,
        revision: 1 as Revision,
        target,
        intent,
        effectful: intent !== 'consultation',
        supersedes: null,
      },
    } as const,
    decideTakeChild,
    () => ({
      texts: [
        { digest: question, accessScope, body: spec.question },
        { digest: brief, accessScope, body: spec.brief },
      ],
      input: managed
        ? { lane, state: 'waiting', because: null, position: at }
        : { lane, state: 'held', because: 'attached', position: at },
      wakes: [
        ...(managed ? [{ kind: 'turn', subject: lane, dueAt: x.clock.now() } as const] : []),
        // Looks again at its parent, which may have been cancelled since it was read.
        { kind: 'upkeep', subject: `child-${child}`, dueAt: x.clock.now() },
      ],
    }),
    { child, spec: opening.spec },
  )
  await sayWait(x, child, target, waitOf(receiver))
}

/**
 * The owner's own messages as they stand now, verbatim by digest, with who wrote each; whoever asks can neither choose
 * nor change them.
 */
export async function contextFor(
  x: Exchange,
  parent: WorkRequest,
  question: TextDigest,
  summary: NonNullable<SemanticContext['brief']['summary']>,
): Promise<SemanticContext> {
  const root = (await ancestorsOf(x.db.sql, parent.id)).at(-1) ?? parent.id
  const revisions = revisionsOf(await factsOf(x.db.sql, root))
  const said = revisions.flatMap((one) =>
    one.request.asks.map((ask) => ({
      digest: ask.textDigest,
      id: one.context.sourceRefs.at(-1)?.id ?? one.request.origin.messageId,
      writtenBy: nameOf(one.actor),
    })),
  )
  const [original, ...corrections] = said
  const origin = revisions[0]?.request.origin
  return {
    revision: 1 as Revision,
    brief: {
      originalText: original?.digest ?? question,
      completionQuestion: question,
      corrections: corrections.map((one) => one.digest),
      summary,
    },
    sourceRefs: said.map(({ id, writtenBy }) => ({ kind: 'message', id, writtenBy })),
    workRevisionRefs: [],
    accessScope: scopeOf(parent.conversation),
    omissions: origin === undefined ? [] : await filesLeftOut(x, origin),
  }
}

async function filesLeftOut(x: Exchange, origin: WorkRequest['origin']): Promise<readonly Omission[]> {
  const event = await messageEvent(x.db.sql, origin.bot, origin.messageId)
  if (event?.kind !== 'message') return []
  return event.message.attachments.map((file, n) => ({
    what: file.fileName ?? `${file.kind} ${n + 1}`,
    because: 'unsupported' as const,
  }))
}

/** Why the receiver does not begin at once; null: its turn is woken. */
function waitOf(receiver: RegisteredAgent | null): WaitReason | null {
  if (receiver === null) return 'unsupported'
  if (receiver.reachable === false) return 'offline'
  return receiver.endpoint.kind === 'attached' ? 'queued-until-wake' : null
}

async function sayWait(x: Exchange, child: RequestId, agent: AgentId, because: WaitReason | null): Promise<void> {
  if (because === null) return
  await decideAndCommit(
    x,
    {
      kind: 'observe-wait',
      eventId: eventIdOf('first-wait', child),
      requestId: child,
      at: x.clock.now() as Instant,
      actor: { kind: 'host' },
      agent,
      because,
    } as const,
    decideObserveWait,
    () => ({}),
    { child },
  )
}
