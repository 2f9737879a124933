import type { DispatchAttempt } from '../../collab/attempt.js'
import type { NewDelivery } from '../../collab/delivery.js'
import type { Fact } from '../../collab/observation.js'
import type { WakeKind, WakeRef } from '../../collab/ports.js'
import type { EventId, LaneId, RequestId, Revision, Seq } from '../../collab/refs.js'
import type { WorkRequest } from '../../collab/request.js'
import type { SemanticContext } from '../../collab/context.js'
import type { Tx } from '../db.js'
import { deliveryRows } from '../deliveries/deliveries.js'
import { FACT_VERSION, payloadOf } from './codec.js'
import { statementOf, type Rows } from './statement.js'

/** What must be true together with the facts: bodies, deliveries, wakes and the lane's journal. */
export interface Also {
  readonly texts?: readonly { readonly digest: string; readonly accessScope: string; readonly body: string }[]
  readonly deliveries?: readonly NewDelivery[]
  readonly wakes?: readonly { readonly kind: WakeKind; readonly subject: string; readonly dueAt: number }[]
  /** The journalled input of this request in its lane. */
  readonly input?: InputChange
}

/** `position` is the time at which the message was written: a lane works in that order. */
export interface InputChange {
  readonly lane: LaneId
  readonly state: 'waiting' | 'held' | 'settled'
  readonly because: string | null
  readonly position: number
}

export interface Append {
  readonly request: RequestId
  readonly eventId: EventId
  readonly digest: string
  readonly facts: readonly [Fact, ...Fact[]]
  /** The last seq that the decision saw. */
  readonly seen: Seq
  readonly head: Revision
  readonly at: number
  readonly also: Also
}

/**
 * Appends the facts of one command and everything that belongs to them, in one statement. The rows that the
 * database guards (one effectful attempt, one fact per seq, one request per origin) refuse a second winner.
 */
export async function append(tx: Tx, a: Append): Promise<readonly WakeRef[]> {
  const { text, parameters } = statementOf(rowsOf(a))
  return await tx.unsafe<WakeRef[]>(text, [...parameters], { prepare: true })
}

function rowsOf(a: Append): Rows {
  const opened = a.facts.flatMap((fact) => (fact.kind === 'request-opened' ? [fact.opened] : []))
  const revised = a.facts.flatMap((fact) =>
    fact.kind === 'request-opened'
      ? [{ request: fact.opened, context: fact.context }]
      : fact.kind === 'request-revised'
        ? [{ request: fact.revised, context: fact.context }]
        : [],
  )
  const revision = revised.at(-1)?.request.revision ?? a.head
  const head = { request: a.request, revision, seq: a.seen + a.facts.length }
  return {
    said: a.also.texts ?? [],
    opened: opened.map(requestRow),
    headed: opened.length > 0 ? [head] : [],
    moved: opened.length > 0 ? [] : [head],
    revised: revised.map(({ request }) => revisionRow(request, a.at)),
    briefed: revised.map(({ request, context }) => contextRow(request, context)),
    assigned: a.facts.flatMap((fact) => (fact.kind === 'attempt-assigned' ? [attemptRow(fact.assigned)] : [])),
    released: a.facts.flatMap((fact) =>
      fact.kind === 'fence-released' && fact.attempt !== null ? [{ id: fact.attempt, at: a.at }] : [],
    ),
    answered: a.facts.flatMap((fact) => (fact.kind === 'result-committed' ? [resultRow(fact)] : [])),
    intended: a.facts.flatMap((fact) => (fact.kind === 'effect-intended' ? [intentRow(fact)] : [])),
    observed: a.facts.map((fact, ordinal) => factRow(a, fact, ordinal)),
    journalled:
      a.also.input === undefined
        ? []
        : [
            {
              request: a.request,
              lane: a.also.input.lane,
              position: a.also.input.position,
              state: a.also.input.state,
              because: a.also.input.because,
              settled_at: a.also.input.state === 'settled' ? a.at : null,
            },
          ],
    owed: deliveryRows(a.also.deliveries ?? []),
    woken: (a.also.wakes ?? []).map((wake) => ({ kind: wake.kind, subject: wake.subject, due_at: wake.dueAt })),
  }
}

function requestRow(request: WorkRequest) {
  return {
    id: request.id,
    bot: request.origin.bot,
    conversation: request.conversation,
    parent: request.parent,
    origin_channel: request.origin.channel,
    origin_message: request.origin.messageId,
    opened_at: request.openedAt,
  }
}

function revisionRow(request: WorkRequest, at: number) {
  return {
    request: request.id,
    revision: request.revision,
    kind: request.kind,
    intent: request.intent,
    sender: request.sender,
    target: request.target,
    authority_ref: request.authority,
    context_digest: request.contextDigest,
    return_ref: request.returnTo,
    work_refs: request.workRefs,
    asks: request.asks,
    supersedes: request.supersedes,
    recorded_at: at,
  }
}

function contextRow(request: WorkRequest, context: SemanticContext) {
  return {
    request: request.id,
    revision: context.revision,
    digest: request.contextDigest,
    brief: context.brief,
    source_refs: context.sourceRefs,
    work_revision_refs: context.workRevisionRefs,
    access_scope: context.accessScope,
    omissions: context.omissions,
  }
}

function attemptRow({ id, request, revision, target, intent, effectful, supersedes }: DispatchAttempt) {
  return { id, request, revision, target, intent, effectful, supersedes }
}

function resultRow(fact: Extract<Fact, { kind: 'result-committed' }>) {
  return {
    id: fact.result.id,
    request: fact.request,
    revision: fact.revision,
    attempt: fact.attempt,
    turn: fact.turn,
    kind: fact.result.kind,
    text_digest: fact.result.textDigest,
    conclusion_digest: fact.result.conclusionDigest,
    access_scope: fact.result.accessScope,
    covers: fact.result.covers,
    remainder: fact.result.remainder,
    artifacts: fact.result.files,
    supersedes: fact.result.supersedes,
    committed_at: fact.at,
  }
}

function intentRow(fact: Extract<Fact, { kind: 'effect-intended' }>) {
  return {
    id: fact.effect,
    request: fact.request,
    attempt: fact.attempt,
    kind: fact.effectKind,
    target: fact.target,
    provider_key: fact.providerKey,
    declared_at: fact.at,
  }
}

function factRow(a: Append, fact: Fact, ordinal: number) {
  return {
    event_id: a.eventId,
    ordinal,
    request: a.request,
    seq: a.seen + ordinal + 1,
    revision: fact.revision,
    attempt: fact.attempt,
    actor: fact.actor,
    kind: fact.kind,
    v: FACT_VERSION,
    payload: payloadOf(fact),
    digest: a.digest,
    evidence_refs: [],
    result_ref: fact.kind === 'result-committed' ? fact.result.id : null,
    recorded_at: fact.at,
  }
}
