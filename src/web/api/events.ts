import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import { streamSSE } from 'hono/streaming'
import { errorLabel } from '../../lib/log.js'
import { SECOND } from '../../lib/time.js'
import { changesSince, cursorNow, isCursor } from '../../stores/views/changes.js'
import type { WebDeps } from '../deps.js'
import { problem } from '../problem.js'
import { callerOf, type WebEnv } from '../session.js'
import { describe } from './describe.js'
import { queryOf } from './read.js'
import { Change } from './schemas.js'

/** How soon after its commit a change is told, in ms. */
const LOOK_MS = 0.4 * SECOND
/** Between two signs of life on a quiet stream, so that nothing on the way takes it for dead. */
const SIGN_MS = 15 * SECOND
/** Of one reconnect; more than that is read faster by listing again. */
const AT_ONCE = 2_000
/** Open at the same time in this process. */
const STREAMS = 50

const Query = z.object({ request: z.string().min(1).max(100).optional() })

/**
 * `GET /api/v1/events`: facts as they are committed, and what the running agents are seen to do. `Last-Event-ID` goes
 * on where an earlier stream ended; each change comes once, and has an id by which a client knows it again. When that
 * place is not known here any more, `reset` says so first, and the client lists again.
 */
export function eventRoutes(app: OpenAPIHono<WebEnv>, deps: WebDeps): void {
  const { sql } = deps.exchange.db
  let open = 0
  describe(app, {
    method: 'get',
    path: '/api/v1/events',
    summary: 'What happens, as server-sent events: hello or reset, then fact and activity',
    query: Query,
    headers: z.object({ 'last-event-id': z.string().optional() }),
    answers: {
      200: { description: 'The data of `fact` and `activity`', schema: Change, as: 'text/event-stream' },
    },
    problems: [400, 503],
  })
  app.get('/api/v1/events', async (c) => {
    const query = queryOf(c, Query)
    if (query instanceof Response) return query
    if (open >= STREAMS) return problem(c, 'unavailable')
    const of = query.request ?? null
    const last = c.req.header('last-event-id') ?? null
    open += 1
    return streamSSE(c, async (stream) => {
      try {
        const known = last !== null && isCursor(last)
        let cursor = known ? last : await cursorNow(sql)
        const begin = last === null ? 'hello' : known ? null : 'reset'
        if (begin !== null) await stream.writeSSE({ event: begin, id: cursor, data: '{}' })
        for (let quiet = 0; !stream.aborted && !stream.closed; quiet += LOOK_MS) {
          const news = await changesSince(sql, cursor, of, AT_ONCE)
          const told = news === null || news.changes.length > 0
          // Somebody who signed out in between hears nothing more, however much happens.
          if ((told || quiet >= SIGN_MS) && (await callerOf(deps, c)) === null) return
          if (news === null) {
            cursor = await cursorNow(sql)
            await stream.writeSSE({ event: 'reset', id: cursor, data: '{}' })
          } else if (news.changes.length > 0) {
            const newest = news.changes.length - 1
            for (const [nth, change] of news.changes.entries()) {
              const event = { event: change.what, data: JSON.stringify(change) }
              // Only the last one moves the place on: a stream that breaks among them begins with them again.
              await stream.writeSSE(nth === newest ? { ...event, id: news.cursor } : event)
            }
            quiet = 0
          }
          if (news !== null) cursor = news.cursor
          if (quiet >= SIGN_MS) {
            await stream.write(': still here\n\n')
            quiet = 0
          }
          await stream.sleep(LOOK_MS)
        }
      } catch (error) {
        // The client comes back with the place that it has seen.
        deps.exchange.log.warn('a stream of events ended', { error: errorLabel(error) })
      } finally {
        open -= 1
      }
    })
  })
}
