import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Receipt as LedgerReceipt } from '../../collab/decision.js'
import type { RequestId } from '../../collab/refs.js'
import { reviseRequest } from '../../exchange/revise.js'
import { requestWords } from '../../render/html/request-words.js'
import { findRequest, listRequests } from '../../stores/views/requests.js'
import type { WebDeps } from '../deps.js'
import { languageOf } from '../language.js'
import { problem, refused } from '../problem.js'
import { actorOf, type WebEnv } from '../session.js'
import { isStorable } from '../storable.js'
import { describe } from './describe.js'
import { eventIdOf, IfMatch, revisionOf } from './headers.js'
import { bodyOf, placeIn, queryOf } from './read.js'
import { Receipt, Request, RequestPage, RequestQuery, Revise } from './schemas.js'

/** Lists, shows and revises requests. */
export function requestRoutes(app: OpenAPIHono<WebEnv>, deps: WebDeps): void {
  const { sql } = deps.exchange.db

  describe(app, {
    method: 'get',
    path: '/api/v1/requests',
    summary: 'Requests, newest first',
    query: RequestQuery,
    answers: { 200: { description: 'One page', schema: RequestPage } },
    problems: [400],
  })
  app.get('/api/v1/requests', async (c) => {
    const query = queryOf(c, RequestQuery)
    if (query instanceof Response) return query
    const after = placeIn(c, query.cursor)
    if (after instanceof Response) return after
    const page = await listRequests(sql, {
      state: query.state ?? null,
      conversation: query.conversation ?? null,
      agent: query.agent ?? null,
      after,
      limit: query.limit,
      bodies: 'all',
    })
    return c.json(page)
  })

  describe(app, {
    method: 'get',
    path: '/api/v1/requests/{id}',
    summary: 'One request with its facts',
    answers: { 200: { description: 'The request; its revision is the ETag', schema: Request } },
    problems: [404],
  })
  app.get('/api/v1/requests/:id', async (c) => {
    const id = c.req.param('id')
    const view = isStorable(id) ? await findRequest(sql, id) : null
    if (view === null) return problem(c, 'request-unknown')
    c.header('etag', `"${view.revision}"`)
    return c.json(view)
  })

  describe(app, {
    method: 'post',
    path: '/api/v1/requests/{id}/revisions',
    summary: 'Correct or cancel a request',
    headers: IfMatch,
    body: Revise,
    answers: { 200: { description: 'The receipt', schema: Receipt } },
    problems: [400, 403, 404, 409, 412, 413, 422, 423, 428],
  })
  app.post('/api/v1/requests/:id/revisions', async (c) => {
    const requestId = c.req.param('id') as RequestId
    if (!isStorable(requestId)) return problem(c, 'request-unknown')
    const onRevision = revisionOf(c)
    if (onRevision instanceof Response) return onRevision
    const eventId = eventIdOf(c, `revise ${requestId}`)
    if (eventId instanceof Response) return eventId
    const body = await bodyOf(c, Revise)
    if (body instanceof Response) return body
    const receipt = await reviseRequest(deps.exchange, {
      requestId,
      kind: body.kind,
      text: body.text,
      onRevision,
      eventId,
      actor: actorOf(c.get('caller')),
    })
    const refusal = receipt.outcome === 'rejected' ? receipt.refusal.reason : null
    // Whoever asked for a cancellation hears that it came too late, and not only that something is closed.
    if (body.kind === 'cancellation' && refusal === 'request-closed') {
      return problem(c, refusal, { title: requestWords[languageOf(c.req.header('accept-language'))].tooLateAnswered })
    }
    return answerOf(c, receipt)
  })
}

/** A receipt in HTTP. A conflict can only be an Idempotency-Key that said something else before. */
function answerOf(c: Context, receipt: LedgerReceipt): Response {
  switch (receipt.outcome) {
    case 'accepted':
    case 'already-applied':
      c.header('etag', `"${receipt.revision}"`)
      return c.json(receipt)
    case 'conflict':
      return problem(c, 'idempotency-key-reused')
    case 'rejected':
      return refused(c, receipt.refusal)
  }
}
