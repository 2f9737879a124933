import type { OpenAPIHono } from '@hono/zod-openapi'
import type { DeliveryId } from '../../collab/refs.js'
import { findDelivery, listDeliveries } from '../../stores/views/deliveries.js'
import type { WebDeps } from '../deps.js'
import { problem } from '../problem.js'
import { nameOf, type WebEnv } from '../session.js'
import { retry } from '../retry.js'
import { isStorable } from '../storable.js'
import { describe } from './describe.js'
import { eventIdOf } from './headers.js'
import { bodyOf, placeIn, queryOf } from './read.js'
import { Delivery, DeliveryPage, DeliveryQuery, Retry, RetryReceipt } from './schemas.js'
import { IdempotencyKey } from './work-schemas.js'

/** Lists, shows and retries deliveries. */
export function deliveryRoutes(app: OpenAPIHono<WebEnv>, deps: WebDeps): void {
  const { sql } = deps.exchange.db

  describe(app, {
    method: 'get',
    path: '/api/v1/deliveries',
    summary: 'Deliveries, newest first',
    query: DeliveryQuery,
    answers: { 200: { description: 'One page', schema: DeliveryPage } },
    problems: [400],
  })
  app.get('/api/v1/deliveries', async (c) => {
    const query = queryOf(c, DeliveryQuery)
    if (query instanceof Response) return query
    const after = placeIn(c, query.cursor)
    if (after instanceof Response) return after
    return c.json(await listDeliveries(sql, { state: query.state ?? null, after, limit: query.limit }))
  })

  describe(app, {
    method: 'get',
    path: '/api/v1/deliveries/{id}',
    summary: 'One delivery with its parts',
    answers: { 200: { description: 'The delivery', schema: Delivery } },
    problems: [404],
  })
  app.get('/api/v1/deliveries/:id', async (c) => {
    const id = c.req.param('id')
    const row = isStorable(id) ? await findDelivery(sql, id) : null
    return row === null ? problem(c, 'delivery-unknown') : c.json(row)
  })

  describe(app, {
    method: 'post',
    path: '/api/v1/deliveries/{id}/retry',
    summary: 'Try a delivery again; an ambiguous part is looked up first unless a decision says what was seen',
    headers: IdempotencyKey,
    body: Retry,
    answers: {
      202: { description: 'Taken up', schema: RetryReceipt },
      200: { description: 'It had arrived already; nothing was done', schema: RetryReceipt },
    },
    problems: [400, 403, 404, 409, 422],
  })
  app.post('/api/v1/deliveries/:id/retry', async (c) => {
    const delivery = c.req.param('id') as DeliveryId
    const eventId = eventIdOf(c, `retry ${delivery}`)
    if (eventId instanceof Response) return eventId
    const body = await bodyOf(c, Retry)
    if (body instanceof Response) return body
    const done = await retry(deps, { delivery, ...body, who: nameOf(c.get('caller')), eventId })
    if (done.outcome === 'refused') return problem(c, done.reason)
    return c.json({ outcome: done.outcome, eventId }, done.outcome === 'accepted' ? 202 : 200)
  })
}
