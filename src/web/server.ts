import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { errorLabel } from '../lib/log.js'
import { apiRoutes } from './api/routes.js'
import { assetRoutes } from './assets.js'
import { boardPath, boardRoutes } from './board.js'
import type { WebDeps } from './deps.js'
import { healthRoutes } from './health.js'
import { notFoundPage, pageRoutes } from './pages.js'
import { problem } from './problem.js'
import { sandboxRoutes } from './sandbox/routes.js'
import { signInRoutes } from './sign-in.js'

const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export interface Web {
  fetch(request: Request): Promise<Response>
}

/** Everything that HTTP can reach. One door: what a route may do is decided by its own guard. */
export function createWeb(deps: WebDeps): Web {
  const app = new Hono()
  const { sandbox, larkEvents, mcp } = deps

  app.use(async (c, next) => {
    await next()
    // The platform's answers are its own.
    if (isPlatform(c.req.path)) return
    c.header('x-content-type-options', 'nosniff')
    // `no-referrer` would make browsers send `Origin: null` with our own forms.
    c.header('referrer-policy', 'same-origin')
    c.header('cross-origin-opener-policy', 'same-origin')
    c.header('cross-origin-resource-policy', 'same-origin')
    c.header('x-frame-options', 'DENY')
    if (c.res.headers.get('content-security-policy') === null) c.header('content-security-policy', pagePolicy)
  })

  app.all('/lark/events', (c) => {
    if (larkEvents === null) return problem(c, 'not-webhook-mode')
    return c.req.method === 'POST' ? larkEvents(c.req.raw) : problem(c, 'not-found')
  })
  if (sandbox !== null) {
    app.all('/open-apis/*', (c) => sandbox.handle(c.req.raw))
    app.all('/callback/*', (c) => sandbox.handle(c.req.raw))
  }
  // Before the operator's API: an agent's token opens nothing else, and the operator's opens nothing here.
  for (const path of ['/mcp', '/api/v1/agent/*']) {
    app.all(path, (c) => (mcp === null ? problem(c, 'not-found') : mcp(c.req.raw)))
  }
  app.route('/', healthRoutes(deps))
  app.route('/', assetRoutes())
  app.route('/', signInRoutes(deps))
  app.route('/', boardRoutes(deps))
  app.route('/', apiRoutes(deps))
  if (sandbox !== null) app.route('/', sandboxRoutes(deps, sandbox))
  app.route('/', pageRoutes(deps))

  app.notFound(async (c) => {
    const path = c.req.path
    if (path.startsWith('/api/') || isPlatform(path) || path.startsWith(boardPath)) return problem(c, 'not-found')
    return notFoundPage(deps, c)
  })
  app.onError((error, c) => {
    if (error instanceof HTTPException) return error.status === 413 ? problem(c, 'too-large') : error.getResponse()
    // Only the name and first line: a request's body or headers may hold anything.
    deps.exchange.log.error('a request failed', { error: errorLabel(error) })
    return problem(c, 'internal')
  })
  return { fetch: async (request) => app.fetch(request) }
}

function isPlatform(path: string): boolean {
  return path === '/lark/events' || path.startsWith('/open-apis/') || path.startsWith('/callback/')
}
