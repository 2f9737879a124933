import { z, type OpenAPIHono } from '@hono/zod-openapi'
import { hostname } from 'node:os'
import { addGrant } from '../../exchange/grant-add.js'
import { effectiveGrants } from '../../exchange/grant-list.js'
import { endGrant } from '../../exchange/revoke-grant.js'
import { cursorOf, newest } from '../../stores/views/cursor.js'
import type { WebDeps } from '../deps.js'
import { problem } from '../problem.js'
import { nameOf, type WebEnv } from '../session.js'
import { isStorable } from '../storable.js'
import { describe } from './describe.js'
import { eventIdOf } from './headers.js'
import type { ConversationId } from '../../collab/refs.js'
import { bodyOf, placeIn, queryOf } from './read.js'

const instant = z.int().openapi({ description: 'Milliseconds since the epoch, UTC' })

const effect = z.enum(['read', 'write', 'execute', 'network'])
const scope = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('path'),
    prefix: z.string().openapi({ description: 'An absolute directory as `realpath` prints it; all below it is meant' }),
    host: z.string().openapi({ description: 'The machine on which it lies' }),
  }),
  z.strictObject({
    kind: z.literal('network'),
    host: z.string().openapi({ description: 'One name; `*.name` for all names below it' }),
  }),
  z.strictObject({
    kind: z.literal('chat'),
    chat: z.string().openapi({ description: 'The files of that chat, by its id at the provider' }),
  }),
  z.strictObject({
    kind: z.literal('goal'),
    goal: z.string().openapi({ description: 'What others may learn of it where an answer is read by others' }),
  }),
])

const Grant = z
  .strictObject({
    id: z.string(),
    effective: z
      .enum(['standing', 'not-yet', 'expired', 'revoked', 'parent-ended', 'principal-removed'])
      .openapi({ description: 'What it really gives now, its whole chain and its owner considered' }),
    agent: z.string(),
    openId: z.string().openapi({ description: 'The owner in whose name it stands' }),
    conversation: z
      .string()
      .nullable()
      .openapi({ description: 'It allows nothing elsewhere; null: every direct conversation of its owner' }),
    operation: z
      .string()
      .nullable()
      .openapi({ description: 'Exactly this; null when there is a scope, or the words were erased' }),
    scope: scope.nullable(),
    effects: z.array(effect),
    parent: z.string().nullable().openapi({ description: 'The wider permission that it was made of' }),
    reason: z.string().nullable(),
    issuedBy: z.string().nullable(),
    issuedAt: instant,
    expiresAt: instant.nullable(),
    revokedAt: instant.nullable(),
    revokedBy: z.string().nullable(),
    revision: z.int(),
    used: z.int().openapi({ description: 'Times that it allowed something without a question' }),
    lastUses: z.array(z.strictObject({ turn: z.string(), request: z.string(), at: instant })),
  })
  .openapi('Grant')
const NewGrant = z
  .strictObject({
    agent: z.string().min(1).max(200),
    openId: z.string().max(200).optional().openapi({ description: 'Not needed while one owner is listed' }),
    scope: z.discriminatedUnion('kind', [
      z.strictObject({
        kind: z.literal('path'),
        prefix: z.string(),
        host: z.string().optional().openapi({ description: 'Absent: the machine of this gateway' }),
      }),
      z.strictObject({ kind: z.literal('network'), host: z.string() }),
      z.strictObject({ kind: z.literal('chat'), chat: z.string() }),
      z.strictObject({ kind: z.literal('goal'), goal: z.string().min(1).max(200) }),
    ]),
    effects: z.array(effect).min(1).max(4),
    conversation: z
      .string()
      .max(200)
      .nullable()
      .openapi({ description: 'Where it counts; null: every direct conversation of its owner' }),
    reason: z.string(),
    days: z.int().min(1).max(3650).nullable().openapi({ description: 'Its end; null: until it is revoked' }),
    parent: z.string().max(200).nullable().default(null),
  })
  .openapi('NewGrant')
const Given = z
  .strictObject({ outcome: z.enum(['accepted', 'already-applied']), grant: z.string() })
  .openapi('GrantGiven')
const GrantPage = z.strictObject({ items: z.array(Grant), nextCursor: z.string().nullable() }).openapi('GrantPage')
const Query = z.object({
  cursor: z.string().max(300).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
})
const Receipt = z.strictObject({ outcome: z.enum(['accepted', 'already-applied']) }).openapi('GrantReceipt')

/** Standing permissions: given by an owner on a card or by the operator here, seen and ended here. */
export function grantRoutes(app: OpenAPIHono<WebEnv>, deps: WebDeps): void {
  describe(app, {
    method: 'get',
    path: '/api/v1/grants',
    summary: 'Standing permissions with what each gives now, newest first',
    query: Query,
    answers: { 200: { description: 'A page', schema: GrantPage } },
    problems: [400],
  })
  app.get('/api/v1/grants', async (c) => {
    const query = queryOf(c, Query)
    if (query instanceof Response) return query
    const after = placeIn(c, query.cursor)
    if (after instanceof Response) return after
    const rows = await effectiveGrants(deps.exchange, after ?? newest, query.limit + 1)
    const items = rows.slice(0, query.limit)
    const last = items.at(-1)
    const more = rows.length > query.limit && last !== undefined
    return c.json({ items, nextCursor: more ? cursorOf({ at: last.issuedAt, id: last.id }) : null })
  })

  describe(app, {
    method: 'post',
    path: '/api/v1/grants',
    summary: 'Give an agent a standing permission in the name of an owner',
    headers: z.object({ 'idempotency-key': z.string() }),
    body: NewGrant,
    answers: {
      200: { description: 'Given before by the same command', schema: Given },
      201: { description: 'Given', schema: Given },
    },
    problems: [400, 404, 409, 422],
  })
  app.post('/api/v1/grants', async (c) => {
    const eventId = eventIdOf(c, 'grant add')
    if (eventId instanceof Response) return eventId
    const body = await bodyOf(c, NewGrant)
    if (body instanceof Response) return body
    const owners = [...deps.exchange.settings.ownerOpenIds]
    const { agent, effects, conversation, reason, days, parent } = body
    const wanted = {
      agent,
      effects,
      reason,
      days,
      parent,
      openId: body.openId ?? (owners.length === 1 ? (owners[0] ?? '') : ''),
      scope: body.scope.kind === 'path' ? { ...body.scope, host: body.scope.host ?? hostname() } : body.scope,
      audience:
        conversation === null
          ? ({ kind: 'owner-private' } as const)
          : ({ kind: 'conversation', conversation: conversation as ConversationId } as const),
    }
    if (![agent, wanted.openId, conversation ?? '', parent ?? ''].every(isStorable)) return problem(c, 'bad-request')
    const done = await addGrant(deps.exchange, { wanted, eventId, who: nameOf(c.get('caller')) })
    if (done.outcome === 'refused') return problem(c, done.reason)
    if (done.outcome === 'conflict') return problem(c, 'idempotency-key-reused')
    return c.json(done, done.outcome === 'accepted' ? 201 : 200)
  })

  describe(app, {
    method: 'post',
    path: '/api/v1/grants/{id}/revoke',
    summary: 'End a standing permission; a running turn that relied on it is stopped',
    headers: z.object({ 'idempotency-key': z.string() }),
    answers: { 200: { description: 'Ended, now or before', schema: Receipt } },
    problems: [400, 404],
  })
  app.post('/api/v1/grants/:id/revoke', async (c) => {
    const grant = c.req.param('id')
    if (!isStorable(grant)) return problem(c, 'grant-unknown')
    const eventId = eventIdOf(c, `grant revoke ${grant}`)
    if (eventId instanceof Response) return eventId
    const done = await endGrant(deps.exchange, { grant, eventId, who: nameOf(c.get('caller')) })
    return done.outcome === 'refused' ? problem(c, done.reason) : c.json({ outcome: done.outcome })
  })
}
