import { z, type OpenAPIHono } from '@hono/zod-openapi'
import { endGrant } from '../../exchange/revoke-grant.js'
import { cursorOf, newest } from '../../stores/views/cursor.js'
import { listGrants } from '../../stores/views/grants.js'
import type { WebDeps } from '../deps.js'
import { problem } from '../problem.js'
import { nameOf, type WebEnv } from '../session.js'
import { isStorable } from '../storable.js'
import { describe } from './describe.js'
import { eventIdOf } from './headers.js'
import { placeIn, queryOf } from './read.js'

const instant = z.int().openapi({ description: 'Milliseconds since the epoch, UTC' })

const Grant = z
  .strictObject({
    id: z.string(),
    agent: z.string(),
    openId: z.string().openapi({ description: 'The owner who gave it' }),
    conversation: z.string().openapi({ description: 'It allows nothing elsewhere' }),
    operation: z.string().nullable().openapi({ description: 'Exactly this; null when the words were erased' }),
    issuedAt: instant,
    expiresAt: instant.nullable(),
    revokedAt: instant.nullable(),
    revokedBy: z.string().nullable(),
    used: z.int().openapi({ description: 'Times that it allowed something without a question' }),
  })
  .openapi('Grant')
const GrantPage = z.strictObject({ items: z.array(Grant), nextCursor: z.string().nullable() }).openapi('GrantPage')
const Query = z.object({
  cursor: z.string().max(300).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
})
const Receipt = z.strictObject({ outcome: z.enum(['accepted', 'already-applied']) }).openapi('GrantReceipt')

/** Standing permissions: given by an owner on a card, seen and ended here. */
export function grantRoutes(app: OpenAPIHono<WebEnv>, deps: WebDeps): void {
  const { sql } = deps.exchange.db
  describe(app, {
    method: 'get',
    path: '/api/v1/grants',
    summary: 'Standing permissions, newest first',
    query: Query,
    answers: { 200: { description: 'A page', schema: GrantPage } },
    problems: [400],
  })
  app.get('/api/v1/grants', async (c) => {
    const query = queryOf(c, Query)
    if (query instanceof Response) return query
    const after = placeIn(c, query.cursor)
    if (after instanceof Response) return after
    const rows = await listGrants(sql, after ?? newest, query.limit + 1)
    const items = rows.slice(0, query.limit)
    const last = items.at(-1)
    const more = rows.length > query.limit && last !== undefined
    return c.json({ items, nextCursor: more ? cursorOf({ at: last.issuedAt, id: last.id }) : null })
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
