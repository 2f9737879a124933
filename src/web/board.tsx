import { createBullBoard } from '@bull-board/api'
import { HonoAdapter } from '@bull-board/hono'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono, type MiddlewareHandler } from 'hono'
import { csrf } from 'hono/csrf'
import { errorLabel } from '../lib/log.js'
import type { WebDeps } from './deps.js'
import { problem } from './problem.js'
import { callerOf, nameOf } from './session.js'
import { isOurOrigin, signInPage } from './sign-in.js'
import { isStorable } from './storable.js'

/**
 * The acts that stay on. A job carries ids only, so running or dropping one loses nothing; whatever would put foreign
 * content into a queue or empty it is not in this list, and neither is anything that a later version may add.
 * Cleaning whole states stops at those that have ended: clearing what waits would be `empty` by another name.
 */
const acts: readonly { readonly act: string; readonly method: string; readonly path: RegExp }[] = [
  { act: 'retry', method: 'PUT', path: /^\/api\/queues\/[^/]+\/[^/]+\/retry$/ },
  { act: 'retry-all', method: 'PUT', path: /^\/api\/queues\/[^/]+\/retry\/(failed|completed)$/ },
  { act: 'promote', method: 'PUT', path: /^\/api\/queues\/[^/]+\/[^/]+\/promote$/ },
  { act: 'promote-all', method: 'PUT', path: /^\/api\/queues\/[^/]+\/promote$/ },
  { act: 'clean', method: 'PUT', path: /^\/api\/queues\/[^/]+\/[^/]+\/clean$/ },
  { act: 'clean-all', method: 'PUT', path: /^\/api\/queues\/[^/]+\/clean\/(completed|failed)$/ },
  { act: 'pause', method: 'PUT', path: /^\/api\/queues\/([^/]+\/)?pause$/ },
  { act: 'resume', method: 'PUT', path: /^\/api\/queues\/([^/]+\/)?resume$/ },
]

export const boardPath = '/queues'

// The board styles itself inline.
const boardPolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'self'; frame-ancestors 'none'; form-action 'self'"

/** The queue dashboard, behind our own guard: bull-board has neither sign-in nor roles. */
export function boardRoutes(deps: WebDeps): Hono {
  const adapter = new HonoAdapter(serveStatic)
  adapter.setBasePath(boardPath)
  createBullBoard({
    queues: deps.boardAdapters,
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'lark-manager', hideRedisDetails: true } },
  })
  // The board would show what was thrown, and that is the database's own text.
  adapter.setErrorHandler((error) => {
    deps.exchange.log.error('the queue board failed', { error: errorLabel(error) })
    return { status: 500, body: { error: { key: 'ERRORS.INTERNAL_SERVER_ERROR' } } }
  })
  const app = new Hono()
  app.use(boardPath, guard(deps))
  app.use(`${boardPath}/*`, guard(deps))
  const ownPages = csrf({ origin: (origin, c) => isOurOrigin(deps, origin, c) })
  // Another site's page cannot send a bearer with its requests, and a script that has one has no origin to show.
  app.use(`${boardPath}/*`, (c, next) => (c.req.header('authorization') === undefined ? ownPages(c, next) : next()))
  app.use(`${boardPath}/*`, withoutOtherHosts)
  app.route(boardPath, adapter.registerPlugin())
  return app
}

function guard(deps: WebDeps): Parameters<Hono['use']>[1] {
  return async (c, next) => {
    const caller = await callerOf(deps, c)
    if (caller === null) {
      const isPage = c.req.method === 'GET' && c.req.header('accept')?.includes('text/html') === true
      // A person gets the way in; still 401, and still nothing about the queues.
      return isPage ? signInPage(deps, c, null, boardPath, 401) : problem(c, 'not-signed-in')
    }
    c.header('content-security-policy', boardPolicy)
    c.header('cache-control', 'no-store')
    const url = new URL(c.req.url)
    if (!isStorable(decoded(url.pathname))) return problem(c, 'not-found')
    if ([...url.searchParams].flat().some((text) => !isStorable(text))) return problem(c, 'bad-request')
    const method = c.req.method
    if (method === 'GET' || method === 'HEAD') return next()
    const path = url.pathname.slice(boardPath.length)
    const act = acts.find((known) => known.method === method && known.path.test(path))
    const subject = path.replace(/^\/api\/queues\//, '').slice(0, 200)
    // The line stands before the act: an act without its line cannot be.
    await deps.audit({ who: nameOf(caller), act: `queue ${act?.act ?? 'refused'}`, subject })
    return act === undefined ? problem(c, 'not-allowed-here') : next()
  }
}

/** The page asks a font server, which the policy blocks with a complaint for each page: it reads well without. */
const withoutOtherHosts: MiddlewareHandler = async (c, next) => {
  await next()
  if (c.res.headers.get('content-type')?.startsWith('text/html') !== true) return
  const page = await c.res.text()
  c.res = new Response(page.replaceAll(/<link [^>]*href="https?:[^>]*>/g, ''), c.res)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
