import { z } from '@hono/zod-openapi'
import { refusers } from '../../collab/host-refusal.js'
import { briefParts } from '../../collab/saved-brief.js'
import { isStorable, notStorable } from '../storable.js'

const instant = z.int().openapi({ description: 'Milliseconds since the Unix epoch, UTC', example: 1_764_500_000_000 })
const id = z.string().min(1)

export const Problem = z
  .looseObject({
    type: z.string(),
    title: z.string().openapi({ description: 'In the language of Accept-Language: en or zh' }),
    status: z.int(),
    code: z.string().openapi({ description: 'Stable; for programs' }),
  })
  .openapi('Problem')

const PartState = z.enum(['planned', 'sending', 'accepted', 'verified', 'ambiguous', 'parked', 'failed', 'superseded'])

const Part = z.strictObject({
  index: z.int(),
  subIndex: z.int(),
  state: PartState,
  msgType: z.string(),
  because: z.string().nullable(),
  messageId: z.string().nullable(),
  attempts: z.int(),
})

const Route = z.strictObject({
  channel: z.literal('lark'),
  bot: z.string(),
  chatId: z.string(),
  chatType: z.enum(['p2p', 'group']),
  threadId: z.string().nullable(),
  replyTo: z.string().nullable(),
})

const delivery = {
  id,
  cause: z.enum(['result', 'interim', 'notice', 'control', 'progress', 'approval']),
  result: z.string().nullable().openapi({ description: 'The result or interim answer that it carries' }),
  state: z.enum(['planned', 'sending', 'verified', 'accepted', 'failed', 'parked']),
  createdAt: instant,
  settledAt: instant.nullable(),
  route: Route,
  parts: z.array(Part),
  acts: z
    .array(z.strictObject({ at: instant, who: z.string(), act: z.string() }))
    .openapi({ description: 'What was decided about it at a door, by whom and when, oldest first' }),
}

export const Delivery = z.strictObject({ ...delivery, request: id.nullable() }).openapi('Delivery')

const Actor = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('person'), bot: z.string(), openId: z.string() }),
  z.strictObject({ kind: z.literal('agent'), agent: z.string(), turn: z.string() }),
  z.strictObject({ kind: z.literal('host') }),
  z.strictObject({ kind: z.literal('operator'), session: z.string() }),
])

const File = z.strictObject({ digest: z.string(), fileName: z.string(), mediaType: z.string(), size: z.int() })

const Ending = z.strictObject({
  ended: z.enum(['completed', 'interrupted', 'failed']),
  because: z.string().optional(),
})

const Turn = z.strictObject({
  id,
  acceptedAt: instant.nullable().openapi({ description: 'Journalled, before the runtime was called' }),
  presentedAt: instant.openapi({ description: 'The runtime said that it began' }),
  firstAnswerAt: instant.nullable().openapi({ description: 'First seen to write its answer' }),
  completedAt: instant.nullable(),
  ending: Ending.nullable(),
  endedWith: z.array(z.string().nullable()).openapi({ description: 'Commands that ended with it' }),
})

const Happened = z.discriminatedUnion('what', [
  z.strictObject({ what: z.literal('answered') }),
  z.strictObject({ what: z.literal('effect'), effectKind: z.string(), target: z.string() }),
  z.strictObject({ what: z.literal('work'), ref: z.string(), revision: z.string() }),
])

const Cancellation = z.discriminatedUnion('stands', [
  z.strictObject({
    stands: z.literal('asked'),
    waitsFor: z.enum(['turn', 'effect']),
    happened: z.array(Happened),
  }),
  z.strictObject({ stands: z.literal('acknowledged') }),
  z.strictObject({
    stands: z.literal('too-late'),
    happened: z.array(Happened).openapi({ description: 'What had already happened and stays' }),
    rest: z.boolean().openapi({ description: 'Something was left that will not run' }),
  }),
])

const BriefPart = z.enum(briefParts)
const entries = z.array(z.string())
const SavedBrief = z.strictObject({
  constraints: entries,
  decisions: entries,
  tried: entries,
  inFlight: entries,
  unverified: entries,
  next: entries,
})

export const Request = z
  .strictObject({
    id,
    revision: z.int().openapi({ description: 'What If-Match names' }),
    parent: id.nullable(),
    conversation: id,
    origin: z.strictObject({ channel: z.string(), messageId: z.string() }),
    intent: z.enum(['consultation', 'delegation', 'ownership-transfer']),
    openedAt: instant,
    state: z.enum(['open', 'closed', 'failed']),
    axes: z.strictObject({
      assignment: z.enum(['unassigned', 'assigned', 'presented']),
      judgment: z.enum(['pending', 'accepted', 'partially-accepted', 'deferred', 'no-change', 'resolved', 'rejected']),
      control: z.enum(['open', 'correction-pending', 'cancel-requested', 'cancel-acknowledged']),
      delivery: z.enum([
        'none',
        'result-committed',
        'send-pending',
        'sending',
        'accepted',
        'verified',
        'ambiguous',
        'failed',
      ]),
    }),
    asks: z.array(
      z.strictObject({
        id,
        text: z.string().nullable(),
        state: z.enum(['owed', 'covered', 'rejected', 'deferred', 'continued']),
      }),
    ),
    attempts: z.array(
      z.strictObject({
        id,
        revision: z.int(),
        target: z.string(),
        effectful: z.boolean(),
        released: z.string().nullable(),
        turns: z.array(Turn),
      }),
    ),
    observations: z.array(
      z.strictObject({
        seq: z.int(),
        kind: z.string(),
        revision: z.int(),
        at: instant,
        actor: Actor,
        detail: z.string().nullable(),
      }),
    ),
    choices: z.array(
      z.strictObject({
        at: instant,
        chosen: z.string().nullable(),
        reason: z.string(),
        candidates: z.array(z.strictObject({ agent: z.string(), admitted: z.boolean(), reasons: z.array(z.string()) })),
      }),
    ),
    assessments: z.array(
      z.strictObject({
        at: instant,
        agent: z.string(),
        revision: z.int(),
        verdict: z.enum(['accepted', 'partially-accepted', 'deferred', 'rejected', 'no-change']),
        basis: z.enum(['presented', 'context-provided']),
        asks: z.array(z.strictObject({ ask: z.string(), judgment: z.string(), reason: z.string() })),
      }),
    ),
    results: z.array(
      z.strictObject({
        id,
        kind: z.enum(['result', 'interim']),
        text: z.string().nullable(),
        conclusion: z.string().nullable(),
        covers: z.array(z.string()),
        remainder: z.array(z.string()),
        files: z.array(File),
        supersedes: z.string().nullable().openapi({ description: 'The earlier one that it replaces or updates' }),
      }),
    ),
    work: z.array(
      z.strictObject({
        operation: z.string(),
        refs: z.array(z.strictObject({ ref: z.string(), revision: z.string() })),
      }),
    ),
    briefs: z.array(
      z.strictObject({
        agent: z.string(),
        revision: z.int(),
        at: instant,
        seq: z.int(),
        digest: z.string(),
        said: SavedBrief.nullable().openapi({ description: 'Null when its words were erased' }),
        leftOut: z
          .array(z.strictObject({ part: BriefPart, text: z.string() }))
          .openapi({ description: 'What earlier ones of the same agent said and this one no longer does' }),
      }),
    ),
    refusals: z
      .array(
        z.strictObject({
          seq: z.int(),
          at: instant,
          turn: z.string(),
          by: z.enum(refusers).openapi({
            description: 'Whose refusal: sandbox or policy of the host, this application, a person, the provider',
          }),
          rule: z.string(),
          tool: z.string().nullable(),
          operation: z.string().nullable(),
        }),
      )
      .openapi({ description: 'What was not done; `person` only where a person said no' }),
    cancellation: Cancellation.nullable(),
    deliveries: z.array(z.strictObject(delivery)),
    next: z
      .strictObject({
        owner: z.enum(['owner', 'manager', 'gateway', 'operator']),
        condition: z.string(),
        at: instant.nullable(),
      })
      .nullable(),
  })
  .openapi('Request')

const page = <T extends z.ZodType>(item: T) =>
  z.strictObject({
    items: z.array(item),
    nextCursor: z.string().nullable().openapi({ description: 'Null at the end; a page may be short before it' }),
  })

export const RequestPage = page(Request).openapi('RequestPage')
export const DeliveryPage = page(Delivery).openapi('DeliveryPage')

const filter = z.string().min(1).max(200).refine(isStorable, notStorable)
const limit = z.coerce.number().int().min(1).max(100).default(20)

export const RequestQuery = z.object({
  state: z.enum(['open', 'closed', 'failed']).optional(),
  conversation: filter.optional(),
  agent: filter.optional(),
  cursor: z.string().max(400).optional(),
  limit,
})

export const DeliveryQuery = z.object({
  state: z.enum(['planned', 'sending', 'verified', 'accepted', 'failed', 'parked']).optional(),
  cursor: z.string().max(400).optional(),
  limit,
})

export const Revise = z
  .strictObject({
    kind: z.enum(['correction', 'cancellation']),
    text: z
      .string()
      .max(200_000)
      .refine(isStorable, notStorable)
      .optional()
      .openapi({ description: 'The correction, in words; neither NUL nor half a surrogate pair' }),
  })
  .openapi('Revise')

export const Retry = z
  .strictObject({
    part: z.int().min(0).optional(),
    decision: z.enum(['present', 'absent-send', 'give-up']).optional().openapi({
      description: 'What the operator saw: it arrived; it did not, send it; let it be. Absent: look it up first',
    }),
    messageId: z
      .string()
      .regex(/^[\w-]{1,100}$/)
      .optional()
      .openapi({ description: 'With `present`: the id of the message that was seen; it is read back' }),
  })
  .openapi('Retry')

export const Receipt = z
  .strictObject({
    outcome: z.enum(['accepted', 'already-applied']),
    eventId: z.string(),
    seq: z.int(),
    revision: z.int(),
  })
  .openapi('Receipt')

export const RetryReceipt = z
  .strictObject({ outcome: z.enum(['accepted', 'already-delivered']), eventId: z.string() })
  .openapi('RetryReceipt')

export const Doctor = z
  .strictObject({
    version: z.string(),
    settings: z.array(
      z.strictObject({ name: z.string(), value: z.string(), from: z.enum(['environment', 'default']) }),
    ),
    checks: z.array(
      z.strictObject({
        name: z.string(),
        state: z.enum(['ok', 'warning', 'failed']),
        detail: z.string(),
        mend: z.string().nullable(),
      }),
    ),
    manager: z.strictObject({
      endpoint: z.string(),
      endpointSource: z.enum(['environment', 'default']),
      executorKind: z.enum(['individual', 'managed']).nullable().describe('On whose account; null: not known'),
      model: z.string().nullable(),
      modelSource: z.enum(['environment', 'default']).nullable(),
      effort: z.string().nullable(),
      credential: z.string().nullable().describe('Name of the variable that holds it, never its value'),
      available: z.boolean().nullable(),
      unavailableReason: z.string().nullable(),
    }),
  })
  .openapi('Doctor')

/** One thing that happened, as the stream of events tells it. */
export const Change = z
  .strictObject({
    id: z.string(),
    what: z.enum(['fact', 'activity']),
    request: id,
    kind: z.string().describe('Kind of the fact, or thinking, answering, tool, waiting, other'),
    seq: z.int().nullable().describe('Of a fact, counted within its request'),
    turn: z.string().nullable(),
    at: z.int().describe('Milliseconds since the epoch'),
  })
  .openapi('Change')

export const SignInLink = z.object({ url: z.string() }).openapi('SignInLink')
