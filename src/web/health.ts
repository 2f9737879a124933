import { Hono } from 'hono'
import { errorLabel } from '../lib/log.js'
import type { Readiness, WebDeps } from './deps.js'
import { problem } from './problem.js'
import { callerOf } from './session.js'

/** Alive, ready, measured. The first two are for anyone and say nothing about content. */
export function healthRoutes(deps: WebDeps): Hono {
  const app = new Hono()
  app.get('/healthz', (c) => {
    c.header('cache-control', 'no-store')
    return wantsJson(c.req.header('accept')) ? c.json({ alive: true }) : c.text('alive\n')
  })
  app.get('/readyz', async (c) => {
    const parts = await deps.readiness()
    const ready = parts.every((part) => part.ok || !part.needed)
    const status = ready ? 200 : 503
    c.header('cache-control', 'no-store')
    if (wantsJson(c.req.header('accept'))) return c.json({ ready, parts }, status)
    return c.text(parts.map(lineOf).join(''), status)
  })
  app.get('/metrics', async (c) => {
    // Prometheus sends a bearer; a signed-in operator may look, too.
    if ((await callerOf(deps, c)) === null) return problem(c, 'not-signed-in')
    try {
      const text = await deps.prometheus()
      return c.body(text, 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
    } catch (error) {
      deps.exchange.log.warn('metrics could not be read', { error: errorLabel(error) })
      return problem(c, 'unavailable')
    }
  })
  return app
}

function lineOf(part: Readiness): string {
  const state = part.ok ? 'ok' : part.needed ? 'down' : 'off'
  return `${part.name}: ${state}${part.detail === '' ? '' : ` (${part.detail})`}\n`
}

function wantsJson(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes('application/json')
}
