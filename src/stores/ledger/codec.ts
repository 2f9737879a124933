import { z } from 'zod'
import type { Fact, FactKind, Observation } from '../../collab/observation.js'

/** A row of `observations`, as it is stored. */
export interface StoredFact {
  readonly eventId: string
  readonly ordinal: number
  readonly request: string
  readonly seq: number
  readonly revision: number
  readonly attempt: string | null
  readonly actor: unknown
  readonly kind: string
  readonly v: number
  readonly payload: unknown
  readonly recordedAt: number
}

const text = z.string()
const names = z.array(text)
const actor = z.union([
  z.object({ kind: z.literal('person'), bot: text, openId: text }),
  z.object({ kind: z.literal('agent'), agent: text, turn: text }),
  z.object({ kind: z.literal('host') }),
  z.object({ kind: z.literal('operator'), session: text }),
])
const intent = z.enum(['consultation', 'delegation', 'ownership-transfer'])
const failure = z.enum([
  'exited',
  'hung',
  'no-output',
  'garbage',
  'unavailable',
  'too-large',
  'context-full',
  'rate-limit',
  'signed-out',
  'refused-by-provider',
  'internal',
])

/** Requests of earlier versions carry the open id alone. */
const provided = { openId: text, tenantKey: text.nullable().optional(), unionId: text.nullable().optional() }

const workRequest = z.object({
  id: text,
  revision: z.int(),
  kind: z.enum(['original', 'correction', 'addition', 'cancellation']),
  parent: text.nullable(),
  conversation: text,
  origin: z.object({ channel: z.enum(['lark', 'web', 'agent']), bot: text, messageId: text }),
  sender: actor,
  intent,
  target: text.nullable(),
  authority: z.discriminatedUnion('principal', [
    z.object({ principal: z.literal('owner'), ...provided }),
    z.object({
      principal: z.literal('member'),
      ...provided,
      policy: z.object({ chat: z.int(), everywhere: z.int() }),
      membership: text.nullable(),
      sponsor: text.nullable(),
    }),
  ]),
  contextDigest: text,
  returnTo: z.union([
    z.object({
      channel: z.literal('lark'),
      bot: text,
      chatId: text,
      chatType: z.enum(['p2p', 'group']),
      threadId: text.nullable(),
      replyTo: text.nullable(),
    }),
    z.object({ channel: z.literal('request'), request: text, ask: text.nullable(), direct: z.boolean() }),
  ]),
  workRefs: names,
  asks: z.array(z.object({ id: text, textDigest: text })),
  supersedes: z.int().nullable(),
  openedAt: z.int(),
})

const context = z.object({
  revision: z.int(),
  brief: z.object({
    originalText: text,
    completionQuestion: text.nullable(),
    corrections: names,
    summary: z.object({ textDigest: text, writtenBy: text }).optional(),
  }),
  sourceRefs: z.array(z.object({ kind: z.enum(['message', 'artifact', 'command']), id: text, writtenBy: text })),
  workRevisionRefs: z.array(z.object({ ref: text, revision: text })),
  accessScope: text,
  omissions: z.array(z.object({ what: text, because: text })),
})

const attempt = z.object({
  id: text,
  request: text,
  revision: z.int(),
  target: text,
  intent,
  effectful: z.boolean(),
  supersedes: text.nullable(),
})

const ending = z.union([
  z.object({ ended: z.literal('completed') }),
  z.object({ ended: z.literal('interrupted'), because: z.enum(['shutdown', 'stop', 'holder-gone']) }),
  z.object({ ended: z.literal('failed'), because: failure }),
])

const result = z.object({
  id: text,
  kind: z.enum(['result', 'interim']),
  textDigest: text,
  conclusionDigest: text.nullable(),
  accessScope: text,
  covers: names,
  remainder: names,
  files: z.array(z.object({ digest: text, fileName: text, mediaType: text, size: z.int() })),
  supersedes: text.nullable(),
})

const ask = z.object({ id: text, textDigest: text })
const reference = z.object({ ref: text, revision: text })
const condition = z.union([
  z.object({ when: z.enum(['at', 'answer-from-owner']) }),
  z.object({ when: z.literal('request-resolved'), request: text }),
  z.object({ when: z.literal('host-back'), host: text }),
  z.object({ when: z.literal('agent-free'), agent: text }),
  z.object({ when: z.literal('note'), note: text }),
])
const judgment = z.union([
  z.object({ ask: text, judgment: z.enum(['accepted', 'no-change', 'rejected']), reason: text }),
  z.object({
    ask: text,
    judgment: z.literal('deferred'),
    reason: text,
    until: z.object({ owner: text, condition, recheckAt: z.int() }),
  }),
])
const doubt = z.union([
  z.object({ by: z.enum(['look-up', 'none']) }),
  z.object({ by: z.literal('resubmit'), windowMs: z.int() }),
])
const ended = z.enum(['resolved', 'rejected', 'cancelled', 'failed'])

/** One codec per kind, for the newest version; older versions get a pure upcaster beside it, kept for ever. */
const codecs = {
  'request-opened': z.object({ opened: workRequest, context }),
  'request-revised': z.object({ revised: workRequest, context, about: names.optional() }),
  'request-held': z.object({ because: z.enum(['late', 'stopped', 'backlog']) }),
  'request-released': z.object({}),
  'request-rejected': z.object({ because: z.literal('skipped-by-owner') }),
  'attempt-assigned': z.object({ assigned: attempt }),
  'turn-presented': z.object({ turn: text, hostTurn: text, asks: names, contextItems: names }),
  'steer-intended': z.object({ turn: text, into: text }),
  'steer-settled': z.object({ turn: text, became: z.enum(['taken', 'too-late', 'unsupported', 'unknown']) }),
  'turn-steered': z.object({ turn: text, by: text, asks: names }),
  'turn-ended': z.object({ turn: text, ending }),
  'approval-refused': z.object({ turn: text, operation: text }),
  'approval-asked': z.object({ turn: text, approval: text, operation: text }),
  'approval-settled': z.object({
    turn: text,
    approval: text,
    operation: text,
    as: z.enum(['allowed', 'refused', 'lapsed']),
    grant: text.nullable(),
  }),
  'refused-by-host': z.object({
    turn: text,
    by: z.enum(['sandbox', 'policy']),
    rule: text,
    tool: text,
    operation: text.nullable(),
  }),
  'ended-with-turn': z.object({ turn: text, tool: text, command: text }),
  'result-committed': z.object({ turn: text.nullable(), result }),
  'result-withheld': z.object({ result: text }),
  'withheld-settled': z.object({ result: text, as: z.enum(['shown', 'dropped']) }),
  'failure-handed-over': z.object({ because: z.union([failure, z.enum(['interrupted', 'repeated-crash'])]) }),
  'cancel-requested': z.object({ because: z.enum(['owner', 'trigger-recalled', 'requester', 'authority-gone']) }),
  'cancel-acknowledged': z.object({}),
  'brief-saved': z.object({ agent: text, brief: text }),
  'request-expired': z.object({}),
  'request-continued': z.object({
    into: text,
    intoRevision: z.int(),
    as: z.enum(['addition', 'correction', 'context']),
  }),
  'asks-split': z.object({ of: text, into: z.array(ask) }),
  'inbox-stored': z.object({ agent: text }),
  'context-provided': z.object({ agent: text, session: text }),
  assessed: z.object({
    agent: text,
    verdict: z.enum(['accepted', 'partially-accepted', 'deferred', 'rejected', 'no-change']),
    asks: z.array(judgment),
    basis: z.enum(['presented', 'context-provided']),
  }),
  'deferral-due': z.object({ asks: names, because: z.enum(['condition', 'recheck']) }),
  'work-linked': z.object({
    receipt: z.object({ owner: z.enum(['canonical', 'loopx']), operation: text, refs: z.array(reference) }),
  }),
  'effect-intended': z.object({ effect: text, effectKind: text, target: text, providerKey: text, doubt, input: text }),
  'effect-settled': z.object({
    effect: text,
    became: z.enum(['submitted', 'confirmed', 'failed', 'outcome-unknown']),
    evidence: text.nullable(),
  }),
  'receiver-selected': z.object({
    candidates: z.array(z.object({ agent: text, admitted: z.boolean(), reasons: names })),
    chosen: text.nullable(),
    reason: text,
  }),
  'receiver-waits': z.object({ agent: text, because: z.enum(['queued-until-wake', 'busy', 'offline', 'unsupported']) }),
  'child-opened': z.object({ child: text, target: text, intent, asks: names, spec: text.optional() }),
  'child-revised': z.object({ child: text, childRevision: z.int(), asks: names }),
  'child-returned': z.object({ child: text, ended, result: text.nullable(), direct: z.boolean() }),
  'trigger-recalled': z.object({}),
  'sent-outside': z.object({ during: text, messageId: text, messageType: text, writtenAt: z.int() }),
  'fence-released': z.object({
    because: z.enum(['terminal-result', 'cancel-acknowledged', 'quiescent', 'executor-gone', 'request-closed']),
  }),
} as const satisfies Record<FactKind, z.ZodType>

export const FACT_VERSION = 1

/** What is stored of a fact beside its columns. */
export function payloadOf(fact: Fact): Readonly<Record<string, unknown>> {
  const {
    request: _request,
    revision: _revision,
    attempt: _attempt,
    actor: _actor,
    at: _at,
    kind: _kind,
    ...payload
  } = fact
  return payload
}

/** Reads one row. A kind or version that we do not know becomes `unreadable-fact`; it never throws. */
export function decode(row: StoredFact): Observation {
  const base = {
    eventId: row.eventId,
    ordinal: row.ordinal,
    seq: row.seq,
    request: row.request,
    revision: row.revision,
    attempt: row.attempt,
    at: row.recordedAt,
  }
  const who = actor.safeParse(row.actor)
  const codec = isKnown(row.kind) && row.v === FACT_VERSION ? codecs[row.kind] : null
  const payload = codec?.safeParse(row.payload)
  if (payload?.success !== true || !who.success) {
    const unreadable = {
      ...base,
      actor: { kind: 'host' },
      kind: 'unreadable-fact',
      storedKind: row.kind,
      storedVersion: row.v,
    }
    return unreadable as unknown as Observation
  }
  // The codec has checked the shape; brands exist only for the compiler.
  return { ...base, actor: who.data, kind: row.kind, ...payload.data } as unknown as Observation
}

function isKnown(kind: string): kind is FactKind {
  return Object.hasOwn(codecs, kind)
}
