import { z, type OpenAPIHono } from '@hono/zod-openapi'
import { replaceSession, stopSession } from '../../exchange/sessions.js'
import { cursorOf, newest } from '../../stores/views/cursor.js'
import { findSession, listSessions } from '../../stores/views/sessions.js'
import type { WebDeps } from '../deps.js'
import { problem } from '../problem.js'
import { nameOf, type WebEnv } from '../session.js'
import { isStorable } from '../storable.js'
import { describe } from './describe.js'
import { eventIdOf } from './headers.js'
import { placeIn, queryOf } from './read.js'
import { Session, SessionPage, SessionQuery, SessionReceipt } from './session-schemas.js'

/** Sessions of runtimes: what continues which conversation, and how to end that. */
export function sessionRoutes(app: OpenAPIHono<WebEnv>, deps: WebDeps): void {
  const { sql } = deps.exchange.db
  describe(app, {
    method: 'get',
    path: '/api/v1/sessions',
    summary: 'Runtime sessions, newest first',
    query: SessionQuery,
    answers: { 200: { description: 'A page', schema: SessionPage } },
    problems: [400],
  })
  app.get('/api/v1/sessions', async (c) => {
    const query = queryOf(c, SessionQuery)
    if (query instanceof Response) return query
    const after = placeIn(c, query.cursor)
    if (after instanceof Response) return after
    const rows = await listSessions(sql, after ?? newest, query.limit + 1, query.live === 'true')
    const items = rows.slice(0, query.limit)
    const last = items.at(-1)
    const more = rows.length > query.limit && last !== undefined
    return c.json({ items, nextCursor: more ? cursorOf({ at: last.boundAt, id: last.id }) : null })
  })

  describe(app, {
    method: 'get',
    path: '/api/v1/sessions/{id}',
    summary: 'One session with what is in force in it',
    answers: { 200: { description: 'The session', schema: Session } },
    problems: [404],
  })
  app.get('/api/v1/sessions/:id', async (c) => {
    const id = c.req.param('id')
    const view = isStorable(id) ? await findSession(sql, id) : null
    return view === null ? problem(c, 'not-found') : c.json(view)
  })

  const acts = [
    ['stop', 'Ask the turn that runs in it to end', stopSession],
    ['replace', 'End it; the next turn begins another one, which is told what is on record', replaceSession],
  ] as const
  for (const [act, summary, run] of acts) {
    describe(app, {
      method: 'post',
      path: `/api/v1/sessions/{id}/${act}`,
      summary,
      headers: z.object({ 'idempotency-key': z.string() }),
      answers: { 200: { description: 'Done, now or before', schema: SessionReceipt } },
      problems: [400, 404, 409, 422],
    })
    app.post(`/api/v1/sessions/:id/${act}`, async (c) => {
      const session = c.req.param('id') ?? ''
      if (!isStorable(session)) return problem(c, 'session-unknown')
      const eventId = eventIdOf(c, `session ${session}`)
      if (eventId instanceof Response) return eventId
      const done = await run(deps.exchange, { session, eventId, who: nameOf(c.get('caller')) })
      if (done.outcome === 'refused') return problem(c, done.reason)
      return done.outcome === 'conflict' ? problem(c, 'idempotency-key-reused') : c.json({ outcome: done.outcome })
    })
  }
}
